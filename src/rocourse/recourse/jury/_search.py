"""As few and as small changes as a jury is sure of: edits one by one, then back where it can be."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import bound, own_device
from rocourse.models.jurors import leaves_left
from rocourse.recourse.jury._pruning import take_back
from rocourse.recourse.jury._standing import Jury, quick_logits, quick_standing, tree_standing
from rocourse.recourse.jury._task import (
    Grid,
    Lanes,
    Task,
    possible_without,
    rows_leaves,
    task_of,
)
from rocourse.recourse.search import (
    EDIT_PRICE,
    Edits,
    Size,
    Space,
    all_feature_layers,
    allowed_edits,
    ask_about_edits,
    edit_costs,
    edited,
    owned_columns,
    propose_in_lanes,
    prune,
    through_lanes,
)
from rocourse.schema import NEGLIGIBLE_CHANGE, Rows
from rocourse.schema.constraints import expand, harden

# The least that an edit has to gain, and to gain for its price, in standard deviations.
_LEAST_GAIN = 1e-5
_LEAST_RATE = 0.01
# Edits that trees are asked about, the best ones by what all others say.
_SHORT_LIST = 6


class _Known(NamedTuple):
    """What does not change of a row that is searched for."""

    lanes: Lanes
    allowed: Array
    """Which edits keep to its limits, bool `[n, edits]`."""
    cost: Array
    """How far each takes its feature from the row, `[n, edits]`."""


class _Found(NamedTuple):
    """How far the search for a row has come."""

    x: Array
    """`[n, width]`."""
    made: Array
    """How many edits were made, `[n]`."""


def jury_recourses(
    jury: Jury,
    edits: Edits,
    grid: Grid,
    level: np.ndarray,
    rows: Rows,
    target: np.ndarray,
    space: Space,
    *,
    max_changes: int,
) -> Rows:
    """Changes each row until the jury is sure of its target class.

    Args:
        jury: Whom to convince.
        edits: What may be done.
        grid: Where numbers may stop on their way back.
        level: The standard deviations by which all have to lead, of each row one.
        rows: The rows to change.
        target: The class index wanted for each.
        space: What the rows may become.
        max_changes: The most edits of a row.
    """
    parts = (jury, edits, grid, space.constraints)

    def run(size: Size) -> partial[tuple[Array, Array]]:
        return bound(  # type: ignore[return-value]
            _search, parts, size.lanes, max_changes, device=own_device(), prepare=task_of
        )

    return propose_in_lanes(run, rows, target.astype(np.int32), level.astype(np.float32))


def _search(
    task: Task,
    lanes: int,
    max_changes: int,
    count: Array,
    continuous: Array,
    categories: Array,
    target: Array,
    level: Array,
) -> tuple[Array, Array]:
    task = Task(*task)
    layout = task.layout
    row = expand(continuous.T, categories.T, layout)
    limits = task.constraints.limits(row)
    known = _Known(
        Lanes(row.T, target, level),
        allowed_edits(task.edits, limits, layout).T,
        edit_costs(task.edits, row, layout).T,
    )

    def step(known: _Known, found: _Found) -> tuple[_Found, Array]:
        x, going = _best_edit(found.x, known, task)
        made = found.made + 1
        return _Found(x, made), ~going | (made >= max_changes)

    start = _Found(row.T, jnp.zeros(len(target), jnp.int32))
    found = through_lanes(step, known, start, count, lanes)
    retreat = partial(take_back, task)
    # The dearest change first.
    x = prune(retreat, found.x, known.lanes, count, lanes, layout, rank=lambda costs: costs)
    cut = layout.n_continuous
    return x[:, :cut], harden(x[:, cut:].T, layout).T


def _best_edit(x: Array, known: _Known, task: Task) -> tuple[Array, Array]:
    """Makes the edit that gains most for its price, where the jury is not yet sure.

    Returns:
        The rows, and which of them have to go on.
    """
    jury, edits = task.jury, task.edits
    row, target, level = known.lanes
    owned = owned_columns(task.layout)
    columns = x.T
    parts = all_feature_layers(jury.first, columns, task.layout)
    first = jnp.sum(parts, axis=0) + jnp.asarray(jury.first_bias)[:, None]
    possible = rows_leaves(task, x)
    trees = tree_standing(jury.trees, leaves_left(possible), target)
    here = quick_standing(jury, quick_logits(jury, first), target)
    unsure = jnp.any(here < level, axis=0) | (trees < level)

    ask = partial(quick_logits, jury)
    told = ask_about_edits(ask, first, parts, jnp.asarray(task.added), jnp.asarray(edits.feature))
    standings = quick_standing(jury, jnp.moveaxis(told, 0, 2), target)
    gains = _sureness(standings, level) - _sureness(here, level)
    prices = (owned @ jnp.abs(columns - row.T))[edits.feature]
    price = jnp.maximum(known.cost.T - prices, 0.0) + EDIT_PRICE
    moved = jnp.abs(jnp.asarray(edits.value)[:, None] - columns[edits.column])
    usable = known.allowed.T & (moved >= NEGLIGIBLE_CHANGE)
    rates = jnp.where(usable, gains / price, -jnp.inf)

    best_rates, places = jax.lax.top_k(rates.T, min(_SHORT_LIST, rates.shape[0]))
    without = possible_without(task, possible, jnp.asarray(edits.feature)[places])
    said = tree_standing(jury.trees, without & jnp.asarray(task.edit_leaves)[places], target)
    tree_gain = jnp.minimum(said, level[:, None]) - jnp.minimum(trees, level)[:, None]
    listed = jnp.take_along_axis(gains.T, places, axis=1) + tree_gain / 6.0
    useful = jnp.isfinite(best_rates) & (listed > _LEAST_GAIN)
    finals = listed / jnp.take_along_axis(price.T, places, axis=1)
    finals = jnp.where(useful, finals, -jnp.inf)

    best = jnp.argmax(finals, axis=1)[:, None]
    chosen = jnp.take_along_axis(places, best, axis=1)[:, 0]
    moves = unsure & (jnp.max(finals, axis=1) > _LEAST_RATE)
    x = jnp.where(moves[:, None], edited(columns, chosen, edits, owned).T, x)
    # What the jury says of the row as it is now is known already.
    now = jnp.take_along_axis(standings, chosen[None, None], axis=1)[:, 0]
    sure = jnp.all(now >= level, axis=0) & (jnp.take_along_axis(said, best, axis=1)[:, 0] >= level)
    return x, moves & ~sure


def _sureness(standings: Array, level: Array) -> Array:
    """How near to sure all but the trees are.

    The model counts as much as the three families of jurors together.
    """
    model, *families = jnp.minimum(standings, level)
    sureness: Array = 0.5 * model + sum(families) / 6.0
    return sureness
