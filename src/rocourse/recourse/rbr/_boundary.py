"""The point where a row's nearest neighbours of the target class begin: RBR's first step.

From a row towards training rows that the model gives the target class, in equal steps; of all
segments, the first step that the model gives the target class with the least L1 distance from the
row. With 1000 neighbours and 100 steps that is 10⁵ predictions a row. Far fewer find nearly the
same point, since margins along a segment are close to straight:

1. Of each neighbour the margin is known. A straight line from the row's margin to it predicts
   where the segment crosses the boundary; the `shortlist` of least predicted distance goes on.
2. The shortlist is judged at every `stride`-th step, and its crossings are predicted anew, between
   the first step that has crossed and the one before.
3. The `finalists` are judged at every step between those two.

Where limits keep a row from becoming its neighbour, the segment ends at what the row can become,
whose margin has to be judged first.

All functions are about one row; those that need the model come in pairs, one that says where to
look and one that reads the margins, so that any model can be asked in between.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.schema import Layout
from rocourse.schema.constraints import Limits, expand, harden

Judge = Callable[[Array], Array]
"""From points `[n, width]` to their margins `[n]`: above zero, the model gives the target class."""


class WalkPlan(NamedTuple):
    """How many steps are taken, and how many segments are looked at how closely."""

    steps: int = 100
    stride: int = 25
    shortlist: int = 128
    finalists: int = 16


class Segments(NamedTuple):
    """Ways from one row to its neighbours."""

    start: Array
    """The row, `[width]`."""
    ends: Array
    """What it can become on the way to each neighbour, `[m, width]`."""
    lengths: Array
    """L1 distances from start to end, `[m]`; infinite where there is no neighbour."""


class Boundary(NamedTuple):
    """Where one row crosses into the target class."""

    point: Array
    """The first point of the target class, `[width]`; if there is none, where the walk ended."""
    end: Array
    """The end of the segment it lies on, `[width]`."""


def segments(
    x: Array, continuous: Array, categories: Array, present: Array, limits: Limits, layout: Layout
) -> Segments:
    """The segments from `x` towards neighbours, bent to what the limits allow.

    Args:
        x: The encoded row, `[width]`.
        continuous: The neighbours' values, `[m, C]`.
        categories: The neighbours' categories, `[m, K]`.
        present: Which of the neighbours there are, `[m]`.
        limits: What the row may become.
        layout: Shape of the encoded vector.
    """
    ends = jnp.clip(continuous, limits.low, limits.high)
    if layout.group_sizes:
        first = np.cumsum((0, *layout.group_sizes[:-1]))
        allowed = limits.allowed[categories + first]
        own = harden(x[layout.n_continuous :], layout).astype(categories.dtype)
        categories = jnp.where(allowed, categories, own)
    ends = jax.vmap(lambda values, codes: expand(values, codes, layout))(ends, categories)
    lengths = jnp.sum(jnp.abs(ends - x), axis=-1)
    return Segments(x, ends, jnp.where(present, lengths, jnp.inf))


def points_at(start: Array, ends: Array, shares: Array) -> Array:
    """The points at `shares [k, s]` of the way from `start` to each of `ends [k, width]`."""
    # Written so that a share of one gives the end itself, to the last digit.
    weights = shares[..., None]
    return (1.0 - weights) * start + weights * ends[:, None, :]


def shortlist(
    ways: Segments, here: Array, margins: Array, plan: WalkPlan
) -> tuple[Segments, Array]:
    """The segments that seem to cross first, and the shares of the way to judge them at.

    Args:
        ways: All segments.
        here: The margin of the row itself.
        margins: Those at the ends, `[m]`.
        plan: How many to keep.

    Returns:
        The kept segments, `k` of them, and shares `[k, s]`.
    """
    crossed = margins > 0.0
    share = jnp.where(crossed, _crossing(here, margins), 1.0)
    # Ends short of the target class come last, the nearest to it first.
    score = jnp.where(crossed, share * ways.lengths, _BEHIND - margins)
    score = jnp.where(jnp.isfinite(ways.lengths), score, jnp.inf)
    count = min(plan.shortlist, len(score))
    _, kept = jax.lax.top_k(-score, count)
    shares = np.append(np.arange(plan.stride, plan.steps, plan.stride), plan.steps) / plan.steps
    return (
        Segments(ways.start, ways.ends[kept], ways.lengths[kept]),
        jnp.broadcast_to(jnp.asarray(shares, jnp.float32), (count, len(shares))),
    )


def finalists(
    ways: Segments, here: Array, shares: Array, margins: Array, plan: WalkPlan
) -> tuple[Segments, Array]:
    """The segments to judge step by step, and the shares of the way between two strides.

    Args:
        ways: The kept segments.
        here: The margin of the row itself.
        shares: Where they were judged, `[k, s]`.
        margins: The margins there, `[k, s]`.
        plan: How many to keep.
    """
    crossed = margins > 0.0
    some = jnp.any(crossed, axis=-1)
    after = jnp.where(some, jnp.argmax(crossed, axis=-1), shares.shape[-1] - 1)[:, None]
    padded_margins = jnp.concatenate([jnp.full((len(margins), 1), here), margins], axis=-1)
    padded_shares = jnp.concatenate([jnp.zeros((len(shares), 1)), shares], axis=-1)

    def pick(values: Array, where: Array) -> Array:
        return jnp.take_along_axis(values, where, axis=-1)[:, 0]

    low, high = pick(padded_shares, after), pick(shares, after)
    before, behind = pick(padded_margins, after), pick(margins, after)
    share = low + _crossing(before, behind) * (high - low)
    score = jnp.where(some, share * ways.lengths, _BEHIND - behind)
    score = jnp.where(jnp.isfinite(ways.lengths), score, jnp.inf)
    count = min(plan.finalists, len(score))
    _, kept = jax.lax.top_k(-score, count)
    first = jnp.round(low[kept] * plan.steps)[:, None]
    steps = jnp.minimum(first + np.arange(1, plan.stride + 1), plan.steps)
    return Segments(ways.start, ways.ends[kept], ways.lengths[kept]), steps / plan.steps


def conclude(ways: Segments, shares: Array, margins: Array) -> Boundary:
    """The crossing with the least L1 distance; without one, the end nearest to the target class."""
    crossed = margins > 0.0
    first = jnp.argmax(crossed, axis=-1)[:, None]
    share = jnp.take_along_axis(shares, first, axis=-1)[:, 0]
    some = jnp.any(crossed, axis=-1)
    distance = jnp.where(some, share * ways.lengths, _BEHIND - margins[:, -1])
    distance = jnp.where(jnp.isfinite(ways.lengths), distance, jnp.inf)
    best = jnp.argmin(distance)
    share = jnp.where(some[best], share[best], 1.0)
    end = jnp.where(jnp.isfinite(ways.lengths[best]), ways.ends[best], ways.start)
    return Boundary((1.0 - share) * ways.start + share * end, end)


def walk(judge: Judge, ways: Segments, here: Array, margins: Array, plan: WalkPlan) -> Boundary:
    """All of the walk with a model that can be called inside compiled code."""
    width = ways.start.shape[0]

    def look(kept: Segments, shares: Array) -> Array:
        points = points_at(kept.start, kept.ends, shares)
        return judge(points.reshape(-1, width)).reshape(shares.shape)

    ways, shares = shortlist(ways, here, margins, plan)
    seen = look(ways, shares)
    ways, shares = finalists(ways, here, shares, seen, plan)
    return conclude(ways, shares, look(ways, shares))


# A score greater than any distance between encoded rows.
_BEHIND = 1e6


def _crossing(before: Array, after: Array) -> Array:
    """Where the straight line between two margins is zero, as a share of the way."""
    rise = after - before
    return jnp.clip(-before / jnp.where(rise > 0.0, rise, jnp.inf), 0.0, 1.0)
