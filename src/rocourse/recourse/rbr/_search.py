"""RBR's search for a block of rows: in one compiled piece, or around a model on the host."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import BatchModel
from rocourse.networks import probabilities
from rocourse.recourse.rbr._boundary import (
    Boundary,
    Segments,
    WalkPlan,
    conclude,
    finalists,
    points_at,
    segments,
    shortlist,
    walk,
)
from rocourse.recourse.rbr._descent import Samples, descend
from rocourse.recourse.rbr._likelihoods import LikelihoodTable
from rocourse.recourse.rbr._reference import margins_of
from rocourse.recourse.search import Network, Space, fill_lanes, hard
from rocourse.schema.constraints import ConstraintLayer, expand


class RbrSettings(NamedTuple):
    """How RBR searches; what the options of `RBRProposer` say, and what they leave open."""

    neighbours: int
    samples: int
    radius: float
    delta_plus: float
    sigma: float
    epsilon_op: float
    epsilon_pe: float
    steps: int
    repair: bool
    walk: WalkPlan = WalkPlan()
    step_size: float = 1000.0**-0.5
    """Of the first step, in units of the gradient."""
    patience: int = 10
    """Steps without a gain before the search ends."""
    repair_steps: int = 20


class Surroundings(NamedTuple):
    """What the searches for all rows share."""

    continuous: Array
    """Values of the training rows, `[n, C]`."""
    categories: Array
    """Their categories, `[n, K]`."""
    offsets: Array
    """From a boundary point to the samples around it, `[n_samples, width]`."""
    table: LikelihoodTable


class Block(NamedTuple):
    """Some rows, and the training rows near them."""

    continuous: Any
    """Values, `[n, C]`."""
    categories: Any
    """Categories, `[n, K]`."""
    target: Any
    """The class wanted for each, `[n]`."""
    neighbours: Any
    """Indices of training rows, `[n, m]`."""
    margins: Any
    """The margins of these rows, `[n, m]`; minus infinity where there is none."""


def ways_to(row: Block, around: Surroundings, constraints: ConstraintLayer) -> Segments:
    """The segments from one row to its neighbours."""
    x = expand(row.continuous, row.categories, constraints.layout)
    return segments(
        x,
        around.continuous[row.neighbours],
        around.categories[row.neighbours],
        row.margins > -jnp.inf,
        constraints.limits(x),
        constraints.layout,
    )


def minimise(
    x: Array,
    boundary: Boundary,
    favourable: Array,
    around: Surroundings,
    space: Space,
    settings: RbrSettings,
) -> Array:
    """The minimiser for one row, then what the repair may try, settled, `[n, width]`."""
    layout = space.layout
    limits = space.constraints.limits(x)
    found = descend(
        x,
        Samples(boundary.point, around.offsets, favourable),
        jnp.sum(jnp.abs(boundary.point - x)) + settings.delta_plus,
        limits,
        layout,
        around.table,
        max_steps=settings.steps,
        step_size=settings.step_size,
        patience=settings.patience,
    )
    shares = np.arange(settings.repair_steps + 1, dtype=np.float32) / settings.repair_steps
    shares = shares if settings.repair else shares[:1]
    points = points_at(found, boundary.end[None], jnp.asarray(shares)[None])[0]
    return jax.vmap(lambda point: space.settle(point, x, limits))(points)


def first_valid(points: Array, margins: Array) -> Array:
    """The first point of the target class; without one, the nearest to it."""
    valid = margins > 0.0
    return points[jnp.where(jnp.any(valid), jnp.argmax(valid), jnp.argmax(margins))]


def margin(network: Network, x: Array, target: Array) -> Array:
    """How far the target class leads in one row: above zero where the network gives it.

    Zero if the probabilities, which decide in the end, are as high for another class.
    """
    logits = network(x)
    shares = probabilities(logits)
    if logits.shape[-1] == 1:
        logits = jnp.concatenate([-logits, logits]) / 2.0
    is_target = jnp.arange(len(logits)) == target
    lead = logits[target] - jnp.max(jnp.where(is_target, -jnp.inf, logits))
    return jnp.where(jnp.argmax(shares) == target, lead, jnp.minimum(lead, 0.0))


@eqx.filter_jit
def search_compiled(
    network: Network,
    block: Block,
    space: Space,
    around: Surroundings,
    settings: RbrSettings,
    free: bool,
) -> tuple[Array, Array]:
    """Recourses for a block of rows and a network, as values `[n, C]` and categories `[n, K]`.

    Args:
        network: One encoded row to logits.
        block: The rows.
        space: What they may become.
        around: What all rows share.
        settings: How to search.
        free: Whether every row may become any other.
    """
    layout = space.layout

    def prepare(row: Block) -> tuple[Array, Boundary, Array]:
        def look(points: Array) -> Array:
            return jax.vmap(lambda point: margin(network, point, row.target))(points)

        ways = ways_to(row, around, space.constraints)
        ends = row.margins if free else look(ways.ends)
        boundary = walk(look, ways, look(ways.start[None])[0], ends, settings.walk)
        return ways.start, boundary, look(boundary.point + around.offsets) > 0.0

    def search(
        x: Array, target: Array, boundary: Boundary, favourable: Array
    ) -> tuple[Array, Array]:
        points = minimise(x, boundary, favourable, around, space, settings)
        margins = jax.vmap(lambda point: margin(network, point, target))(points)
        return hard(first_valid(points, margins), layout)

    # One row at a time: its points fill the processor, and those of more would leave the cache.
    x, boundary, favourable = jax.lax.map(prepare, block)
    return _in_lanes(search, x, block.target, boundary, favourable)  # type: ignore[no-any-return]


def _in_lanes(one: Callable[..., Any], *columns: Any) -> Any:
    """Maps a function of one row over a block, always as many rows at a time."""
    n = len(columns[0])
    results = jax.vmap(one)(*fill_lanes(columns))
    return jax.tree.map(lambda result: result[:n], results)


def search_on_host(
    model: BatchModel,
    block: Block,
    space: Space,
    around: Surroundings,
    settings: RbrSettings,
    free: bool,
) -> tuple[Array, Array]:
    """As `search_compiled`, with a model that is called between compiled pieces."""

    def look(points: Array) -> Array:
        n, m = points.shape[:2]
        flat = np.asarray(points).reshape(n * m, -1)
        shares = model.probabilities(flat).reshape(n, m, -1)
        return jnp.asarray(margins_of(shares, block.target[:, None]))

    ways = _open(block, around, space.constraints)
    ends = block.margins if free else look(ways.ends)
    here = look(ways.start[:, None])[:, 0]
    ways, shares, points = _shortlist(ways, here, ends, settings.walk)
    ways, shares, points = _finalists(ways, here, shares, look(points), settings.walk)
    boundary, points = _conclude(ways, shares, look(points), around.offsets)
    favourable = look(points) > 0.0
    points = _minimise(ways.start, boundary, favourable, around, space, settings)
    return _choose(points, look(points), space.constraints)


@eqx.filter_jit
def _open(block: Block, around: Surroundings, constraints: ConstraintLayer) -> Segments:
    rows = jax.tree.map(jnp.asarray, block)
    return jax.vmap(partial(ways_to, around=around, constraints=constraints))(rows)


@eqx.filter_jit
def _shortlist(
    ways: Segments, here: Array, ends: Array, plan: WalkPlan
) -> tuple[Segments, Array, Array]:
    return _seen(*jax.vmap(partial(shortlist, plan=plan))(ways, here, ends))


@eqx.filter_jit
def _finalists(
    ways: Segments, here: Array, shares: Array, margins: Array, plan: WalkPlan
) -> tuple[Segments, Array, Array]:
    margins = margins.reshape(shares.shape)
    return _seen(*jax.vmap(partial(finalists, plan=plan))(ways, here, shares, margins))


def _seen(ways: Segments, shares: Array) -> tuple[Segments, Array, Array]:
    points = jax.vmap(points_at)(ways.start, ways.ends, shares)
    return ways, shares, points.reshape(len(shares), -1, points.shape[-1])


@eqx.filter_jit
def _conclude(
    ways: Segments, shares: Array, margins: Array, offsets: Array
) -> tuple[Boundary, Array]:
    boundary = jax.vmap(conclude)(ways, shares, margins.reshape(shares.shape))
    return boundary, boundary.point[:, None] + offsets


@eqx.filter_jit
def _minimise(
    x: Array,
    boundary: Boundary,
    favourable: Array,
    around: Surroundings,
    space: Space,
    settings: RbrSettings,
) -> Array:
    def one(x: Array, boundary: Boundary, favourable: Array) -> Array:
        return minimise(x, boundary, favourable, around, space, settings)

    return _in_lanes(one, x, boundary, favourable)  # type: ignore[no-any-return]


@eqx.filter_jit
def _choose(points: Array, margins: Array, constraints: ConstraintLayer) -> tuple[Array, Array]:
    def one(points: Array, margins: Array) -> tuple[Array, Array]:
        return hard(first_valid(points, margins), constraints.layout)

    return jax.vmap(one)(points, margins)
