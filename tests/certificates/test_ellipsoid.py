"""Near-optimal last layers against dense search, another library, and the loss itself."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from rocourse.certificates._ellipsoid import _PENALTY, _cut, loss, near_optimal, tolerances
from rocourse.certificates._votes import majority_chance


def rows_of(rng, n=400, d=3):
    hidden = np.column_stack([rng.normal(0.0, 1.0, (n, d - 1)), np.ones(n)])
    truth = rng.normal(0.0, 1.5, d)
    return hidden, (rng.random(n) < 1.0 / (1.0 + np.exp(-hidden @ truth))).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_newton_finds_what_another_library_does(seed):
    hidden, labels = rows_of(np.random.default_rng(seed), d=5)
    found = near_optimal(hidden, labels)
    other = LogisticRegression(
        C=1.0 / (_PENALTY * len(labels)), fit_intercept=False, tol=1e-10, max_iter=2000
    ).fit(hidden, labels)
    np.testing.assert_allclose(found.centre, other.coef_[0], atol=1e-4)
    assert found.least <= loss(other.coef_[0], hidden, labels) + 1e-12
    step = 1e-4
    for axis in np.eye(5):
        # Second differences of the loss along each axis.
        around = [loss(found.centre + s * step * axis, hidden, labels) for s in (-1, 0, 1)]
        bend = (around[0] - 2 * around[1] + around[2]) / step**2
        assert bend == pytest.approx(axis @ found.curvature @ axis, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_the_closed_form_is_the_least_over_the_ellipsoid(seed):
    """All directions of three weights, a degree apart: none leads to less, one to hardly more."""
    rng = np.random.default_rng(seed)
    hidden, labels = rows_of(rng)
    found = near_optimal(hidden, labels)
    root = np.linalg.cholesky(found.curvature)
    one, two = np.meshgrid(np.linspace(0, np.pi, 721), np.linspace(0, 2 * np.pi, 1441))
    sphere = np.stack([np.sin(one) * np.cos(two), np.sin(one) * np.sin(two), np.cos(one)], -1)
    # Where ½dᵀHd is 1.
    edge = np.sqrt(2.0) * np.linalg.solve(root.T, sphere.reshape(-1, 3).T).T
    for h in np.column_stack([rng.normal(0.0, 1.0, (6, 2)), np.ones(6)]):
        margin = abs(h @ found.centre)
        # The least that d adds at ε is √ε times the least at 1: zero is reached at (m / least)².
        needed = (margin / -(edge @ h).min()) ** 2
        (told,) = tolerances(found, h[None], np.array([margin]))
        assert told <= needed * (1 + 1e-12)
        assert told == pytest.approx(needed, rel=1e-4)
    assert tolerances(found, hidden[:1], np.array([-0.1]))[0] == 0.0


def test_near_its_least_the_loss_is_the_quadratic_function():
    rng = np.random.default_rng(0)
    hidden, labels = rows_of(rng)
    found = near_optimal(hidden, labels)
    root = np.linalg.cholesky(found.curvature)
    for direction in rng.normal(0.0, 1.0, (20, 3)):
        d = np.linalg.solve(root.T, direction / np.linalg.norm(direction))
        excess = loss(found.centre + np.sqrt(2e-4) * d, hidden, labels) - found.least
        assert excess == pytest.approx(1e-4, rel=0.05)


def test_the_cut_off_grants_as_many_rows():
    scores = np.random.default_rng(0).normal(0.0, 1.0, 50)
    assert [(scores > _cut(scores, k)).sum() for k in (1, 20, 49)] == [1, 20, 49]
    assert _cut(scores, 0) == _cut(scores, 50) == 0.0


def test_the_chance_of_a_majority_is_stated_too_high_only_as_often_as_said():
    """Votes of forests of a known chance: what is said of new forests is below the truth."""
    rng = np.random.default_rng(1)
    for chance in (0.55, 0.7, 0.9):
        votes = rng.binomial(30, chance, 5000)
        truth = (rng.binomial(30, chance, 200_000) > 15).mean()
        right = (majority_chance(votes, 30, 0.5, 0.9) <= truth + 0.005).mean()
        assert right >= 0.9 - 3 * np.sqrt(0.09 / 5000)
