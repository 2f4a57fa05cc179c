"""ROAR: its adversary against brute force, its minimum against a general solver, its recourses."""

from functools import partial
from itertools import product

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize
from tests.recourse.toy_models import (
    MIXED,
    HostModel,
    OpenModel,
    linear,
    linear_classes,
    make_space,
    predicted,
    random_rows,
    reachable,
    small_predictor,
)
from tests.versions import enable_x64

from rocourse.recourse import ROARProposer
from rocourse.recourse.roar._lime import Surrogate, category_frequencies, draw_neighbourhood
from rocourse.recourse.roar._search import (
    RoarSettings,
    attempts,
    choose,
    descend,
    roar_recourses,
    robust_loss,
    worst_change,
    worst_log_odds,
)
from rocourse.recourse.search import settings_of, traced
from rocourse.schema import one_hot

SMALL = make_space(2, (3,))
FREE = make_space(3, (3, 4))


def settings_with(**options):
    return settings_of(RoarSettings, ROARProposer(**options))


@eqx.filter_jit
def compiled(x, surrogate, limits, layout, price, settings):
    return descend(x, surrogate, limits, layout, price, settings)


def descended(x, surrogate, limits, layout, price, settings):
    return compiled(x, surrogate, limits, layout, jnp.float32(price), traced(settings))


def random_surrogate(rng, width, scale=1.0):
    weights = rng.normal(0.0, scale, width).astype(np.float32)
    return Surrogate(jnp.asarray(weights), jnp.asarray(rng.normal(-1.0, 1.0), jnp.float32))


def random_point(rng, space):
    x = rng.random(space.layout.width).astype(np.float32)
    for group in space.layout.group_slices:
        x[group] /= x[group].sum()
    return x


@pytest.mark.parametrize("seed", range(5))
def test_linf_adversary_is_the_worst_corner(seed):
    rng = np.random.default_rng(seed)
    x, surrogate = random_point(rng, SMALL), random_surrogate(rng, 5)
    value, _ = worst_log_odds(surrogate, jnp.asarray(x), delta_max=0.3, norm="linf")
    full, extended = np.append(surrogate.weights, surrogate.intercept), np.append(x, 1.0)
    corners = [(full + 0.3 * np.array(signs)) @ extended for signs in product([-1, 1], repeat=6)]
    np.testing.assert_allclose(value, min(corners), rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_l2_adversary_is_the_worst_point_of_the_ball(seed):
    rng = np.random.default_rng(seed)
    x, surrogate = random_point(rng, SMALL), random_surrogate(rng, 5)
    change = np.asarray(worst_change(jnp.asarray(x), delta_max=0.3, norm="l2"))
    value, _ = worst_log_odds(surrogate, jnp.asarray(x), delta_max=0.3, norm="l2")
    full, extended = np.append(surrogate.weights, surrogate.intercept), np.append(x, 1.0)
    np.testing.assert_allclose(np.linalg.norm(change), 0.3, rtol=1e-5)
    np.testing.assert_allclose(value, (full + change) @ extended, rtol=1e-5)
    worst = minimize(
        lambda d: (full + d) @ extended,
        np.zeros(6),
        constraints={"type": "ineq", "fun": lambda d: 0.09 - d @ d},
        method="SLSQP",
    )
    np.testing.assert_allclose(value, worst.fun, atol=1e-4)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_slope_of_the_worst_case_is_the_finite_difference(norm):
    rng = np.random.default_rng(0)
    x, surrogate = random_point(rng, SMALL), random_surrogate(rng, 5)
    with enable_x64():
        exact = Surrogate(*(jnp.asarray(np.asarray(part, float)) for part in surrogate))
        value = partial(worst_log_odds, exact, delta_max=0.3, norm=norm)
        _, slope = value(jnp.asarray(x, float))
        step = 1e-6 * np.eye(5)
        there, back = (
            np.array([value(jnp.asarray(x + sign * row, float))[0] for row in step])
            for sign in (1, -1)
        )
    np.testing.assert_allclose(slope, (there - back) / 2e-6, rtol=1e-5)


def solved(x, surrogate, limits, layout, price, settings):
    """The least robust loss by a general solver: changes up and down are variables of their own."""
    cut, width = layout.n_continuous, layout.width
    top = np.concatenate([limits.high, np.where(limits.allowed, 1.0, 0.0)]) - x
    bottom = x - np.concatenate([limits.low, np.zeros(width - cut)])
    weights, intercept = np.asarray(surrogate.weights, float), float(surrogate.intercept)

    def loss(z):
        point = np.append(x + z[:width] - z[width:], 1.0)
        length = np.abs(point).sum() if settings.norm == "linf" else np.linalg.norm(point)
        odds = weights @ point[:-1] + intercept - settings.delta_max * length
        return np.logaddexp(0.0, -odds) + price * z.sum()

    groups = [
        {"type": "eq", "fun": lambda z, g=g: (z[:width] - z[width:])[g].sum()}
        for g in layout.group_slices
    ]
    room = np.maximum(np.concatenate([top, bottom]), 0.0)
    starts = [np.zeros(2 * width), 0.3 * room]
    return min(
        minimize(
            loss,
            start,
            bounds=[(0.0, most) for most in room],
            constraints=groups,
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 1000},
        ).fun
        for start in starts
    )


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("seed", range(12))
def test_descent_ends_at_the_minimum_that_a_general_solver_finds(seed, norm):
    rng = np.random.default_rng(seed)
    space = (MIXED, FREE)[seed % 2]
    layout = space.layout
    x = one_hot(random_rows(layout, 1, seed=seed), layout)[0]
    surrogate = random_surrogate(rng, layout.width, scale=2.0)
    limits = space.constraints.limits(jnp.asarray(x))
    price = float(rng.choice([0.02, 0.1, 0.4]))
    settings = settings_with(norm=norm, delta_max=0.3, tolerance=1e-6)
    found = descended(jnp.asarray(x), surrogate, limits, layout, price, settings)
    ours = float(robust_loss(found, jnp.asarray(x), surrogate, price, settings))
    theirs = solved(x, surrogate, limits, layout, price, settings)
    assert ours <= theirs + 2e-4
    assert (found[:3] >= limits.low - 1e-6).all() and (found[:3] <= limits.high + 1e-6).all()
    assert (found[3:][~limits.allowed] == 0.0).all()
    for group in layout.group_slices:
        np.testing.assert_allclose(found[group].sum(), 1.0, atol=1e-5)


