"""ROAR (Upadhyay et al., 2021) on LIME surrogates: recourse against the worst change of weights."""

from functools import partial, reduce
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.attack import Norm
from rocourse.models import BatchModel, has_network
from rocourse.recourse.roar._lime import Neighbourhood, Surrogate, fit_surrogate, neighbours
from rocourse.recourse.search import (
    LANES,
    Candidate,
    Network,
    Query,
    Space,
    better,
    fill_lanes,
    group_members,
    hard,
    judge,
    judged,
    log_odds,
    log_odds_of,
    propose_in_blocks,
    traced,
)
from rocourse.schema import Layout, Rows
from rocourse.schema.constraints import Limits, expand, harden

# A step of the descent goes this much of the way, whichever is best.
_SHARES_OF_THE_WAY = np.array([1.0, 0.5, 0.25, 0.1, 0.03, 0.01], np.float32)

_EAGERNESS = 100.0

# A row that comes alone need not wait for the surrogates of others.
_BLOCK_SIZES = (1, LANES)


class RoarSettings(NamedTuple):
    """How ROAR searches; what the options of `ROARProposer` say."""

    proximity_weights: tuple[float, ...]
    delta_max: float
    norm: Norm
    steps: int
    tolerance: float
    spread: float
    alpha: float


def roar_recourses(
    model: BatchModel,
    rows: Rows,
    target: np.ndarray,
    space: Space,
    neighbourhood: Neighbourhood,
    settings: RoarSettings,
) -> Rows:
    """Searches a recourse for each row.

    Args:
        model: The classifier; with its network at hand the whole search is compiled.
        rows: The rows to change.
        target: The class index wanted for each.
        space: What the rows may become.
        neighbourhood: The draws behind the surrogates (`draw_neighbourhood`).
        settings: How to search.
    """
    numbers = traced(settings)
    if has_network(model):
        network = model.predictor
        return propose_in_blocks(
            lambda *block: _search_compiled(
                network, Query.of(*block), space, neighbourhood, numbers
            ),
            rows,
            target,
            sizes=_BLOCK_SIZES,
            side_by_side=True,
        )
    return propose_in_blocks(
        lambda *block: _search_on_host(model, Query.of(*block), space, neighbourhood, numbers),
        rows,
        target,
        sizes=_BLOCK_SIZES,
    )


def worst_change(x: Array, *, delta_max: Array | float, norm: Norm) -> Array:
    """The change δ of [weights, intercept] that lowers the surrogate most at `x`, `[width + 1]`."""
    extended = jnp.append(x, 1.0)
    if norm == "linf":
        # At zero any δ is as bad as another; counting zero as positive makes δ the same for all
        # encoded rows, none of which is negative.
        return jnp.where(extended < 0.0, delta_max, -delta_max)
    length = jnp.sqrt(jnp.sum(jnp.square(extended)))
    return -delta_max * extended / length


def worst_log_odds(
    surrogate: Surrogate, x: Array, *, delta_max: Array | float, norm: Norm
) -> tuple[Array, Array]:
    """The target's log-odds under the worst change of weights, and their gradient `[width]`.

    The gradient holds δ fixed, which is exact: at the worst δ the value is stationary in δ, or δ
    does not depend on x.
    """
    change = worst_change(x, delta_max=delta_max, norm=norm)
    weights = surrogate.weights + change[:-1]
    return weights @ x + surrogate.intercept + change[-1], weights


class _Descent(NamedTuple):
    x: Array
    loss: Array
    gain: Array
    steps: Array


def robust_loss(
    point: Array, x: Array, surrogate: Surrogate, price: Array, settings: RoarSettings
) -> Array:
    """What ROAR minimises over `point`: cross-entropy under the worst δ, plus λ‖point − x‖₁."""
    odds, _ = worst_log_odds(surrogate, point, delta_max=settings.delta_max, norm=settings.norm)
    return jax.nn.softplus(-odds) + price * jnp.sum(jnp.abs(point - x))


