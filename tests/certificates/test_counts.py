"""Bounds of shares against SciPy, against their meaning, and against simulated draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest

from rocourse.certificates import draws_for, lower_bound, more_for

shares = st.floats(0.05, 0.999)


@given(st.integers(1, 300), st.data(), st.floats(0.5, 0.999))
def test_bounds_are_those_of_an_exact_test(count, data, confidence):
    honoured = data.draw(st.integers(0, count))
    found = lower_bound(np.array([honoured]), count, confidence)[0]
    told = binomtest(honoured, count, alternative="greater").proportion_ci(confidence, "exact")
    assert found == pytest.approx(told.low, abs=1e-9)
    if honoured:
        # At the bound, as many agree just often enough to be believed.
        assert binom.sf(honoured - 1, count, found) == pytest.approx(1.0 - confidence, abs=1e-6)
        assert found == pytest.approx(beta.ppf(1 - confidence, honoured, count - honoured + 1))


def test_if_all_agree_the_bound_has_a_closed_form():
    counts = np.array([8, 59, 299])
    found = [lower_bound(np.array([n]), n, 0.95)[0] for n in counts]
    assert found == pytest.approx(0.05 ** (1.0 / counts))
    assert [draws_for(share, 0.95) for share in (0.9, 0.95, 0.99)] == [29, 59, 299]
    # As published of APΔS.
    assert draws_for(0.995, 0.999) == 1379


@given(shares, st.floats(0.5, 0.999))
def test_draws_are_the_fewest_that_show_a_share(share, confidence):
    n = draws_for(share, confidence)
    assert share**n <= (1.0 - confidence) * (1 + 1e-6)
    assert n == 1 or share ** (n - 1) > (1.0 - confidence) * (1 - 1e-6)


@given(st.integers(1, 80), st.data(), st.floats(0.3, 0.97), st.floats(0.6, 0.99))
def test_so_many_more_are_enough_and_one_less_is_not(count, data, share, confidence):
    honoured = np.array([data.draw(st.integers(0, count))])
    (more,) = more_for(honoured, count, share, confidence).tolist()
    assert lower_bound(honoured + more, count + more, confidence)[0] >= share
    if more:
        less = lower_bound(honoured + more - 1, count + more - 1, confidence)[0]
        assert less < share


def test_bounds_are_right_as_often_as_they_say():
    """Over repeated experiments of any share: at least the nominal part of bounds is below it."""
    rng = np.random.default_rng(0)
    for share in (0.3, 0.8, 0.97):
        honoured = rng.binomial(40, share, 20_000)
        right = (lower_bound(honoured, 40, 0.9) <= share).mean()
        # Three standard errors of a count of 20,000.
        assert right >= 0.9 - 3 * np.sqrt(0.09 / 20_000)
