"""As few and as small changes as a jury is sure of: edits one by one, then back where it can be."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import compiled
from rocourse.recourse.jury._standing import (
    Jury,
    Products,
    column_products,
    products,
    quick_standing,
    standing,
    tree_standing,
)
from rocourse.recourse.search import (
    EDIT_PRICE,
    Edits,
    Numbers,
    Query,
    Space,
    allowed_edit,
    owned_columns,
    propose_in_blocks,
)
from rocourse.schema import NEGLIGIBLE_CHANGE, Rows
from rocourse.schema.constraints import Limits, expand, harden

# The least that an edit has to gain, and to gain for its price, in standard deviations.
_LEAST_GAIN = 1e-5
_LEAST_RATE = 0.01
# Edits that trees are asked about, the best ones by what all others say.
_SHORT_LIST = 6
# How far back towards the row a number is taken when it need not have gone so far.
_RETREATS = (0.75, 0.5, 0.5, 0.25)
# Undoing one edit may make another one unnecessary.
_PRUNING_ROUNDS = 2
# Sureness that rounding takes away is not missed.
_ROUNDING = 1e-4


class Grid(NamedTuple):
    """The values of each number that are asked for, in encoded units."""

    step: Numbers
    first: Numbers


class _Task(NamedTuple):
    """A block of rows, as columns, and whom they have to convince."""

    row: Array
    target: Array
    level: Array
    limits: Limits
    jury: Jury
    edits: Edits
    grid: Grid
    space: Space


def jury_recourses(
    jury: Jury,
    edits: Edits,
    grid: Grid,
    levels: np.ndarray,
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
        levels: The standard deviations by which all have to lead, of each class one.
        rows: The rows to change.
        target: The class index wanted for each.
        space: What the rows may become.
        max_changes: The most edits of a row.
    """
    jury, edits, grid, level = jax.device_put((jury, edits, grid, levels.astype(np.float32)))
    return propose_in_blocks(
        lambda *block: _search(Query.of(*block), jury, edits, grid, level, space, max_changes),
        rows,
        target,
        side_by_side=True,
    )