def descend(
    x: Array,
    surrogate: Surrogate,
    limits: Limits,
    layout: Layout,
    price: Array,
    settings: RoarSettings,
) -> Array:
    """Minimises `robust_loss` within the limits of one row.

    Each step minimises the loss for the δ that is worst where the search stands, exactly, and goes
    there, or part of the way if that lowers the loss more. The loss being convex, this converges;
    under the ℓ∞ bound, whose δ is the same for all rows in [0, 1], in a single step. A plain
    gradient descent ends at its tolerance with small shares of many categories instead, which
    hardening then undoes.

    Returns:
        The minimiser, `[width]`; categories are soft.
    """
    loss = partial(robust_loss, x=x, surrogate=surrogate, price=price, settings=settings)

    def step(state: _Descent) -> _Descent:
        change = worst_change(state.x, delta_max=settings.delta_max, norm=settings.norm)
        fixed = Surrogate(surrogate.weights + change[:-1], surrogate.intercept + change[-1])
        best = cheapest_change(x, fixed, limits, layout, price)
        points = state.x + _SHARES_OF_THE_WAY[:, None] * (best - state.x)
        losses = jax.vmap(loss)(points)
        lowest = jnp.argmin(losses)
        gain = state.loss - losses[lowest]
        point = jnp.where(gain > 0.0, points[lowest], state.x)
        return _Descent(point, jnp.minimum(losses[lowest], state.loss), gain, state.steps + 1)

    def goes_on(state: _Descent) -> Array:
        return (state.gain > settings.tolerance) & (state.steps < settings.steps)

    start = _Descent(x, loss(x), jnp.asarray(jnp.inf, x.dtype), jnp.array(0))
    return jax.lax.while_loop(goes_on, step, start).x


def cheapest_change(
    x: Array, surrogate: Surrogate, limits: Limits, layout: Layout, price: Array
) -> Array:
    """Minimises log(1 + exp(−β·x' − b)) + λ‖x' − x‖₁ over x' within the limits of one row.

    Log-odds are bought where a unit of distance brings most of them, each feature as far as its
    limit allows, until they cost more than they are worth: at the last feature bought, of yield r,
    the loss falls by σ(−log-odds)·r = λ per unit.

    Args:
        x: The row, `[width]`, one category a group.
        surrogate: β and b.
        limits: Of the row.
        layout: Of the encoded rows.
        price: λ, above zero.
    """
    cut = layout.n_continuous
    weights, here = surrogate.weights[:cut], x[:cut]
    room = jnp.where(weights > 0.0, limits.high - here, here - limits.low)
    yields, caps = jnp.abs(weights), room
    if layout.group_sizes:
        # Of each group only the best category is worth a share; a whole change costs 2.
        scores = jnp.where(limits.allowed, surrogate.weights[cut:], -jnp.inf)
        chosen = harden(scores, layout)
        goal = expand(here, chosen, layout)[cut:]
        member = group_members(layout)
        gains = ((goal - x[cut:]) * surrogate.weights[cut:]) @ member
        yields = jnp.concatenate([yields, 0.5 * gains])
        caps = jnp.concatenate([caps, jnp.full(len(layout.group_sizes), 2.0, x.dtype)])
    place = np.arange(len(yields))
    earlier = (yields[:, None] > yields) | ((yields[:, None] == yields) & (place[:, None] < place))
    odds = surrogate.weights @ x + surrogate.intercept
    odds_before = odds + (yields * caps) @ earlier.astype(x.dtype)
    worthwhile = yields > price
    enough = jnp.log(jnp.where(worthwhile, yields / price - 1.0, 1.0))
    amount = (enough - odds_before) / jnp.where(worthwhile, yields, 1.0)
    amount = jnp.where(worthwhile, jnp.clip(amount, 0.0, caps), 0.0)
    values = here + jnp.sign(weights) * amount[:cut]
    if not layout.group_sizes:
        return values
    shares = 0.5 * amount[cut:] @ member.T
    return jnp.concatenate([values, x[cut:] + shares * (goal - x[cut:])])


def attempts(x: Array, surrogate: Surrogate, space: Space, settings: RoarSettings) -> Array:
    """What the minimiser at each price stands for, as a user would get it, `[n_prices, width]`.

    A category with a share below one half is still taken if that has the lower loss: where one
    change is enough by far, the minimiser is content with a small share of it.
    """
    limits = space.constraints.limits(x)
    cut = space.layout.n_continuous

    def at(price: Array) -> Array:
        found = descend(x, surrogate, limits, space.layout, price, settings)
        # Moved on a hundred times as far, any share above 1/200 outweighs the present category.
        eager = found.at[cut:].add(_EAGERNESS * (found - x)[cut:])
        rounded = jnp.stack([space.settle(found, x, limits), space.settle(eager, x, limits)])
        losses = jax.vmap(lambda point: robust_loss(point, x, surrogate, price, settings))(rounded)
        return rounded[jnp.argmin(losses)]

    return jax.vmap(at)(jnp.asarray(settings.proximity_weights))


