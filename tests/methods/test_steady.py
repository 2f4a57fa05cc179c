"""Models that change little when trained anew: committees, blurred copies, balanced verdicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rocourse.methods import RoCoursePanel, VanillaCF
from rocourse.methods._steady import balancing_offsets

from .conftest import fit, make_loans

PLAIN = {"committee": 1, "copies": 0, "balance": 0.0, "members": 1}


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 4),
    st.floats(-4.0, 4.0),
    st.floats(0.1, 10.0),
)
def test_balanced_verdicts_are_as_frequent_as_the_labels(seed, n_classes, bias, scale):
    rng = np.random.default_rng(seed)
    scores = scale * rng.normal(size=(n_classes, 600))
    scores[0] += bias
    labels = rng.choice(n_classes, 600, p=rng.dirichlet(np.full(n_classes, 3.0)))
    verdicts = (scores + balancing_offsets(scores, labels)[:, None]).argmax(axis=0)
    wanted = np.bincount(labels, minlength=n_classes)
    found = np.bincount(verdicts, minlength=n_classes)
    assert np.abs(wanted - found).max() <= 12


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1.0), st.floats(0.05, 0.5))
def test_of_verdicts_balanced_in_part_the_most_accurate_are_taken(seed, balance, rare):
    rng = np.random.default_rng(seed)
    labels = (np.arange(80) < max(1, round(80 * rare))).astype(int)
    scores = np.stack([np.zeros(80), rng.normal(size=80) + labels - 1.0])
    given = [80 - labels.sum(), labels.sum()]

    def allowed(verdicts):
        counts = np.bincount(verdicts, minlength=2)
        return all(
            count == have or np.ceil(balance * have) <= count <= np.floor(have / balance)
            for count, have in zip(counts, given, strict=True)
        )

    # All thresholds that there are, one after the other.
    accuracies = [
        (verdicts == labels).mean()
        for verdicts in ((scores[1] >= least).astype(int) for least in [*scores[1], np.inf])
        if allowed(verdicts)
    ]
    verdicts = (scores + balancing_offsets(scores, labels, balance)[:, None]).argmax(axis=0)
    assert allowed(verdicts)
    assert (verdicts == labels).mean() == pytest.approx(max(accuracies))


def test_a_class_without_rows_is_given_to_none_more():
    scores = np.array([[0.0, 0.1, 0.2, 0.3], [0.1, 0.0, 0.5, 0.1], [-9.0, -9.0, -9.0, -9.0]])
    labels = np.array([0, 1, 1, 0])
    verdicts = (scores + balancing_offsets(scores, labels)[:, None]).argmax(axis=0)
    assert set(verdicts) <= {0, 1}


def test_without_committee_copies_and_balance_the_model_is_that_of_all_methods(loans):
    rows = loans.drop(columns="grade")
    steady, plain = fit(RoCoursePanel, loans, **PLAIN), fit(VanillaCF, loans)
    np.testing.assert_array_equal(steady.predict_proba(rows), plain.predict_proba(rows))


@pytest.mark.filterwarnings("ignore:Values outside the range")
def test_models_of_other_rows_agree_more_when_they_are_steady():
    asked = make_loans(500, seed=9).drop(columns="grade")

    def disagreement(**options):
        probabilities = [
            fit(RoCoursePanel, make_loans(150, seed=seed), epochs=30, **options)
            .predict_proba(asked)
            .argmax(axis=1)
            for seed in range(4)
        ]
        return np.mean([p != q for i, p in enumerate(probabilities) for q in probabilities[:i]])

    assert disagreement(committee=4, copies=2, members=1) < disagreement(**PLAIN)


def test_a_rare_class_is_not_forgotten():
    loans = make_loans(600, seed=1)
    loans["grade"] = ((loans["income"] > 25) | (loans["debt"] < 20)).astype(int)
    rows = loans.drop(columns="grade")
    timid = fit(RoCoursePanel, loans, epochs=3, members=1, committee=1, balance=0.0).predict(rows)
    balanced = fit(RoCoursePanel, loans, epochs=3, members=1, committee=1).predict(rows)
    share = (loans["grade"] == 0).mean()
    assert abs((balanced == 0).mean() - share) < 0.02
    assert abs((timid == 0).mean() - share) > 0.05


@pytest.mark.parametrize("committee", [1, 3])
def test_a_stored_model_gives_the_same_recourses(committee, loans, tmp_path):
    from rocourse.artifacts import load, save

    model = fit(RoCoursePanel, loans, committee=committee)
    rows = loans.drop(columns="grade").head(20)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert again.recourse(rows).to_records() == model.recourse(rows).to_records()
