"""Auditing promises: counts, shares with their intervals, what cannot be read, and memory."""

import subprocess
import sys
import tracemalloc
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from tests.evaluation.conftest import Threshold

from rocourse.errors import ArtifactError, ConfigError, DataError
from rocourse.evaluation import AuditCounts, Auditor, AuditReport, audit
from rocourse.evaluation._audit_reading import PromiseReader
from rocourse.ledger import Promise, Status, new_id
from rocourse.schema import Categorical, Continuous, CutOff, Schema

NOW = datetime(2026, 6, 1, tzinfo=UTC)
ROW = {"income": 5, "debt": 5, "home": "rent"}


def make_promise(income=5, *, days=1, id=None, **changes):
    """A promise of class 1 to a row of some income, issued some days ago."""
    issued = NOW - timedelta(days=days)
    fields = {
        "id": new_id() if id is None else id,
        "subject": "applicant-17",
        "model": "m1",
        "schema_version": "1",
        "row": ROW,
        "recourse": {**ROW, "income": income},
        "desired": 1,
        "probability_before": 0.25,
        "probability_after": 0.75,
        "robustness": None,
        "issued_at": issued,
        "expires_at": issued + timedelta(days=4000),
        "status": Status.OPEN,
    }
    return Promise(**{**fields, **changes})


def audit_one(model, *promises, **options):
    return audit([promises], model, digest="d1", at=NOW, **options)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_wilsons(counts):
    honoured, promises = counts
    expected = binomtest(honoured, promises).proportion_ci(method="wilson")
    assert AuditCounts(promises, honoured).interval == pytest.approx(expected, abs=1e-12)


def test_no_promises_have_no_share_and_the_ends_are_exact():
    assert AuditCounts().share is None and AuditCounts().interval is None
    assert AuditCounts(7, 0).interval[0] == 0.0
    assert AuditCounts(7, 7).interval[1] == 1.0


def test_verdicts_are_those_of_the_model(threshold):
    promises = [make_promise(income) for income in range(11)]
    report = audit_one(threshold(at=7), *promises, name="2027")
    assert report.total == AuditCounts(promises=11, honoured=4)
    assert report.total.broken == 7
    assert (report.name, report.model, report.at) == ("2027", "d1", NOW)
    assert [found.id for found in report.worst] == [promise.id for promise in promises[:7]]


def test_margins_are_log_odds(threshold):
    # The log-odds of class 1 by this model are the income's distance from the threshold.
    report = audit_one(threshold(at=7), *(make_promise(income) for income in (0, 3, 6)))
    assert [found.margin for found in report.worst] == pytest.approx([-6.5, -3.5, -0.5])
    assert report.worst[-1].probability == pytest.approx(1 / (1 + np.exp(0.5)))
    assert report.worst[0].promised == 0.75


def test_a_models_cut_off_decides_and_margins_are_from_there(threshold):
    model = threshold(at=7)
    model.cut_off_ = CutOff(0.9, 1)
    incomes = (6, 8, 9, 10)
    promises = [make_promise(income) for income in incomes]
    report = audit_one(model, *promises)
    # The log-odds of class 1 are the income's distance from 6.5; those of 0.9 are log 9.
    assert report.total == AuditCounts(promises=4, honoured=2)
    margins = np.array([6, 8]) - 6.5 - np.log(9.0)
    assert [found.margin for found in report.worst] == pytest.approx(margins)
    assert report.worst[0].probability == pytest.approx(1 / (1 + np.exp(0.5)))


def test_with_three_classes_the_margin_is_against_the_best_other_one(bands):
    model = bands(middle_at=3, high_at=8)
    shares = np.array([[0.2, 0.5, 0.3]])
    model.predict_proba = lambda X: np.repeat(shares, len(X), axis=0)
    report = audit_one(model, make_promise(5, desired="middle"), make_promise(5, desired="low"))
    (found,) = report.worst
    assert found.margin == pytest.approx(np.log(0.3 / 0.5))
    assert report.total == AuditCounts(2, 1)


def test_a_probability_of_zero_has_a_finite_margin_and_a_tie_goes_to_the_first_class(threshold):
    model = threshold(at=7)
    model.predict_proba = lambda X: np.array([[1.0, 0.0], [0.5, 0.5]])
    report = audit_one(model, make_promise(), make_promise())
    assert [np.isfinite(found.margin) for found in report.worst] == [True, True]
    assert report.worst[0].margin < -80
    assert report.worst[1].margin == 0.0


@pytest.mark.parametrize("answer", [[[np.nan, np.nan]], [[0.5]], [0.5, 0.5]], ids=str)
def test_what_is_no_probability_is_refused(threshold, answer):
    model = threshold(at=7)
    model.predict_proba = lambda X: np.array(answer)
    with pytest.raises(DataError, match="must give finite probabilities"):
        audit_one(model, make_promise())