def test_a_free_change_goes_all_the_way():
    x = jnp.array([0.5, 0.5, 1.0, 0.0, 0.0])
    surrogate = Surrogate(jnp.array([1.0, -1.0, 0.0, 2.0, 1.0]), jnp.array(0.0))
    settings = settings_with(delta_max=0.0)
    found = descended(x, surrogate, SMALL.constraints.limits(x), SMALL.layout, 0.0, settings)
    np.testing.assert_allclose(found, [1.0, 0.0, 0.0, 1.0, 0.0], atol=1e-6)


def test_a_category_is_taken_whole_where_a_small_share_would_have_been_enough():
    x = jnp.array([0.5, 0.5, 1.0, 0.0, 0.0])
    surrogate = Surrogate(jnp.array([0.0, 0.0, 0.0, 30.0, 0.0]), jnp.array(-3.0))
    settings = settings_with(proximity_weights=(0.5,), delta_max=0.0)
    limits = SMALL.constraints.limits(x)
    soft = descended(x, surrogate, limits, SMALL.layout, 0.5, settings)
    assert 0.0 < soft[3] < 0.5
    (tried,) = eqx.filter_jit(attempts)(x, surrogate, SMALL, settings)
    np.testing.assert_allclose(tried, [0.5, 0.5, 0.0, 1.0, 0.0])


def test_the_cheapest_attempt_that_the_model_calls_valid_is_chosen():
    x = jnp.zeros(2)
    tried = jnp.array([[0.1, 0.0], [0.3, 0.0], [0.2, 0.0]])
    odds = jnp.array([-1.0, 2.0, 1.0])
    chosen = choose(x, tried, odds, odds > 0)
    np.testing.assert_array_equal(chosen, tried[2])
    np.testing.assert_array_equal(choose(x, tried, odds, jnp.zeros(3, bool)), tried[1])


