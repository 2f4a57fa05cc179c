"""The descent: its projection, its gradient, and that it goes down within its bounds."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from rocourse.recourse.rbr._descent import Samples, descend, project_within, worst_log_odds
from rocourse.recourse.rbr._likelihoods import likelihood_table, optimistic, pessimistic
from rocourse.recourse.search import project
from rocourse.schema import Layout
from rocourse.schema.constraints import Limits

LAYOUT = Layout(3, (3, 2))
LIMITS = Limits(
    low=jnp.asarray([0.0, 0.5, 0.0]),
    high=jnp.asarray([1.0, 1.0, 0.3]),
    allowed=jnp.asarray([True, True, False, True, True]),
)
X = jnp.asarray([0.4, 0.5, 0.3, 1, 0, 0, 0, 1], jnp.float32)
SHAPE = {"dimension": 8, "sigma": 0.8}
TABLE = likelihood_table(**SHAPE, epsilon_op=0.3, epsilon_pe=0.2, reach=4.0)


def make_samples(seed):
    rng = np.random.default_rng(seed)
    centre = jnp.asarray([0.6, 0.6, 0.2, 0.7, 0.3, 0, 0.4, 0.6], jnp.float32)
    offsets = jnp.asarray(0.5 * rng.normal(size=(40, 8)), jnp.float32)
    return Samples(centre, offsets, jnp.asarray(offsets[:, 0] - offsets[:, 5] > 0.1))


def nearest_by_solver(point, x, budget, limits, layout):
    """The same projection as a quadratic programme in rises and falls, by SLSQP."""
    n, cut = layout.width, layout.n_continuous
    high = np.concatenate([limits.high, limits.allowed])
    low = np.concatenate([limits.low, np.zeros(n - cut)])
    sums = np.zeros((layout.n_categorical, 2 * n))
    for k, group in enumerate(layout.group_slices):
        sums[k, group] = 1.0
        sums[k, n + group.start : n + group.stop] = -1.0

    def at(moves):
        return x + moves[:n] - moves[n:]

    def slope(moves):
        return np.concatenate([at(moves) - point, point - at(moves)])

    answer = minimize(
        lambda moves: 0.5 * np.sum((at(moves) - point) ** 2),
        np.zeros(2 * n),
        jac=slope,
        bounds=[(0, max(h, 0)) for h in high - x] + [(0, max(d, 0)) for d in x - low],
        constraints=[
            {"type": "eq", "fun": lambda m: sums @ m, "jac": lambda m: sums},
            {"type": "ineq", "fun": lambda m: budget - m.sum(), "jac": lambda m: -np.ones(2 * n)},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return at(answer.x)


# As a value of the compiled code, a budget compiles nothing anew.
within = jax.jit(partial(project_within, layout=LAYOUT))
projected = jax.jit(partial(project, layout=LAYOUT))
odds = jax.jit(lambda point, samples: worst_log_odds(point, samples, TABLE)[0])


@pytest.mark.parametrize("budget", [0.05, 0.5, 1.5, 3.0])
def test_projection_is_the_nearest_point_within_budget_and_limits(budget):
    rng = np.random.default_rng(0)
    for _ in range(40):
        groups = [np.eye(size)[rng.integers(size)] for size in LAYOUT.group_sizes]
        x = np.concatenate([rng.uniform(0.2, 0.8, 3), *groups]).astype(np.float32)
        limits = Limits(
            np.minimum(x[:3], rng.choice([0.0, 0.5], 3)).astype(np.float32),
            np.maximum(x[:3], rng.choice([1.0, 0.5], 3)).astype(np.float32),
            (rng.uniform(size=5) < 0.8) | (x[3:] > 0.5),
        )
        point = (x + rng.choice([0.1, 0.5, 1.5]) * rng.normal(size=8)).astype(np.float32)
        got = np.asarray(within(point, x, budget, limits))
        assert np.abs(got - x).sum() <= budget + 1e-5
        np.testing.assert_allclose(projected(got, limits), got, atol=1e-6)
        expected = nearest_by_solver(point, x, budget, limits, LAYOUT)
        # SLSQP now and then stops early: it must not be nearer, and if as near it is the same.
        lead = np.linalg.norm(expected - point) - np.linalg.norm(got - point)
        assert lead > -1e-4
        if lead < 1e-4:
            np.testing.assert_allclose(got, expected, atol=1e-2)


def test_projection_on_the_ball_alone_is_soft_thresholding():
    layout, x = Layout(4, ()), jnp.full(4, 0.5)
    limits = Limits(x - 10.0, x + 10.0, jnp.zeros(0, bool))
    got = project_within(x + jnp.asarray([3.0, -2.0, 0.5, 0.0]), x, 2.0, limits, layout)
    # By hand: the threshold is 1.5.
    np.testing.assert_allclose(got - x, [1.5, -0.5, 0.0, 0.0], atol=1e-5)


def test_gradient_is_that_of_the_worst_case_by_finite_differences():
    samples = make_samples(0)
    where = np.asarray(samples.centre + samples.offsets, np.float64)
    favourable = np.asarray(samples.favourable)

    def definition(points):
        c = np.linalg.norm(where - points[..., None, :], axis=-1)
        high, _ = optimistic(c, **SHAPE, epsilon=0.3)
        low, _ = pessimistic(c, **SHAPE, epsilon=0.2)
        against = np.log(np.exp(high[..., ~favourable]).sum(axis=-1))
        return against - np.log(np.exp(low[..., favourable]).sum(axis=-1))

    points, steps = np.random.default_rng(1).uniform(size=(3, 8)), 1e-4 * np.eye(8)
    ends = [definition(points[:, None] + side * steps) for side in (1.0, -1.0)]
    call = jax.jit(jax.vmap(lambda x: worst_log_odds(x, samples, TABLE)[1]))
    gradient = call(jnp.asarray(points, jnp.float32))
    np.testing.assert_allclose(gradient, (ends[0] - ends[1]) / 2e-4, atol=2e-3)


@jax.jit
def lowest(samples, budget):
    options = {"max_steps": 200, "step_size": 1000**-0.5, "patience": 10}
    return descend(X, samples, budget, LIMITS, LAYOUT, TABLE, **options)


@pytest.mark.parametrize("seed", range(4))
def test_descent_keeps_to_budget_and_limits_and_goes_down(seed):
    samples = make_samples(seed)
    budget = jnp.sum(jnp.abs(samples.centre - X)) + 0.2
    found = lowest(samples, budget)
    assert jnp.sum(jnp.abs(found - X)) <= budget + 1e-5
    np.testing.assert_allclose(projected(found, LIMITS), found, atol=1e-5)
    before, after = (odds(point, samples) for point in (samples.centre, found))
    assert after < before


@pytest.mark.parametrize("seed", range(4))
def test_descent_comes_as_low_as_published_steps_of_constant_length(seed):
    samples = make_samples(seed)
    budget = jnp.sum(jnp.abs(samples.centre - X)) + 0.2
    found = odds(lowest(samples, budget), samples)
    assert found <= published_descent(samples, budget) + 1e-4


@jax.jit
def published_descent(samples, budget):
    """The least value on the way of 500 such steps."""

    def step(_, state):
        best, best_value, x = state
        value, gradient = worst_log_odds(x, samples, TABLE)
        best = jnp.where(value < best_value, x, best)
        best_value = jnp.minimum(value, best_value)
        moved = project_within(x - 1000**-0.5 * gradient, X, budget, LIMITS, LAYOUT)
        return best, best_value, moved

    start = (samples.centre, jnp.asarray(jnp.inf), samples.centre)
    return jax.lax.fori_loop(0, 500, step, start)[1]


def test_no_budget_leaves_the_row_as_it_is():
    found = lowest(make_samples(0), 0.0)
    np.testing.assert_allclose(found, X, atol=1e-6)


@pytest.mark.parametrize("favourable", [True, False])
def test_samples_of_one_kind_still_give_an_answer(favourable):
    samples = make_samples(0)._replace(favourable=jnp.full(40, favourable))
    assert np.isfinite(np.asarray(lowest(samples, 1.0))).all()