def test_ages_are_counted_in_whole_days(threshold):
    days = [-2, 0, 30, 30.9, 31, 90, 91, 180, 181, 365, 366, 3000]
    report = audit_one(threshold(at=0), *(make_promise(days=age) for age in days))
    counts = {age: tally.promises for age, tally in report.by_age.items()}
    assert counts == {"0-30": 4, "31-90": 2, "91-180": 2, "181-365": 2, ">365": 2}


def test_issuers_are_told_apart_the_largest_first(threshold):
    promises = [make_promise(income, model="b") for income in (1, 8, 9)]
    promises += [make_promise(income, model="a") for income in (1, 8)]
    report = audit_one(threshold(at=7), *promises)
    assert list(report.by_issuer.items()) == [("b", AuditCounts(3, 2)), ("a", AuditCounts(2, 1))]


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({"recourse": {"income": 5, "debt": 5}}, "column 'home' is asked for by the model"),
        ({"recourse": {**ROW, "age": 4}}, "column 'age' is in the promise, but not in the model"),
        ({"recourse": {**ROW, "home": "boat"}}, "a category of 'home' is unknown"),
        ({"recourse": {**ROW, "home": None}}, "a value of 'home' is missing"),
        ({"recourse": {**ROW, "home": ["own"]}}, "a category of 'home' is unknown"),
        ({"recourse": {**ROW, "income": "5"}}, "a value of 'income' is no number"),
        ({"recourse": {**ROW, "income": None}}, "a value of 'income' is missing"),
        ({"recourse": {**ROW, "income": True}}, "a value of 'income' is no number"),
        ({"recourse": {**ROW, "income": [None]}}, "a value of 'income' is no number"),
        ({"recourse": {**ROW, "income": 10**400}}, "a value of 'income' is no number"),
        ({"recourse": {**ROW, "income": 5.5}}, "a value of 'income' is no whole number"),
        ({"desired": 2}, "class 2 is none of the model's"),
        ({"desired": "1"}, "class '1' is none of the model's"),
        ({"desired": True}, "class True is none of the model's"),
        ({"desired": [1]}, "class [1] is none of the model's"),
    ],
)
def test_what_cannot_be_read_is_counted_apart_and_says_why(threshold, changes, reason):
    promise = make_promise(**changes)
    auditor = Auditor(threshold(at=2), digest="d1", at=NOW)
    (failed,) = auditor.add([promise, make_promise()])
    report = auditor.report()
    assert report.total == AuditCounts(promises=2, honoured=1, unreadable=1)
    assert report.total.share == 0.5 and report.total.broken == 0
    assert report.worst == ()
    (told,) = report.unreadable
    assert failed.reason == told and failed.margin is None and failed.probability is None
    assert told.startswith(reason)


def test_whole_numbers_and_decimals_are_one_class_and_one_category(threshold):
    schema = Schema((Categorical("code", (1, 2)), Continuous("income", 0, 10)))
    model = threshold(at=2)
    model.schema_ = schema
    rows = [{"code": 1.0, "income": 5}, {"code": 1, "income": 5.0}]
    report = audit_one(model, *(make_promise(recourse=row, desired=1.0) for row in rows))
    assert report.total == AuditCounts(2, 2)


def test_bounds_are_the_models_and_other_ranges_are_not(threshold):
    model = threshold(at=2)
    model.schema_ = model.schema_.constrain(bounds={"debt": (None, 8.0)})
    promises = [make_promise(recourse={**ROW, "debt": debt}) for debt in (8, 9)]
    report = audit_one(model, *promises, make_promise(income=5000))
    assert report.unreadable == {"a value of 'debt' is beyond its bounds": 1}
    assert report.total.honoured == 2


def test_a_row_that_only_the_model_refuses_does_not_spoil_its_page(threshold):
    model, known = threshold(at=7), threshold(at=7).predict_proba

    def refuse(X):
        if (X["income"] > 10).any():
            raise DataError("out of range")
        return known(X)

    model.predict_proba = refuse
    incomes = [11, 8, 2, 12, 9, 9, 9]
    report = audit_one(model, *(make_promise(income) for income in incomes))
    assert report.total == AuditCounts(promises=7, honoured=4, unreadable=2)
    assert list(report.unreadable.values()) == [2]


def test_new_reasons_and_issuers_without_end_are_counted_together(threshold):
    rows = [{**ROW, f"column {k}": 1} for k in range(1500)]
    promises = [make_promise(recourse=row, model=f"m{k}") for k, row in enumerate(rows)]
    report = audit_one(threshold(at=7), *promises)
    assert len(report.unreadable) == len(report.by_issuer) == 1001
    assert report.unreadable["others"] == report.by_issuer["others"].promises == 500


