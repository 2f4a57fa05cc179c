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
    Lanes,
    Task,
    possible_without,
    rows_leaves,
    task_of,
)
from rocourse.recourse.search import (
    EDIT_PRICE,
    Edits,
    FromHere,
    Grid,
    Size,
    Space,
    all_feature_layers,
    ask_about_edits,
    begun,
    column_rates,
    edited,
    first_layers,
    free_edits,
    lawful_edits,
    owned_columns,
    priced_edits,
    propose_in_lanes,
    prune,
    ranked,
    spent,
    starting,
    through_lanes,
)
from rocourse.schema import NEGLIGIBLE_CHANGE, Rows
from rocourse.schema.constraints import expand, harden

# The least that an edit has to gain, and to gain for its price, in standard deviations.
_LEAST_GAIN = 1e-5
_LEAST_RATE = 0.01
# Edits that trees are asked about, the best ones by what all others say.
_SHORT_LIST = 6


class Known(NamedTuple):
    """What does not change of a row that is searched for."""

    lanes: Lanes
    allowed: Array
    """Which edits keep to its limits, bool `[n, edits]`."""
    cost: Array
    """How far each takes its feature from the row, `[n, edits]`."""
    rates: Array | None = None
    """What a unit of each column costs, `[n, width]`; None: all the same."""


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
    from_here: FromHere | None = None,
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
        from_here: What is closed to each row, bool `[n, width]`, and where its search begins; None:
            nothing, and at the row.
    """
    parts = (jury, edits, grid, space.constraints)

    def run(size: Size) -> partial[tuple[Array, Array]]:
        return bound(  # type: ignore[return-value]
            _search, parts, size, max_changes, device=own_device(), prepare=task_of
        )

    more = () if from_here is None else starting(*from_here)
    wanted, levels = target.astype(np.int32), level.astype(np.float32)
    return propose_in_lanes(run, rows, wanted, levels, *more)


def _search(
    task: Task,
    size: Size,
    max_changes: int,
    count: Array,
    continuous: Array,
    categories: Array,
    target: Array,
    level: Array,
    *from_here: Array,
) -> tuple[Array, Array]:
    task = Task(*task)
    layout = task.layout
    row = expand(continuous.T, categories.T, layout)
    known = known_of(task, row, target, level, *from_here[:1])
    actions = task.constraints.actions

    def step(known: Known, found: _Found) -> tuple[_Found, Array]:
        x, going = _best_edit(found.x, known, task)
        made = found.made + 1
        return _Found(x, made), ~going | (made >= max_changes)

    begin = begun(actions, row, layout, *from_here[1:])
    start = _Found(begin.T, jnp.zeros(len(target), jnp.int32))
    x = through_lanes(step, known, start, count, size.edited).x
    if from_here:
        # Most of what is locked cannot be done without: nothing of that is worth taking back.
        first = first_layers(task.jury.first, task.jury.first_bias, x.T, layout)
        said = quick_standing(task.jury, quick_logits(task.jury, first), target)
        x = jnp.where((said[0] > 0.0)[:, None], x, row.T)
    retreat = partial(take_back, task)
    # The dearest change first.
    rank = partial(ranked, actions=actions)
    x = prune(retreat, x, known.lanes, count, size.pruned, layout, rank=rank)
    cut = layout.n_continuous
    return x[:, :cut], harden(x[:, cut:].T, layout).T


def known_of(task: Task, row: Array, target: Array, level: Array, *closed: Array) -> Known:
    """What is known of encoded rows as columns before a search, and what is closed to them."""
    limits = task.constraints.limits(row)
    rates = column_rates(task.constraints.actions, row)
    return Known(
        Lanes(row.T, target, level),
        free_edits(task.edits, limits, task.layout, *closed).T,
        priced_edits(task.edits, row, rates, task.layout).T,
        None if rates is None else rates.T,
    )


class Told(NamedTuple):
    """What all but the trees say of every edit of rows."""

    here: Array
    """How far the model and all families but the trees lead for the rows as they are, `[3, n]`."""
    standings: Array
    """The same after each edit, `[3, edits, n]`."""
    gains: Array
    """How much surer they are than of the rows as they are, `[edits, n]`."""
    price: Array
    """What it costs more than the row has cost by now, `[edits, n]`."""
    usable: Array
    """Which edits may be made and are changes at all, bool `[edits, n]`."""
    possible: Array
    """The leaves that each node of a tree leaves possible for the rows, `[n, nodes, trees]`."""
    trees: Array
    """How far the trees lead for the rows as they are, `[n]`."""
    unsure: Array
    """Where the jury is not yet sure, `[n]`."""

    @property
    def rates(self) -> Array:
        """What each gains for its price; -inf where it may not be made, `[edits, n]`."""
        return jnp.where(self.usable, self.gains / self.price, -jnp.inf)


class Listed(NamedTuple):
    """Some edits of each row, as the whole jury sees them."""

    places: Array
    """Which edits, `[n, listed]`."""
    rates: Array
    """What each gains for its price; -inf where it is of no use, `[n, listed]`."""
    standings: Array
    """How far the model and all families but the trees lead after it, `[3, listed, n]`."""
    trees: Array
    """The same of the trees, `[n, listed]`."""


def told_of_edits(x: Array, known: Known, task: Task) -> Told:
    """Asks all but the trees about all edits of rows `[n, width]`."""
    jury, edits, actions = task.jury, task.edits, task.constraints.actions
    row, target, level = known.lanes
    owned = owned_columns(task.layout)
    columns = x.T
    parts = all_feature_layers(jury.first, columns, task.layout)
    first = jnp.sum(parts, axis=0) + jnp.asarray(jury.first_bias)[:, None]
    if task.steered is not None:
        parts = all_feature_layers(task.steered, columns, task.layout)
    possible = rows_leaves(task, x)
    trees = tree_standing(jury, leaves_left(possible), target)
    here = quick_standing(jury, quick_logits(jury, first), target)
    unsure = jnp.any(here < level, axis=0) | (trees < level)

    ask = partial(quick_logits, jury)
    told = ask_about_edits(ask, first, parts, jnp.asarray(task.added), jnp.asarray(edits.feature))
    standings = quick_standing(jury, jnp.moveaxis(told, 0, 2), target)
    gains = _sureness(standings, level) - _sureness(here, level)
    rates_now = None if known.rates is None else known.rates.T
    prices = spent(columns, row.T, rates_now, owned)[edits.feature]
    price = jnp.maximum(known.cost.T - prices, 0.0) + EDIT_PRICE
    moved = jnp.abs(jnp.asarray(edits.value)[:, None] - columns[edits.column])
    usable = known.allowed.T & (moved >= NEGLIGIBLE_CHANGE)
    if actions is not None:
        usable = usable & lawful_edits(edits, columns, row.T, actions, owned)
    return Told(here, standings, gains, price, usable, possible, trees, unsure)


def listed_edits(told: Told, places: Array, known: Known, task: Task) -> Listed:
    """Asks the trees, too, about some edits of each row, `[n, listed]`."""
    target, level = known.lanes[1:]
    without = possible_without(task, told.possible, jnp.asarray(task.edits.feature)[places])
    said = tree_standing(task.jury, without & jnp.asarray(task.edit_leaves)[places], target)
    tree_gain = jnp.minimum(said, level[:, None]) - jnp.minimum(told.trees, level)[:, None]

    def of_places(values: Array) -> Array:
        return jnp.take_along_axis(values.T, places, axis=1)

    gains = of_places(told.gains) + tree_gain / 6.0
    useful = of_places(told.usable) & (gains > _LEAST_GAIN)
    rates = jnp.where(useful, gains / of_places(told.price), -jnp.inf)
    then = jnp.take_along_axis(told.standings, places.T[None], axis=1)
    return Listed(places, rates, then, said)


def _best_edit(x: Array, known: Known, task: Task) -> tuple[Array, Array]:
    """Makes the edit that gains most for its price, where the jury is not yet sure.

    Returns:
        The rows, and which of them have to go on.
    """
    level = known.lanes.level
    told = told_of_edits(x, known, task)
    rates = told.rates
    _, places = jax.lax.top_k(rates.T, min(_SHORT_LIST, rates.shape[0]))
    found = listed_edits(told, places, known, task)
    best = jnp.argmax(found.rates, axis=1)[:, None]
    chosen = jnp.take_along_axis(found.places, best, axis=1)[:, 0]
    moves = told.unsure & (jnp.max(found.rates, axis=1) > _LEAST_RATE)
    made = edited(x.T, chosen, task.edits, owned_columns(task.layout))
    if (actions := task.constraints.actions) is not None:
        # What trees say of numbers that have followed is not known yet.
        return jnp.where(moves[:, None], actions.moved(made, known.lanes.row.T).T, x), moves
    x = jnp.where(moves[:, None], made.T, x)
    # What the jury says of the row as it is now is known already.
    now = jnp.take_along_axis(found.standings, best.T[None], axis=1)[:, 0]
    trees = jnp.take_along_axis(found.trees, best, axis=1)[:, 0]
    sure = jnp.all(now >= level, axis=0) & (trees >= level)
    return x, moves & ~sure


def _sureness(standings: Array, level: Array) -> Array:
    """How near to sure all but the trees are.

    The model counts as much as the three families of jurors together.
    """
    model, *families = jnp.minimum(standings, level)
    sureness: Array = 0.5 * model + sum(families) / 6.0
    return sureness
