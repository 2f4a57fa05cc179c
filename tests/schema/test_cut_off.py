"""Verdicts by a cut-off: exact at the threshold, and the same by shifted log-odds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from rocourse.schema import CutOff, threshold_of_rate, verdicts

THRESHOLDS = st.floats(0.01, 0.99)
SHARES = st.lists(st.floats(0.0, 1.0, width=32), min_size=1, max_size=50)


def probabilities(likely, favourable):
    likely = np.asarray(likely, np.float32)
    columns = [1 - likely, likely] if favourable == 1 else [likely, 1 - likely]
    return np.stack(columns, axis=1)


@given(THRESHOLDS, SHARES, st.sampled_from([0, 1]))
def test_the_class_is_granted_from_the_threshold_on(threshold, likely, favourable):
    shares = probabilities(likely, favourable)
    given_class = verdicts(shares, CutOff(threshold, favourable))
    granted = shares[:, favourable] >= threshold
    np.testing.assert_array_equal(given_class == favourable, granted)
    wider = verdicts(shares.astype(np.float64), CutOff(threshold, favourable))
    np.testing.assert_array_equal(wider, given_class)


@given(SHARES)
def test_without_a_cut_off_the_most_probable_class_is_given(likely):
    shares = probabilities(likely, 1)
    np.testing.assert_array_equal(verdicts(shares, None), shares.argmax(axis=1))


@given(THRESHOLDS, st.floats(0.001, 0.999), st.sampled_from([0, 1]))
def test_shifted_probabilities_turn_at_one_half(threshold, likely, favourable):
    cut_off = CutOff(threshold, favourable)
    moved = cut_off.moved(np.float64(probabilities([likely], favourable)))[0]
    second = likely if favourable == 1 else 1 - likely
    assert math.isclose(moved[1], expit(logit(second) + cut_off.shift), rel_tol=1e-3)
    assert math.isclose(moved.sum(), 1.0)
    if abs(likely - threshold) > 1e-3:
        assert (moved[favourable] > 0.5) == (likely >= threshold)


@given(st.integers(1, 200), st.floats(0.01, 0.99), st.randoms(use_true_random=False))
def test_a_rate_grants_its_share_of_the_rows(n, rate, random):
    likely = np.array(random.sample(range(1, 10_000), n), np.float32) / 10_000
    threshold = threshold_of_rate(likely, rate)
    granted = verdicts(probabilities(likely, 1), CutOff(threshold, 1)).sum()
    assert granted == min(max(round(rate * n), 1), n)


@pytest.mark.parametrize("likely", [[0.4] * 5, [0.0] * 5, [1.0] * 5])
def test_equal_rows_are_granted_alike(likely):
    likely = np.array(likely, np.float32)
    threshold = threshold_of_rate(likely, 0.2)
    assert 0.0 < threshold < 1.0
    assert len(set(verdicts(probabilities(likely, 1), CutOff(threshold, 1)).tolist())) == 1


def test_neighbouring_numbers_are_told_apart():
    low = np.float32(0.3)
    likely = np.array([low, np.nextafter(low, np.float32(1))])
    threshold = threshold_of_rate(likely, 0.5)
    assert verdicts(probabilities(likely, 1), CutOff(threshold, 1)).tolist() == [0, 1]