def search_rows(model, rows, target, space, settings, *, count=400):
    frequencies = category_frequencies(random_rows(space.layout, 300, seed=9), space.layout)
    drawn = draw_neighbourhood(frequencies, space.layout, count=count, seed=0)
    return roar_recourses(model, rows, target, space, drawn, settings)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_recourses_of_a_linear_model_survive_the_worst_change_of_its_weights(norm):
    weights = np.array([4.0, -3.0, 2.0, 0.5, -0.5, 0.0, 1.0, -1.0, 0.0, 0.0])
    model = OpenModel(linear(weights, -1.5))
    rows = random_rows(FREE.layout, 60, seed=1)
    x = one_hot(rows, FREE.layout)
    target = np.ones(60, int)
    settings = settings_with(
        proximity_weights=(0.1, 0.1, 0.1), delta_max=0.2, norm=norm, alpha=1e-3
    )
    found = one_hot(search_rows(model, rows, target, FREE, settings), FREE.layout)
    order = np.inf if norm == "linf" else 2
    dual = np.linalg.norm(np.c_[found, np.ones(60)], 1 if order == np.inf else 2, axis=1)
    assert (found @ weights - 1.5 - 0.2 * dual > 0.0).all()
    assert (np.abs(found - x).sum(axis=1) < 4.0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_recourses_reach_their_target_where_the_limits_let_them(n_classes):
    model = OpenModel(linear_classes(MIXED.layout, n_classes, seed=1), n_classes)
    rows = random_rows(MIXED.layout, 70, seed=0)
    target = (predicted(model, one_hot(rows, MIXED.layout)) + 1) % n_classes
    settings = settings_with()
    found = search_rows(model, rows, target, MIXED, settings)
    reached = predicted(model, one_hot(found, MIXED.layout)) == target
    possible = reachable(model, rows, target)
    assert possible.mean() > 0.5 and reached[possible].mean() > 0.9
    np.testing.assert_array_equal(found.continuous[:, 1], rows.continuous[:, 1])
    assert (found.continuous[:, 2] >= rows.continuous[:, 2]).all()
    np.testing.assert_array_equal(found.categories[:, 1], rows.categories[:, 1])
    assert found.categories.dtype == rows.categories.dtype


def test_more_prices_never_make_fewer_recourses_valid():
    model = OpenModel(small_predictor(FREE, seed=3))
    rows = random_rows(FREE.layout, 64, seed=5)
    target = 1 - predicted(model, one_hot(rows, FREE.layout))
    valid = [
        predicted(model, one_hot(search_rows(model, rows, target, FREE, settings), FREE.layout))
        == target
        for settings in (
            settings_with(proximity_weights=(0.5, 0.5, 0.5)),
            settings_with(proximity_weights=(0.5, 0.1, 0.02)),
        )
    ]
    assert (valid[1] >= valid[0]).all()


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_a_model_seen_from_outside_gets_what_its_network_gets(norm):
    network = small_predictor(FREE)
    rows = random_rows(FREE.layout, 40, seed=1)
    target = 1 - predicted(HostModel(network), one_hot(rows, FREE.layout))
    settings = settings_with(norm=norm)
    inside, outside = (
        search_rows(model, rows, target, FREE, settings)
        for model in (OpenModel(network), HostModel(network))
    )
    np.testing.assert_allclose(inside.continuous, outside.continuous, atol=1e-2)
    np.testing.assert_array_equal(inside.categories, outside.categories)


def test_a_row_gets_the_same_recourse_alone_and_among_others():
    model = OpenModel(small_predictor(FREE))
    rows = random_rows(FREE.layout, 40, seed=2)
    target = 1 - predicted(model, one_hot(rows, FREE.layout))
    settings = settings_with()
    together = search_rows(model, rows, target, FREE, settings)
    for i in (0, 31, 39):
        alone = search_rows(model, rows[[i]], target[[i]], FREE, settings)
        np.testing.assert_allclose(alone.continuous, together[[i]].continuous, atol=1e-4)
        np.testing.assert_array_equal(alone.categories, together[[i]].categories)


def test_rows_without_categories_and_rows_without_numbers_are_searched_too():
    for space in (make_space(3, ()), make_space(0, (3, 4, 2))):
        model = OpenModel(small_predictor(space, seed=1))
        rows = random_rows(space.layout, 5, seed=0)
        target = 1 - predicted(model, one_hot(rows, space.layout))
        found = search_rows(model, rows, target, space, settings_with(), count=50)
        assert found.continuous.shape == rows.continuous.shape
        assert np.isfinite(found.continuous).all()
