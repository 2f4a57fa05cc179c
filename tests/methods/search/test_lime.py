"""Surrogates against scikit-learn's ridge regression, and the neighbours they are fitted to."""

import jax.numpy as jnp
import numpy as np
import pytest
from rocourse.methods.search import category_frequencies, draw_neighbourhood
from rocourse.methods.search._lime import fit_surrogate, neighbours, weighted_ridge
from sklearn.linear_model import Ridge

from rocourse.schema import Layout, Rows, one_hot

from .toy_models import random_rows

LAYOUT = Layout(3, (4, 2))


@pytest.fixture
def frequencies():
    return category_frequencies(random_rows(LAYOUT, 500, seed=0), LAYOUT)


@pytest.mark.parametrize("alpha", [1.0, 0.01, 30.0])
def test_weighted_ridge_is_scikit_learns(alpha, frequencies):
    rng = np.random.default_rng(1)
    near = neighbours(
        jnp.asarray(one_hot(random_rows(LAYOUT, 1, seed=2), LAYOUT)[0]),
        draw_neighbourhood(frequencies, LAYOUT, count=200, seed=3),
        LAYOUT,
        spread=0.1,
    )
    y = rng.normal(size=200).astype(np.float32)
    weights = rng.random(200).astype(np.float32)
    ours = weighted_ridge(near, jnp.asarray(y), jnp.asarray(weights), alpha=alpha)
    theirs = Ridge(alpha=alpha).fit(np.asarray(near, float), y, sample_weight=weights)
    np.testing.assert_allclose(ours.weights, theirs.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(ours.intercept, theirs.intercept_, rtol=1e-3, atol=1e-4)


def test_near_points_weigh_more_and_certain_ones_are_cut_off(frequencies):
    x = one_hot(random_rows(LAYOUT, 1, seed=4), LAYOUT)[0]
    drawn = draw_neighbourhood(frequencies, LAYOUT, count=300, seed=5)
    near = np.asarray(neighbours(jnp.asarray(x), drawn, LAYOUT, spread=0.3), float)
    odds = 40.0 * (near[:, 0] - 0.5) + 3.0 * near[:, 4]
    distance = np.linalg.norm(near - x, axis=1)
    weights = np.exp(-(distance**2) / (2 * 0.75**2 * LAYOUT.width))
    shares = np.clip(1 / (1 + np.exp(-odds)), 1e-4, 1 - 1e-4)
    theirs = Ridge(alpha=1.0).fit(near, np.log(shares / (1 - shares)), sample_weight=weights)
    ours = fit_surrogate(jnp.asarray(x), jnp.asarray(near), jnp.asarray(odds), alpha=1.0)
    np.testing.assert_allclose(ours.weights, theirs.coef_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(ours.intercept, theirs.intercept_, rtol=1e-3, atol=1e-3)


def test_surrogate_of_a_linear_model_is_the_model(frequencies):
    x = jnp.asarray(one_hot(random_rows(LAYOUT, 1, seed=6), LAYOUT)[0])
    drawn = draw_neighbourhood(frequencies, LAYOUT, count=500, seed=7)
    near = neighbours(x, drawn, LAYOUT, spread=0.2)
    slope = jnp.array([1.0, -2.0, 0.5, 0.3, -0.3, 0.1, -0.1, 0.4, -0.4])
    found = fit_surrogate(x, near, near @ slope + 0.7, alpha=1e-3)
    np.testing.assert_allclose(
        near @ found.weights + found.intercept, near @ slope + 0.7, atol=2e-3
    )
    np.testing.assert_allclose(found.weights[:3], slope[:3], atol=5e-3)


def test_neighbours_keep_to_the_range_and_spread_as_told(frequencies):
    drawn = draw_neighbourhood(frequencies, LAYOUT, count=4000, seed=8)
    x = jnp.array([0.5, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    near = np.asarray(neighbours(x, drawn, LAYOUT, spread=0.1))
    assert near.shape == (4000, 9) and near.min() >= 0.0 and near.max() <= 1.0
    np.testing.assert_allclose(near[:, 0].std(), 0.1, rtol=0.05)
    np.testing.assert_allclose(near[:, 0].mean(), 0.5, atol=0.01)
    np.testing.assert_allclose((near[:, 1] == 0.0).mean(), 0.5, atol=0.03)
    for group in LAYOUT.group_slices:
        assert set(near[:, group].sum(axis=1)) == {1.0}


def test_categories_are_drawn_as_frequently_as_they_occur():
    codes = np.repeat([[0, 1], [2, 1], [3, 1]], [1, 2, 7], axis=0)
    rows = Rows(np.zeros((10, 3)), codes.astype(np.int16))
    shares = category_frequencies(rows, LAYOUT)
    np.testing.assert_allclose(shares, [0.1, 0.0, 0.2, 0.7, 0.0, 1.0], atol=1e-6)
    drawn = np.asarray(draw_neighbourhood(shares, LAYOUT, count=20_000, seed=0).categories)
    np.testing.assert_allclose(drawn.mean(axis=0), shares, atol=0.015)
    assert (drawn[:, [1, 4]] == 0.0).all()


def test_draws_are_decided_by_the_seed(frequencies):
    first, second, other = (
        draw_neighbourhood(frequencies, LAYOUT, count=50, seed=seed) for seed in (1, 1, 2)
    )
    for a, b, c in zip(first, second, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)
