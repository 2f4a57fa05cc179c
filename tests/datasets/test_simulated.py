"""Simulated shifts against the closed forms of the paper's equations."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from rocourse.datasets import simulate_covariate_shift, simulate_label_shift
from rocourse.errors import ConfigError

N = 200_000


@pytest.fixture(scope="module")
def covariate():
    return simulate_covariate_shift(N, seed=1).subsets


@pytest.fixture(scope="module")
def label():
    return simulate_label_shift(N, seed=1).subsets


def assert_mean(values, expected):
    """The mean is within five standard errors of the expected one."""
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - expected) < 5 * error


@pytest.mark.parametrize(
    ("subset", "mean_1", "spread_1", "mean_2", "spread_2"),
    [("D1", 0.5, 0.5, 0.0, 0.3), ("D2", 0.0, 0.3, 0.5, 0.5)],
)
def test_covariates_have_the_papers_moments(covariate, subset, mean_1, spread_1, mean_2, spread_2):
    frame = covariate[subset]
    for name, mean, spread in (("x1", mean_1, spread_1), ("x2", mean_2, spread_2)):
        assert_mean(frame[name], mean)
        assert_mean((frame[name] - mean) ** 2, spread**2)
    assert_mean((frame["x1"] - mean_1) * (frame["x2"] - mean_2), 0.0)


@pytest.mark.parametrize("subset", ["D1", "D2"])
def test_class_given_the_covariates_follows_the_equation(covariate, subset):
    frame = covariate[subset]
    # P(-x2 + x1³ + ε > 0) for ε ~ N(-0.1, 0.1)
    probability = norm.cdf((frame["x1"] ** 3 - frame["x2"] - 0.1) / 0.1)
    excess = frame["y"] - probability
    bins = np.digitize(probability, [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
    for index in range(8):
        inside = bins == index
        assert inside.sum() > 500
        error = np.sqrt(np.sum((probability * (1 - probability))[inside]))
        assert abs(np.sum(excess[inside])) < 5 * error


@pytest.mark.parametrize(("subset", "share"), [("D1", 0.6), ("D2", 0.3)])
def test_classes_have_the_papers_share(label, subset, share):
    assert_mean(label[subset]["y"], share)


@pytest.mark.parametrize("subset", ["D1", "D2"])
@pytest.mark.parametrize("y", [0, 1])
def test_features_given_the_class_have_the_moments_of_the_equations(label, subset, y):
    frame = label[subset].query("y == @y")
    # z ~ N(m, s), with the moments of a cube of a normal variable
    m, s = 2 * y - 1 + 0.1, 0.1
    mean_cube = m**3 + 3 * m * s**2
    variance_cube = 9 * m**4 * s**2 + 36 * m**2 * s**4 + 15 * s**6
    covariance = 3 * m**2 * s**2 + 3 * s**4
    mean_1, mean_2 = -m + mean_cube, m + mean_cube - 3 * y
    assert_mean(frame["x1"], mean_1)
    assert_mean(frame["x2"], mean_2)
    variance_1 = s**2 + variance_cube - 2 * covariance + 0.3**2
    variance_2 = s**2 + variance_cube + 2 * covariance + 0.3**2
    assert_mean((frame["x1"] - mean_1) ** 2, variance_1)
    assert_mean((frame["x2"] - mean_2) ** 2, variance_2)
    assert_mean((frame["x1"] - mean_1) * (frame["x2"] - mean_2), variance_cube - s**2)


@pytest.mark.parametrize("simulate", [simulate_covariate_shift, simulate_label_shift])
def test_same_seed_gives_the_same_rows(simulate):
    first, again, other = simulate(50, seed=2), simulate(50, seed=2), simulate(50, seed=3)
    for subset in ("D1", "D2"):
        assert list(first.subsets[subset].columns) == ["x1", "x2", "y"]
        assert len(first.subsets[subset]) == 50
        pd.testing.assert_frame_equal(first.subsets[subset], again.subsets[subset])
        assert not first.subsets[subset].equals(other.subsets[subset])


@pytest.mark.parametrize("simulate", [simulate_covariate_shift, simulate_label_shift])
def test_bad_arguments_are_refused(simulate):
    with pytest.raises(ConfigError, match="n must be at least 1 row per subset, got 0"):
        simulate(0, seed=0)
    with pytest.raises(ConfigError, match="seed must not be negative, got -1"):
        simulate(10, seed=-1)
