"""What the screen shows of many rows: the first ones, and how many there are."""

import pytest
from tests.applicants import TARGET, make_applicants, trained_model

from rocourse.console import AdviceSummary, Preview
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