def choose(x: Array, tried: Array, odds: Array, valid: Array) -> Array:
    """The best of the attempts `[n_prices, width]` for one row, given the model's judgement."""
    cost = jnp.sum(jnp.abs(tried - x), axis=1)
    candidates = [Candidate(tried[i], cost[i], odds[i], valid[i]) for i in range(len(tried))]
    return reduce(better, candidates).x


@eqx.filter_jit
def _search_compiled(
    network: Network,
    query: Query,
    space: Space,
    neighbourhood: Neighbourhood,
    settings: RoarSettings,
) -> tuple[Array, Array]:
    layout = space.layout

    def explain(row: tuple[Array, Array]) -> Surrogate:
        x, wanted = row
        near = neighbours(x, neighbourhood, layout, spread=settings.spread)
        odds = jax.vmap(lambda point: log_odds(network(point), wanted))(near)
        return fit_surrogate(x, near, odds, alpha=settings.alpha)

    def search(x: Array, wanted: Array, surrogate: Surrogate) -> tuple[Array, Array]:
        tried = attempts(x, surrogate, space, settings)
        odds, valid = jax.vmap(lambda point: judge(network, point, wanted))(tried)
        return hard(choose(x, tried, odds, valid), layout)

    x = jax.vmap(partial(expand, layout=layout))(query.continuous, query.categories)
    # One row at a time: its thousand neighbours fill the processor, and more would leave the cache.
    surrogates = jax.lax.map(explain, (x, query.target))
    found = jax.vmap(search)(*fill_lanes((x, query.target, surrogates)))
    return jax.tree.map(lambda part: part[: len(x)], found)  # type: ignore[no-any-return]


def _search_on_host(
    model: BatchModel,
    query: Query,
    space: Space,
    neighbourhood: Neighbourhood,
    settings: RoarSettings,
) -> tuple[Array, Array]:
    x, near = _neighbours_all(query, space, neighbourhood, settings)
    near_shares = _probabilities(model, near)
    tried = _attempts_all(x, near, near_shares, query.target, space, settings)
    return _choose_all(x, tried, _probabilities(model, tried), query.target, space)


def _probabilities(model: BatchModel, points: Array) -> Array:
    """Class probabilities of several points a row: `[n, m, width]` to `[n, m, n_classes]`."""
    n, m, width = points.shape
    shares = model.probabilities(np.asarray(points).reshape(n * m, width))
    return jnp.asarray(shares).reshape(n, m, -1)


@eqx.filter_jit
def _neighbours_all(
    query: Query,
    space: Space,
    neighbourhood: Neighbourhood,
    settings: RoarSettings,
) -> tuple[Array, Array]:
    def one(values: Array, codes: Array) -> tuple[Array, Array]:
        x = expand(values, codes, space.layout)
        return x, neighbours(x, neighbourhood, space.layout, spread=settings.spread)

    return jax.vmap(one)(query.continuous, query.categories)


@eqx.filter_jit
def _attempts_all(
    x: Array,
    near: Array,
    shares: Array,
    target: Array,
    space: Space,
    settings: RoarSettings,
) -> Array:
    def one(x: Array, near: Array, shares: Array, wanted: Array) -> Array:
        odds = log_odds_of(shares[:, wanted])
        surrogate = fit_surrogate(x, near, odds, alpha=settings.alpha)
        return attempts(x, surrogate, space, settings)

    return jax.vmap(one)(x, near, shares, target)


@eqx.filter_jit
def _choose_all(
    x: Array, tried: Array, shares: Array, target: Array, space: Space
) -> tuple[Array, Array]:
    def one(x: Array, tried: Array, shares: Array, wanted: Array) -> tuple[Array, Array]:
        odds, valid = jax.vmap(lambda row: judged(row, wanted))(shares)
        return hard(choose(x, tried, odds, valid), space.layout)

    return jax.vmap(one)(x, tried, shares, target)