@compiled
def _search(
    query: Query,
    jury: Jury,
    edits: Edits,
    grid: Grid,
    levels: Array,
    space: Space,
    max_changes: int,
) -> tuple[Array, Array]:
    layout = space.layout
    row = expand(query.continuous.T, query.categories.T, layout)
    limits = space.constraints.limits(row)
    level = levels[query.target]
    task = _Task(row, query.target, level, limits, jury, edits, grid, space)

    def unsure(carry: tuple[Array, Array, Array]) -> Array:
        step, _, searching = carry
        return (step < max_changes) & jnp.any(searching)

    def edit(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        step, x, searching = carry
        x, moved = _best_edit(x, searching, task)
        return step + 1, x, searching & moved

    everyone = jnp.ones(row.shape[1], bool)
    _, x, _ = jax.lax.while_loop(unsure, edit, (jnp.int32(0), row, everyone))
    for _ in range(_PRUNING_ROUNDS):
        x = _prune(x, task)
    cut = layout.n_continuous
    return x[:cut].T, harden(x[cut:], layout).T


def _best_edit(x: Array, searching: Array, task: _Task) -> tuple[Array, Array]:
    """Makes the edit that gains most for its price, where the jury is not yet sure."""
    jury, edits = task.jury, task.edits
    owned = owned_columns(task.space.layout)
    made = products(jury, x)
    trees = tree_standing(jury, x, task.target)
    here = jnp.concatenate([quick_standing(jury, made, task.target), trees[None]])
    searching = searching & jnp.any(here < task.level, axis=0)
    quick = _sureness(here[:3], task)
    prices = owned @ jnp.abs(x - task.row)
    # What each feature adds to the first layers: an edit takes this away and adds its own.
    parts = jax.lax.map(lambda own: products(jury, own[:, None] * x), owned)

    def consider(edit: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        feature, column, value = edit
        mine = Products(*(part[feature] for part in parts))
        added = column_products(jury, column)
        first = jax.tree.map(lambda all_, own, one: all_ - own + value * one, made, mine, added)
        gained = _sureness(quick_standing(jury, first, task.target), task) - quick
        moved = jnp.abs(value - task.row[column])
        # Another category is two columns away from the row's own.
        cost = jnp.where(feature < task.space.layout.n_continuous, moved, 2.0 * moved)
        price = jnp.maximum(cost - prices[feature], 0.0) + EDIT_PRICE
        usable = allowed_edit(edit, task.limits, task.space.layout)
        usable = usable & (jnp.abs(value - x[column]) >= NEGLIGIBLE_CHANGE)
        return jnp.where(usable, gained / price, -jnp.inf), gained, price

    rates, gains, edit_prices = jax.lax.map(consider, (edits.feature, edits.column, edits.value))
    count = min(_SHORT_LIST, rates.shape[0])
    best_rates, places = jax.lax.top_k(rates.T, count)

    def ask_trees(listed: tuple[Array, Array]) -> tuple[Array, Array]:
        place, rate = listed
        edited = _edited(x, place, task, owned)
        said = tree_standing(jury, edited, task.target)
        quick_gain, price = (
            jnp.take_along_axis(told, place[None], axis=0)[0] for told in (gains, edit_prices)
        )
        tree_gain = jnp.minimum(said, task.level) - jnp.minimum(trees, task.level)
        gain = quick_gain + tree_gain / 6.0
        useful = jnp.isfinite(rate) & (gain > _LEAST_GAIN)
        return jnp.where(useful, gain / price, -jnp.inf), edited

    finals, edited = jax.lax.map(ask_trees, (places.T, best_rates.T))
    best = jnp.argmax(finals, axis=0)
    moves = searching & (jnp.max(finals, axis=0) > _LEAST_RATE)
    chosen = jnp.take_along_axis(edited, best[None, None], axis=0)[0]
    return jnp.where(moves, chosen, x), moves


def _edited(x: Array, place: Array, task: _Task, owned: Array) -> Array:
    """Each row with an edit of its own, `[width, n]`."""
    edits = task.edits
    own = owned[edits.feature[place]].T > 0
    here = jnp.arange(x.shape[0])[:, None] == edits.column[place]
    return jnp.where(here, edits.value[place], jnp.where(own, 0.0, x))


def _prune(x: Array, task: _Task) -> Array:
    """Takes back each row's changes, the dearest first, wholly or in part, where nobody minds."""
    owned = owned_columns(task.space.layout)
    costs = owned @ jnp.abs(x - task.row)
    order = jnp.argsort(-costs, axis=0)
    most = jnp.max(jnp.sum(costs > 0.0, axis=0))

    def one(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        place, x = carry
        feature = jax.lax.dynamic_index_in_dim(order, place, axis=0, keepdims=False)
        return place + 1, _retreat(x, feature, owned[feature].T, task)

    _, x = jax.lax.while_loop(lambda carry: carry[0] < most, one, (jnp.int32(0), x))
    return x


def _retreat(x: Array, feature: Array, own: Array, task: _Task) -> Array:
    """Takes one feature of each row back."""
    jury, edits, cut = task.jury, task.edits, task.space.layout.n_continuous
    before = jnp.minimum(standing(jury, x, task.target), task.level)
    made, back = products(jury, x), products(jury, own * (task.row - x))

    def attempt(share: Array, tried: Array, best: Array) -> Array:
        """Keeps what was tried, a share of the way back, if nobody is less sure."""
        first = jax.tree.map(lambda here, way: here + share * way, made, back)
        quick = quick_standing(jury, first, task.target)
        after = jnp.concatenate([quick, tree_standing(jury, tried, task.target)[None]])
        held = jnp.all(jnp.minimum(after, task.level) >= before - _ROUNDING, axis=0)
        return jnp.where(held, tried, best)

    start = x
    x = attempt(jnp.float32(1.0), jnp.where(own > 0, task.row, x), x)
    if not cut:
        return x
    number = jnp.minimum(feature, cut - 1)
    lanes = jnp.arange(x.shape[1])
    here, far = task.row[number, lanes], start[number, lanes]
    step, first = task.grid.step[number], task.grid.first[number]
    for share in _RETREATS:
        now = x[number, lanes]
        place = (share * here + (1.0 - share) * now - first) / step
        # Away from the row, so that the grid does not undo what the jury asks for.
        away = now > here
        value = first + step * jnp.where(away, jnp.ceil(place - 1e-3), jnp.floor(place + 1e-3))
        usable = (edits.low[number] <= value) & (value <= edits.high[number])
        usable = usable & (jnp.abs(now - here) >= NEGLIGIBLE_CHANGE) & (feature < cut)
        value = jnp.where(usable, value, now)
        way = jnp.where(jnp.abs(far - here) > 0.0, (value - far) / (here - far), 0.0)
        is_number = (jnp.arange(x.shape[0])[:, None] == number) & (feature < cut)
        x = attempt(way, jnp.where(is_number, value, x), x)
    return x


def _sureness(standings: Array, task: _Task) -> Array:
    """How near to sure all but the trees are.

    The model counts as much as the three families of jurors together.
    """
    model, *families = jnp.minimum(standings, task.level)
    sureness: Array = 0.5 * model + sum(families) / 6.0
    return sureness
