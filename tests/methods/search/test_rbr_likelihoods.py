"""The adversary's two problems against their definitions and an independent solver."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rocourse.methods.search._rbr_likelihoods import (
    likelihood_table,
    log_odds,
    look_up,
    optimistic,
    pessimistic,
)
from scipy.optimize import minimize

CASES = [  # dimension, sigma, epsilon
    (2, 1.0, 0.5),
    (7, 0.3, 0.2),
    (20, 1.0, 1.0),
    (110, 1.0, 0.3),
    (69, 0.3, 2.0),
]
DISTANCES = np.array([0.0, 0.1, 0.6, 1.7, 4.8])


def best_of(objective, radius):
    """The least value over u ≥ 0, ‖u‖ ≤ radius that SLSQP reaches from several starts."""
    answers = [
        minimize(
            objective,
            radius * np.array(start),
            bounds=[(0.0, radius)] * 2,
            constraints=[{"type": "ineq", "fun": lambda u: radius**2 - u @ u}],
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        for start in [(0.05, 0.05), (0.7, 0.1), (0.1, 0.7), (0.6, 0.6), (0.95, 0.01), (0.3, 0.0)]
    ]
    return min(a.fun for a in answers if a.success and a.x @ a.x <= radius**2 * (1 + 1e-9))


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize(("dimension", "sigma", "epsilon"), CASES)
def test_optima_are_those_of_an_independent_solver(dimension, sigma, epsilon):
    p = dimension
    high, _ = optimistic(DISTANCES, dimension=p, sigma=sigma, epsilon=epsilon)
    low, _ = pessimistic(DISTANCES, dimension=p, sigma=sigma, epsilon=epsilon)
    for i, c in enumerate(DISTANCES):

        def op(v, c=c):
            spread = v[1] + sigma
            rest = (c - v[0]) ** 2 / (2 * spread**2)
            return np.log(spread) + rest + (p - 1) * np.log(sigma)

        def pe(u, c=c):
            t = np.sqrt(max(epsilon**2 - p * u[0] ** 2 - u[1] ** 2, 1e-300) / (p - 1))
            spread = u[1] + sigma
            rest = (c + np.sqrt(p) * u[0]) ** 2 / (2 * spread**2)
            return -np.log(spread) - rest - (p - 1) * np.log(t + sigma)

        np.testing.assert_allclose(-high[i], best_of(op, epsilon), rtol=1e-6, atol=1e-6)
        # The published constraint ‖u‖ ≤ ε/√p; here it follows from optimality.
        np.testing.assert_allclose(low[i], best_of(pe, epsilon / np.sqrt(p)), rtol=1e-6, atol=1e-6)


def test_no_gaussian_within_reach_is_beyond_the_optima():
    # The definition: N(μ, S²) with S ⪰ σI and ‖μ − x_i‖² + ‖S − σI‖² ≤ ε², in three dimensions.
    sigma, epsilon, n = 0.7, 0.6, 40_000
    rng = np.random.default_rng(0)
    means, roots = rng.normal(size=(n, 3)), rng.normal(size=(n, 3, 3))
    spreads = roots @ roots.transpose(0, 2, 1) * rng.uniform(0, 1, (n, 1, 1)) ** 3
    scale = np.sqrt((means**2).sum(axis=1) + (spreads**2).sum(axis=(1, 2)))
    share = epsilon * rng.uniform(0.6, 1.0, n) / scale
    means, spreads = means * share[:, None], spreads * share[:, None, None] + sigma * np.eye(3)
    for c in (0.0, 0.4, 1.5, 3.0):
        rest = np.linalg.solve(spreads, (np.array([c, 0.0, 0.0]) - means)[..., None])[..., 0]
        likelihood = -np.linalg.slogdet(spreads)[1] - (rest**2).sum(axis=1) / 2
        ((high,), _), ((low,), _) = (
            solve(np.array([c]), dimension=3, sigma=sigma, epsilon=epsilon)
            for solve in (optimistic, pessimistic)
        )
        assert likelihood.max() <= high + 1e-9
        assert likelihood.min() >= low - 1e-9
        # Nor are the optima out of reach: random Gaussians come near them.
        assert likelihood.max() > high - 0.25 * (high - low)
        assert likelihood.min() < low + 0.25 * (high - low)


@pytest.mark.parametrize("solve", [optimistic, pessimistic])
@pytest.mark.parametrize(("dimension", "sigma", "epsilon"), CASES)
def test_slopes_are_those_of_the_optimal_value(solve, dimension, sigma, epsilon):
    c, h = np.linspace(0.05, 5.0, 40), 1e-4
    ends = [solve(c + d, dimension=dimension, sigma=sigma, epsilon=epsilon)[0] for d in (-h, h)]
    _, slope = solve(c, dimension=dimension, sigma=sigma, epsilon=epsilon)
    np.testing.assert_allclose(slope, (ends[1] - ends[0]) / (2 * h), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("solve", [optimistic, pessimistic])
def test_without_an_adversary_both_are_the_gaussian(solve):
    value, slope = solve(DISTANCES, dimension=5, sigma=0.5, epsilon=0.0)
    np.testing.assert_allclose(value, -(DISTANCES**2) / (2 * 0.25) - 5 * np.log(0.5))
    np.testing.assert_allclose(slope, -DISTANCES / 0.25)


def test_single_dimension_has_no_other_directions():
    value, _ = pessimistic(DISTANCES, dimension=1, sigma=1.0, epsilon=0.5)
    a, s = np.meshgrid(np.linspace(0, 0.5, 501), np.linspace(0, 0.5, 501))
    inside = a**2 + s**2 <= 0.25
    for c, got in zip(DISTANCES, value, strict=True):
        loss = -np.log(1 + s) - ((c + a) / (1 + s)) ** 2 / 2
        np.testing.assert_allclose(got, loss[inside].min(), atol=2e-3)


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0])
def test_table_agrees_with_direct_solutions(epsilon):
    options = {"dimension": 30, "sigma": 0.8}
    table = likelihood_table(**options, epsilon_op=epsilon, epsilon_pe=epsilon, reach=5.0)
    c = np.random.default_rng(0).uniform(0.0, 5.0, 300)
    for favourable, solve in ((False, optimistic), (True, pessimistic)):
        value, slope = solve(c, **options, epsilon=epsilon)
        zero, _ = solve(np.zeros(1), **options, epsilon=epsilon)
        got, got_slope = look_up(table, jnp.asarray(c, jnp.float32), jnp.full(300, favourable))
        np.testing.assert_allclose(got, value - zero, rtol=1e-4, atol=1e-4)
        error = np.abs(got_slope - slope)
        # Only the piece that a kink falls into is less exact.
        assert error.max() < 1e-2
        assert np.quantile(error, 0.98) < 1e-3


def test_table_goes_on_beyond_its_reach():
    options = {"dimension": 4, "sigma": 1.0, "epsilon_op": 0.0, "epsilon_pe": 0.0}
    table = likelihood_table(**options, reach=2.0)
    value, slope = look_up(table, jnp.array([3.0]), jnp.array([True]))
    np.testing.assert_allclose(value, [-4.5], rtol=1e-4)
    np.testing.assert_allclose(slope, [-3.0], rtol=1e-4)


def test_log_odds_and_their_derivative_follow_the_definition():
    options = {"dimension": 10, "sigma": 1.0}
    rng = np.random.default_rng(1)
    c, favourable = rng.uniform(0.2, 3.0, 12), rng.uniform(size=12) < 0.5

    def definition(c):
        high, _ = optimistic(c, **options, epsilon=0.5)
        low, _ = pessimistic(c, **options, epsilon=0.3)
        return np.log(np.exp(high[~favourable]).sum()) - np.log(np.exp(low[favourable]).sum())

    table = likelihood_table(**options, epsilon_op=0.5, epsilon_pe=0.3, reach=4.0)
    call = jax.jit(lambda c: log_odds(table, c, jnp.asarray(favourable)))
    value, slope = call(jnp.asarray(c, jnp.float32))
    other = rng.uniform(0.2, 3.0, 12)
    # Constants are left out of the table, differences are not touched by that.
    change = call(jnp.asarray(other, jnp.float32))[0] - value
    np.testing.assert_allclose(change, definition(other) - definition(c), atol=1e-4)
    h = 1e-4 * np.eye(12)
    expected = [(definition(c + step) - definition(c - step)) / 2e-4 for step in h]
    np.testing.assert_allclose(slope, expected, atol=1e-3)


@pytest.mark.parametrize("favourable", [True, False])
def test_a_side_without_samples_has_no_say(favourable):
    options = {"dimension": 4, "sigma": 1.0, "epsilon_op": 0.2, "epsilon_pe": 0.2}
    table = likelihood_table(**options, reach=4.0)
    value, slope = log_odds(table, jnp.array([0.5, 1.0]), jnp.full(2, favourable))
    assert np.isfinite(value)
    # Nearer to favourable samples, farther from the others.
    assert (np.asarray(slope) > 0).all() if favourable else (np.asarray(slope) < 0).all()