PROMISES = st.lists(
    st.builds(
        make_promise,
        st.integers(-3, 14) | st.sampled_from(["?", None, True, 1.5]),
        days=st.integers(-5, 500),
        model=st.sampled_from(["m1", "m2"]),
        desired=st.sampled_from([0, 1, 1.0, True, "x"]),
    ),
    max_size=40,
)


@settings(max_examples=60)
@given(PROMISES, st.lists(st.integers(0, 40), max_size=5), st.integers(0, 6), st.randoms())
def test_pages_and_order_do_not_matter(promises, cuts, worst, random):
    edges = [0, *sorted(cuts), len(promises)]
    shuffled = random.sample(promises, len(promises))
    pages = [shuffled[start:stop] for start, stop in zip(edges, edges[1:], strict=False)]
    whole = audit_one(Threshold(at=5), *promises, worst=worst)
    assert audit(pages, Threshold(at=5), digest="d1", at=NOW, worst=worst) == whole
    assert whole.total.promises == len(promises)
    for parts in (whole.by_age, whole.by_issuer):
        assert sum(tally.honoured for tally in parts.values()) == whole.total.honoured
        assert sum(tally.unreadable for tally in parts.values()) == whole.total.unreadable
    assert len(whole.worst) == min(worst, whole.total.broken)


def test_what_is_not_honoured_is_handed_out_page_by_page(threshold):
    auditor = Auditor(threshold(at=7), digest="d1", at=NOW, worst=1)
    promises = [make_promise(2), make_promise(9), make_promise("?"), make_promise(3)]
    failed = auditor.add(promises)
    assert [found.id for found in failed] == [promises[k].id for k in (0, 2, 3)]
    assert auditor.add([]) == []
    assert len(auditor.report().worst) == 1


def test_memory_does_not_grow_with_the_ledger(threshold):
    # One page again and again: making others would take longer than to audit them, and a reference
    # that is kept to each promise would be seen as well.
    page = [make_promise(k % 11) for k in range(1000)]

    def peak(number):
        tracemalloc.start()
        try:
            report = audit((page for _ in range(number)), threshold(at=6), digest="d1", at=NOW)
            return report, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    _, few = peak(10)
    report, many = peak(200)
    assert report.total.promises == 200_000
    assert report.total.honoured == sum(k % 11 >= 6 for k in range(1000)) * 200
    assert len(report.worst) == 1000
    assert many < 1.2 * few + 500_000


def test_a_report_can_be_stored(threshold):
    promises = [make_promise(1), make_promise(9, model="m2"), make_promise(desired="x")]
    report = audit_one(threshold(at=7), *promises)
    assert AuditReport.from_dict(report.to_dict()) == report
    with pytest.raises(ArtifactError, match="must have the format 'rocourse-audit' and version 1"):
        AuditReport.from_dict({**report.to_dict(), "version": 2})


def test_a_required_share_is_met_by_itself_and_by_no_promises(threshold):
    report = audit_one(threshold(at=6), *(make_promise(k % 10) for k in range(50)))
    assert report.total.share == 0.4
    assert report.meets(0.4) and not report.meets(0.4000001)
    assert audit_one(threshold(at=6)).meets(1.0)


def test_bad_options_are_refused(threshold):
    with pytest.raises(ConfigError, match="at must be a time with a time zone"):
        audit([], threshold(at=1), digest="d1", at=datetime(2026, 1, 1))
    with pytest.raises(ConfigError, match="worst must be at least 0"):
        audit_one(threshold(at=1), worst=-1)


def test_evaluation_loads_neither_the_ledger_nor_what_draws():
    names = {"sqlalchemy", "alembic", "matplotlib", "jinja2", "jax"}
    code = f"import sys, rocourse.evaluation; print(sorted({names} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300
    )
    assert result.stdout.strip() == "[]", result.stderr


_ODD = st.sampled_from(
    [0, 5, 10, 11, -1, 5.0, 5.5, 1e300, 10**400, True, None, "5", "rent", "own", "moon", [1], {}]
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.fixed_dictionaries(
                {"income": _ODD}, optional={"debt": _ODD, "home": _ODD, "x": _ODD}
            ),
            st.sampled_from([0, 1, 1.0, True, "1", None, [1], 2]),
        ),
        max_size=12,
    )
)
def test_pages_are_read_as_their_rows_are_one_by_one(page):
    reader = PromiseReader(Threshold(at=7))
    rows = [{**ROW, **row} for row, _ in page]
    for row, (changes, _) in zip(rows, page, strict=True):
        if "x" in changes and len(changes) == 2:
            del row["debt"]
    desired = [wanted for _, wanted in page]
    expected = {
        place: reason
        for place, (row, wanted) in enumerate(zip(rows, desired, strict=True))
        if (reason := reader.fault(row, wanted)) is not None
    }
    assert reader.faults(rows, desired) == expected
