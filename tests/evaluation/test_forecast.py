"""Forecasts of open promises, and the segments that they are told by."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy.stats import binom
from tests.evaluation.conftest import Threshold

from rocourse.errors import ArtifactError, ConfigError
from rocourse.evaluation import (
    AuditCounts,
    Forecast,
    audit,
    difference_from_others,
    difference_interval,
    forecast,
    segments,
)
from rocourse.evaluation._forecast import ENOUGH, _rank
from rocourse.ledger import PromisedRows

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MODEL = Threshold(5)


class Cuts:
    """Models that grant an income of at least so much, one a cut."""

    def __init__(self, cuts):
        self.cuts, self.count, self.stated = np.asarray(cuts, float), len(cuts), {"cuts": len(cuts)}

    def honour(self, frame, target):
        income = frame["income"].to_numpy(float)
        return (income >= self.cuts[:, None]) == (target == 1)


def promised(incomes, homes=None):
    n = len(incomes)
    pairs = zip(incomes, homes or ["rent"] * n, strict=True)
    return PromisedRows(
        ids=[str(k) for k in range(n)],
        subjects=[None] * n,
        models=["m"] * n,
        statuses=["open"] * n,
        issued=[NOW - timedelta(days=3)] * n,
        desired=[1] * n,
        probabilities=[0.8] * n,
        rows=[{"income": income, "debt": 5, "home": home} for income, home in pairs],
    )


def told(cuts, *pages, **options):
    return forecast(pages, MODEL, Cuts(cuts), digest="d", at=NOW, **options)


def test_the_least_share_of_59_models_is_what_95_per_cent_honour():
    cuts = np.linspace(2, 6, ENOUGH)
    found = told(cuts, promised([4, 5, 7]), promised([3]))
    each = np.array([[income >= cut for income in (4, 5, 7, 3)] for cut in cuts]).mean(axis=1)
    assert found.total.promises == 4 and (found.models, found.witnesses) == (0.95, 59)
    assert found.total.low == each.min() and found.total.expected == pytest.approx(each.mean())
    assert Forecast.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("count", [59, 92, 93, 124, 300])
def test_ranks_are_those_of_a_tolerance_bound(count):
    rank, models = _rank(count, 0.95)
    assert models == 0.95
    # Of `count` draws, more than `rank` lie among the lowest 5% with a chance of .95.
    assert binom.sf(rank, count, 0.05) >= 0.95 > binom.sf(rank + 1, count, 0.05)


def test_few_models_speak_for_fewer():
    rank, models = _rank(8, 0.95)
    assert rank == 0 and models == pytest.approx(0.05 ** (1 / 8))


def test_the_bound_is_right_as_often_as_it_says():
    """Of models whose share is uniform, 95% exceed the least of 59 in so many experiments."""
    rng = np.random.default_rng(0)
    rank, _ = _rank(59, 0.95)
    lowest = np.sort(rng.random((4000, 59)), axis=1)[:, rank]
    assert np.mean(1 - lowest >= 0.95) == pytest.approx(1 - 0.95**59, abs=0.01)


def test_segments_have_shares_of_their_own():
    page = promised([4, 8, 4, 8], ["rent", "rent", "own", "own"])
    found = told([5] * 59, page, by=["home"])
    shares = {name: one.low for name, one in found.by_segment.items()}
    assert shares == {"home=own": 0.5, "home=rent": 0.5}
    assert all(one.small for one in found.by_segment.values())
    crossed = told([5] * 59, page, by=["home", "income"])
    assert crossed.by_segment["home=own, income=4"].low == 0.0
    with pytest.raises(ConfigError, match="'age' is none of"):
        told([5], page, by=["age"])


def test_what_cannot_be_read_is_not_honoured():
    page = promised([8, 8])
    page.rows[1]["home"] = "castle"
    found = told([5] * 59, page)
    assert (found.total.low, found.unreadable) == (0.5, 1)


def test_nothing_owed_has_no_forecast():
    found = told([5] * 59)
    assert found.total is None and Forecast.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(("cut", "held"), [(5, True), (7, False)])
def test_a_forecast_is_scored_by_the_audit_that_follows(cut, held):
    page = promised([4, 6, 6, 9], ["rent", "rent", "own", "own"])
    found = told([5.5] * 59, page, by=["home"])
    report = audit([page], Threshold(cut), digest="n", at=NOW, by=["home"])
    score = found.score(report)
    assert (score.low, score.honoured) == (0.75, report.total.share)
    assert score.held is held and score.to_dict()["held"] is held
    assert score.by_segment["home=own"] == (1.0, report.by_segment["home=own"].share)


def test_records_of_something_else_are_refused():
    with pytest.raises(ArtifactError, match="A forecast must have the format"):
        Forecast.from_dict({"format": "rocourse-audit", "version": 1})


def test_numbers_of_many_values_are_told_by_quarters():
    found = segments({"age": list(range(20, 60))})
    names = {"age=20 to 29", "age=over 29 to 39", "age=over 39 to 49", "age=over 49 to 59"}
    assert set(found) == names and {len(places) for places in found.values()} == {10}
    assert list(segments({"age": [1, 2, None]})) == ["age=1", "age=2", "age=missing"]
    many = segments({"n": [5.0] * 9 + [1, 2, 3, 4, 6, 7, 8, 9, None]})
    assert many["n=missing"].tolist() == [17]


def test_columns_are_told_by_themselves_and_crossed():
    found = segments({"sex": ["f", "m", "f"], "child": [True, True, False]})
    assert {name: places.tolist() for name, places in found.items()} == {
        "sex=f": [0, 2],
        "sex=m": [1],
        "child=False": [2],
        "child=True": [0, 1],
        "sex=f, child=False": [2],
        "sex=f, child=True": [0],
        "sex=m, child=True": [1],
    }


def test_the_interval_of_a_difference_is_newcombes():
    # Newcombe (1998), method 10, its first example: 56/70 and 48/80.
    low, high = difference_interval(56, 70, 48, 80)
    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert difference_interval(1, 2, 0, 0) is None
    apart = difference_from_others(AuditCounts(150, 104), AuditCounts(70, 56))
    assert apart == pytest.approx((0.2, low, high))
