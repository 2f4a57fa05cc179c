"""The least worst-case log-odds within a budget of change: RBR's second step."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from rocourse.recourse.rbr._likelihoods import LikelihoodTable, log_odds
from rocourse.recourse.search._feasible import group_members, project
from rocourse.schema import Layout
from rocourse.schema.constraints import Limits

# Gains below what float32 resolves are none.
_LEAST_GAIN = 1e-6
# An L1 distance over the budget that is left to rounding.
_NEGLIGIBLE = 1e-5
_MOST_PRICES = 20
# Keeps the slope of a distance finite at a sample itself.
_LEAST_SQUARE = 1e-12


class Samples(NamedTuple):
    """Labelled points around the boundary point of one row."""

    centre: Array
    """The boundary point, `[width]`."""
    offsets: Array
    """From the centre to each sample, `[n_samples, width]`; the same for all rows.

    Distances from any point to all samples are then one product with a matrix that rows share.
    """
    favourable: Array
    """Which samples the model gives the target class, bool `[n_samples]`."""


class _Price(NamedTuple):
    """State of the search for the price of change."""

    point: Array
    """Of the latest price."""
    excess: Array
    """Its distance over the budget."""
    low: Array
    """The greatest price yet that is too low."""
    low_excess: Array
    low_speed: Array
    """How fast the distance falls there."""
    high: Array
    """The least price yet that is high enough."""
    steps: Array


def project_within(
    point: Array, x: Array, budget: Array | float, limits: Limits, layout: Layout
) -> Array:
    """The nearest point to `point` within the limits and within an L1 distance of `x`.

    A price τ on the distance draws the projection towards `x`: values are moved by τ, and, since
    the distance of a group on its simplex is 2(1 − the share of its current category), that
    category is raised by 2τ before the group is projected. The distance falls in τ piecewise
    linearly; Newton's method, kept between prices too low and too high, finds where it meets the
    budget in a step or two.

    Args:
        point: Any vector, `[width]`.
        x: The row to stay near, with whole categories.
        budget: The greatest L1 distance from it.
        limits: What the row may become.
        layout: Shape of the encoded vector.
    """
    cut = layout.n_continuous
    move, current = point[:cut] - x[:cut], x[cut:]
    member = group_members(layout)

    def at(price: Array) -> Array:
        values = x[:cut] + jnp.sign(move) * jnp.maximum(jnp.abs(move) - price, 0.0)
        shares = point[cut:] + 2.0 * price * current
        return project(jnp.concatenate([values, shares]), limits, layout)

    def fall(price: Array, here: Array) -> Array:
        """How fast the distance falls with the price."""
        inside = (here[:cut] > limits.low) & (here[:cut] < limits.high)
        values = jnp.sum(inside & (jnp.abs(move) > price))
        active = here[cut:] > 0.0
        share = 1.0 - 1.0 / jnp.maximum(active.astype(x.dtype) @ member, 1.0)
        return values + 4.0 * jnp.sum(share * ((current * active) @ member))

    def step(state: _Price) -> _Price:
        newton = state.low + state.low_excess / state.low_speed
        middle = 0.5 * (state.low + state.high)
        price = jnp.where(newton < state.high, newton, middle)
        here = at(price)
        excess = jnp.sum(jnp.abs(here - x)) - budget
        too_low = excess > 0.0
        return _Price(
            here,
            excess,
            low=jnp.where(too_low, price, state.low),
            low_excess=jnp.where(too_low, excess, state.low_excess),
            # Where nothing falls yet, some rise of the price gets it started.
            low_speed=jnp.where(too_low, jnp.maximum(fall(price, here), 1.0), state.low_speed),
            high=jnp.where(too_low, state.high, price),
            steps=state.steps + 1,
        )

    def goes_on(state: _Price) -> Array:
        met = jnp.abs(state.excess) <= _NEGLIGIBLE
        return (state.steps == 0) | (~met & (state.high > 0.0) & (state.steps < _MOST_PRICES))

    # The first step comes to a price of zero. Made by the loop, not before it: code that occurs
    # once is compiled once.
    zero, infinite = jnp.zeros((), x.dtype), jnp.asarray(jnp.inf, x.dtype)
    start = _Price(point, zero, zero, zero, zero + 1.0, infinite, jnp.array(0))
    near = jax.lax.while_loop(goes_on, step, start).point
    # What rounding leaves over: scaling towards `x` never leaves the limits.
    length = jnp.sum(jnp.abs(near - x))
    return x + (near - x) * jnp.minimum(1.0, budget / jnp.maximum(length, _LEAST_SQUARE))


def worst_log_odds(point: Array, samples: Samples, table: LikelihoodTable) -> tuple[Array, Array]:
    """F of one point and its gradient `[width]`, up to a constant in F.

    By the envelope theorem the adversary's optimum can be held fixed in the gradient.
    """
    away = point - samples.centre
    squares = jnp.sum(jnp.square(samples.offsets), axis=-1)
    squares = away @ away - 2.0 * (samples.offsets @ away) + squares
    distance = jnp.sqrt(jnp.maximum(squares, _LEAST_SQUARE))
    value, slope = log_odds(table, distance, samples.favourable)
    weight = slope / distance
    return value, jnp.sum(weight) * away - weight @ samples.offsets


class _Descent(NamedTuple):
    x: Array
    value: Array
    gradient: Array
    rate: Array
    failures: Array
    steps: Array


def descend(
    x: Array,
    samples: Samples,
    budget: Array,
    limits: Limits,
    layout: Layout,
    table: LikelihoodTable,
    *,
    max_steps: int,
    step_size: Array | float,
    patience: int,
) -> Array:
    """Minimises F from the boundary point, within the limits of `x` and an L1 distance from it.

    Each step goes down the gradient and is projected. A step that lowers F is taken and the next
    is twice as long; otherwise it is tried again at half the length.

    F is nearly flat at the usual σ: steps of a constant 1/√1000, as published, are often still on
    their way after 500. Fifty of these come as low.

    Args:
        x: The row to change, `[width]`.
        samples: Around its boundary point.
        budget: The greatest L1 distance from `x`.
        limits: What `x` may become.
        layout: Shape of the encoded vector.
        table: Likelihoods by distance.
        max_steps: Steps at most.
        step_size: Length of the first step, in units of the gradient.
        patience: Steps in a row that do not lower F before the search ends.

    Returns:
        The best point, `[width]`; categories are soft.
    """

    def step(state: _Descent) -> _Descent:
        moved = state.x - state.rate * state.gradient
        point = project_within(moved, x, budget, limits, layout)
        value, gradient = worst_log_odds(point, samples, table)
        lower = value < state.value - _LEAST_GAIN
        return _Descent(
            x=jnp.where(lower, point, state.x),
            value=jnp.where(lower, value, state.value),
            gradient=jnp.where(lower, gradient, state.gradient),
            rate=state.rate * jnp.where(lower, 2.0, 0.5),
            failures=jnp.where(lower, 0, state.failures + 1),
            steps=state.steps + 1,
        )

    def goes_on(state: _Descent) -> Array:
        return (state.failures < patience) & (state.steps < max_steps)

    # The first round only projects and values the boundary point. Made by the loop, not before it:
    # code that occurs once is compiled once.
    start = _Descent(
        x=samples.centre,
        value=jnp.asarray(jnp.inf, x.dtype),
        gradient=jnp.zeros_like(x),
        rate=jnp.asarray(step_size, x.dtype) / 2.0,
        failures=jnp.array(0),
        steps=jnp.array(-1),
    )
    return jax.lax.while_loop(goes_on, step, start).x
