"""What recourse is like for groups of people, against figures worked out by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap
from tests.evaluation.conftest import BINARY, income_rows, write_recourse
from tests.versions import RNG

from rocourse.errors import DataError
from rocourse.evaluation import difference_interval, fairness

# Of eight people the last two are granted; of the others four are advised something.
INCOMES = [1, 2, 3, 4, 3, 2, 8, 9]
SEX = ["f", "f", "f", "m", "m", "m", "f", "m"]


@pytest.fixture(scope="module")
def recourse():
    rows = income_rows(*INCOMES)
    predicted = np.array([0] * 6 + [1, 1])
    found = np.array([1, 1, 0, 1, 1, 0, 0, 0], bool)
    attempts = rows.assign(income=np.where(found, 6, rows["income"]))
    return write_recourse(BINARY, rows, attempts, predicted, np.ones(8, int), found)


def test_figures_are_those_of_each_group(recourse):
    kept = np.array([1, 0.5, 0, 1, 1, 0, 0, 0])
    found = fairness(recourse, {"sex": SEX}, kept=kept, promises=False)
    women = found["sex=f"]
    assert (women.people, women.number_refused, women.refused) == (4, 3, 0.75)
    assert women.coverage == pytest.approx(2 / 3) and women.kept == 0.75
    assert women.cost == pytest.approx((0.5 + 0.4) / 2)
    assert women.promised is None and women.certified is None and women.certainty is None
    assert women.small
    apart = women.differences
    assert apart["cost"].value == pytest.approx(0.45 - 0.25)
    assert apart["coverage"][1:] == pytest.approx(difference_interval(2, 3, 2, 3))
    assert found["sex=m"].differences["cost"].value == pytest.approx(0.25 - 0.45)
    json.dumps({name: one.to_dict() for name, one in found.items()}, allow_nan=False)


def test_crossed_groups_have_their_counts(recourse):
    found = fairness(recourse, {"sex": SEX, "home": pd.Series(["own"] * 3 + ["rent"] * 5)})
    counts = {name: one.people for name, one in found.items()}
    assert counts["sex=f, home=own"] == 3 and counts["sex=f, home=rent"] == 1
    assert sum(n for name, n in counts.items() if "," in name) == 8
    alone = found["sex=f, home=rent"]
    # Nobody of them is refused: nothing can be said of their advice.
    assert alone.cost is None and alone.coverage is None and "cost" not in alone.differences


def test_approvals_are_beside_those_of_the_best_group(recourse):
    """One of four women and one of four men are granted; of those who own a home nobody is."""
    found = fairness(recourse, {"sex": SEX, "home": ["own"] * 3 + ["rent"] * 5})
    assert found["sex=f"].ratio == found["sex=m"].ratio == 1.0
    assert found["home=own"].ratio == 0.0 and found["home=own"].adverse
    assert found["sex=m, home=rent"].ratio == 0.25 and not found["home=rent"].adverse


def test_a_few_people_do_not_set_what_others_are_measured_by():
    rows = income_rows(*[2] * 100)
    granted = np.array([1] * 3 + [1] * 40 + [0] * 17 + [1] * 24 + [0] * 16)
    group = ["few"] * 3 + ["a"] * 57 + ["b"] * 40
    made = write_recourse(BINARY, rows, rows, granted, np.ones(100, int), granted < 0)
    found = {name: one.ratio for name, one in fairness(made, {"g": group}).items()}
    best = 40 / 57
    assert found == pytest.approx({"g=a": 1.0, "g=b": 24 / 40 / best, "g=few": 1.0 / best})


def test_intervals_of_means_are_bootstrapped():
    rng = np.random.default_rng(0)
    n = 400
    incomes = rng.integers(0, 5, n)
    rows = income_rows(*incomes.tolist())
    group = np.where(rng.random(n) < 0.4, "a", "b")
    to = np.where(group == "a", 7, 6)
    predicted, wanted = np.zeros(n, int), np.ones(n, int)
    made = write_recourse(BINARY, rows, rows.assign(income=to), predicted, wanted, wanted > 0)
    apart = fairness(made, {"group": group})["group=a"].differences["cost"]
    parts = made.cost[group == "a"], made.cost[group == "b"]
    expected = bootstrap(
        parts, lambda a, b, axis: a.mean(axis) - b.mean(axis), method="percentile", **{RNG: 1}
    ).confidence_interval
    assert apart[1:] == pytest.approx((expected.low, expected.high), abs=0.006)
    assert apart.clear and apart.low < apart.value < apart.high


def test_columns_of_another_length_are_refused(recourse):
    with pytest.raises(DataError, match="one value for each of 8 rows"):
        fairness(recourse, {"sex": ["f"]})
