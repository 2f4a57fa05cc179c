"""Verdicts that are about as frequent as the labels are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocourse.models._balance import balancing_offsets


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
