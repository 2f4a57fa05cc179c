"""What the screen shows of many rows: the first ones, and how many there are."""

import numpy as np
import pandas as pd
import pytest
from tests.applicants import TARGET, make_applicants, trained_model

from rocourse.console import AdviceSummary, Preview
from rocourse.schema import Categorical, Continuous, Recourse, Schema, Target
from rocourse.tables import prediction_table

ROWS = 80


@pytest.mark.parametrize("size", [1, 3, 40])
def test_the_first_rows_may_come_from_several_batches(size):
    model, rows = trained_model(), make_applicants(ROWS).drop(columns=TARGET)
    advice, table = model.recourse(rows, desired="granted"), prediction_table(model, rows)
    summaries, previews = [], []
    for step in (ROWS, size):
        summaries.append(AdviceSummary(5))
        previews.append(Preview(20))
        for start in range(0, ROWS, step):
            summaries[-1].add(AdviceSummary.of(advice[start : start + step], None, 5))
            previews[-1].add(table[start : start + step])
    assert summaries[0].lines() == summaries[1].lines()
    (first, more), (first_parts, more_parts) = (shown.renderables("", ROWS) for shown in previews)
    assert more_parts == more == "… and 60 more rows: write all of them with --out"
    assert [[*column.cells] for column in first_parts.columns] == [
        [*column.cells] for column in first.columns
    ]


def test_what_is_told_most_and_asks_for_much_is_said():
    schema = Schema(
        (
            Continuous("income", 0, 10_000),
            Continuous("children", 0, 8, integer=True),
            Categorical("job", ("none", "full")),
        ),
        Target("granted", ("no", "yes"), favourable="yes"),
    )
    before = pd.DataFrame(
        {"income": [1000.0, 3000, 0, 500], "children": [1, 1, 1, 1], "job": ["none"] * 4}
    )
    after = pd.DataFrame(
        {"income": [2000.0, 4000, 900, 9000], "children": [2, 1, 1, 1], "job": ["none"] * 4}
    )
    advice = Recourse(
        schema=schema,
        original=before,
        original_rows=schema.encode(before),
        attempts=schema.encode(after),
        # The last is not handed out.
        status=np.array(["found", "found", "found_unsure", "not_found"]),
        predicted=np.array(["no"] * 4),
        desired=np.array(["yes"] * 4),
        probability=np.full(4, 0.8),
        method="any",
    )
    *_, told, much = AdviceSummary.of(advice, None, 5).lines()
    assert told == "Told most: income (100%), children (33%)."
    # From nothing to something has no factor, and a second child is one step.
    assert much.startswith("Doubled or halved at least: income (33%).")
    assert "--max-change income=50%" in much
    assert AdviceSummary.of(advice[[1]], None, 5).lines()[-1] == "Told most: income (100%)."
