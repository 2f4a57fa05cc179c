"""Scores of probabilities, beside scikit-learn's and by hand."""

import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rocourse.evaluation import brier_score, calibration_error, log_loss, reliability

CLASSES = np.array(["no", "yes"])
THREE = np.array(["high", "low", "middle"])


def drawn(n, classes, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(len(classes)), n)
    labels = [rng.choice(classes, p=row) for row in shares]
    return np.array(labels), shares


@pytest.mark.parametrize("seed", range(3))
def test_brier_score_and_log_loss_are_scikit_learns(seed):
    labels, shares = drawn(200, CLASSES, seed)
    expected = sklearn.metrics.brier_score_loss(labels, shares[:, 1], pos_label="yes")
    assert brier_score(labels, shares, CLASSES) == pytest.approx(expected)
    expected = sklearn.metrics.log_loss(labels, shares, labels=CLASSES)
    assert log_loss(labels, shares, CLASSES) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_with_three_classes_as_well(seed):
    labels, shares = drawn(200, THREE, seed)
    truth = np.asarray(labels)[:, None] == np.asarray(THREE)
    expected = ((truth - shares) ** 2).sum(axis=1).mean()
    assert brier_score(labels, shares, THREE) == pytest.approx(expected)
    expected = sklearn.metrics.log_loss(labels, shares, labels=THREE)
    assert log_loss(labels, shares, THREE) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_reliability_is_scikit_learns_curve(seed):
    labels, shares = drawn(300, CLASSES, seed)
    observed, predicted = sklearn.calibration.calibration_curve(
        labels == "yes", shares[:, 1], n_bins=10
    )
    bins = reliability(labels, shares, CLASSES)
    assert [one.predicted for one in bins] == pytest.approx(predicted.tolist())
    assert [one.observed for one in bins] == pytest.approx(observed.tolist())
    assert sum(one.rows for one in bins) == 300


def test_the_calibration_error_is_weighted_by_rows():
    likely = np.array([0.1, 0.1, 0.1, 0.9])
    labels = np.array(["no", "no", "yes", "yes"])
    bins = reliability(labels, np.column_stack([1 - likely, likely]), CLASSES)
    assert calibration_error(bins) == pytest.approx(0.75 * (1 / 3 - 0.1) + 0.25 * 0.1)
    assert calibration_error(()) is None


def test_of_many_classes_the_most_probable_one_counts():
    shares = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    (one,) = reliability(["high", "low"], shares, THREE)
    assert (one.rows, one.predicted, one.observed) == (2, pytest.approx(0.6), 0.5)


@given(arrays(np.float64, 20, elements=st.floats(0, 1)), st.integers(1, 20))
def test_every_probability_has_its_bin(likely, bins):
    labels = np.where(np.arange(20) % 3, "yes", "no")
    found = reliability(labels, np.column_stack([1 - likely, likely]), CLASSES, bins=bins)
    assert sum(one.rows for one in found) == 20
    assert 0.0 <= calibration_error(found) <= 1.0
    assert np.isfinite(log_loss(labels, np.column_stack([1 - likely, likely]), CLASSES))


def test_no_rows_have_no_scores():
    nothing = (np.array([], str), np.empty((0, 2)), CLASSES)
    assert brier_score(*nothing) is None and log_loss(*nothing) is None
    assert reliability(*nothing) == ()
