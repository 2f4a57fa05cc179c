"""Greedy edits of a row until all models of a panel agree, then as few of them as will do."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import bound, own_device
from rocourse.models.jurors import lead
from rocourse.recourse.search import (
    EDIT_PRICE,
    Columns,
    Edits,
    FromHere,
    Numbers,
    Retreats,
    Size,
    Space,
    all_feature_layers,
    ask_about_edits,
    ask_along,
    begun,
    column_rates,
    committee_logits,
    edit_layers,
    edited,
    feature_layers,
    first_layers,
    free_edits,
    lawful_edits,
    owned_columns,
    priced_edits,
    propose_in_lanes,
    prune,
    settled_changes,
    spent,
    starting,
    steered_layers,
    through_lanes,
)
from rocourse.schema import NEGLIGIBLE_CHANGE, Rows
from rocourse.schema.constraints import expand, harden

# How much closer to the panel's margins an edit has to bring a row.
_LEAST_GAIN = 1e-5
# How far back towards the row a number is taken when it need not have gone so far.
_RETREATS = (0.75, 0.5, 0.5, 0.25, 0.25)


class Panel(NamedTuple):
    """Models that all have to be convinced: committees of networks, all of one shape.

    A committee's scores are the mean of its networks'. All have as many, side by side.
    """

    weights: tuple[Numbers, ...]
    """Of each layer of all networks, `[networks, out, in]`."""
    biases: tuple[Numbers, ...]
    """`[networks, out]`."""
    margins: Numbers
    """The lead over all other classes that each class needs, `[members, classes]`."""


class _Task(NamedTuple):
    """Whom rows have to convince, and what may be done."""

    panel: Panel
    edits: Edits
    space: Space
    first: Numbers
    """Of all networks' first layers, `[width, units]`."""
    first_bias: Numbers
    """`[units]`."""
    added: Numbers
    """What each edit adds to the first layers, `[edits, units]`."""
    steered: Numbers | None = None
    """The first layers as numbers move them with what follows them, `[width, units]`."""


class _Known(NamedTuple):
    """What does not change of a row that is searched for."""

    row: Array
    """Encoded, `[n, width]`."""
    target: Array
    """The class index wanted, `[n]`."""
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


def panel_recourses(
    panel: Panel,
    edits: Edits,
    rows: Rows,
    target: np.ndarray,
    space: Space,
    *,
    max_changes: int,
    min_gain: float = 0.0,
    from_here: FromHere | None = None,
) -> Rows:
    """Changes each row, one feature at a time, until the whole panel gives it its target class.

    Args:
        panel: Whom to convince.
        edits: What may be done.
        rows: The rows to change.
        target: The class index wanted for each.
        space: What the rows may become.
        max_changes: The most edits of a row.
        min_gain: How much of the panel's consent a unit of cost has to buy. Edits that buy less are
            not made; where some members stay unconvinced they are taken back as well.
        from_here: What is closed to each row, bool `[n, width]`, and where its search begins; None:
            nothing, and at the row.
    """
    # The arrays, not what holds them: a stored state is taken apart anew for every call.
    parts = (space, *jax.tree.leaves((panel, edits)))

    def run(size: Size) -> Any:
        return bound(_search, parts, size, max_changes, device=own_device(), prepare=_task_of)

    wanted = np.asarray(target, np.int32)
    least = np.full(len(rows), min_gain, np.float32)
    more = () if from_here is None else starting(*from_here)
    return propose_in_lanes(run, rows, wanted, least, *more)


def _task_of(space: Space, *arrays: Numbers) -> _Task:
    *layers, margins = arrays[: -len(Edits._fields)]
    edits = Edits(*arrays[-len(Edits._fields) :])
    half = len(layers) // 2
    panel = Panel(tuple(layers[:half]), tuple(layers[half:]), margins)
    weight = np.asarray(panel.weights[0])
    first = np.ascontiguousarray(weight.reshape(-1, weight.shape[-1]).T)
    bias = np.asarray(panel.biases[0]).ravel()
    steered = steered_layers(space.constraints.actions, first)
    added = edit_layers(first if steered is None else steered, edits)
    return _Task(panel, edits, space, first, bias, added, steered)


def _search(
    task: _Task,
    size: Size,
    max_changes: int,
    count: Array,
    continuous: Array,
    categories: Array,
    target: Array,
    min_gains: Array,
    *from_here: Array,
) -> tuple[Array, Array]:
    layout, min_gain = task.space.layout, min_gains[0]
    row = expand(continuous.T, categories.T, layout)
    limits, actions = task.space.constraints.limits(row), task.space.constraints.actions
    rates = column_rates(actions, row)
    known = _Known(
        row.T,
        target,
        free_edits(task.edits, limits, layout, *from_here[:1]).T,
        priced_edits(task.edits, row, rates, layout).T,
        None if rates is None else rates.T,
    )

    def step(known: _Known, found: _Found) -> tuple[_Found, Array]:
        x, going = _best_edit(found.x, known, task, min_gain)
        made = found.made + 1
        return _Found(x, made), ~going | (made >= max_changes)

    begin = begun(actions, row, layout, *from_here[1:])
    start = _Found(begin.T, jnp.zeros(len(target), jnp.int32))
    found = through_lanes(step, known, start, count, size.edited)

    def categories_first(costs: Array) -> Array:
        # Each of them costs 2.
        return jnp.where(costs > 0.0, jnp.arange(1.0, costs.shape[1] + 1.0), 0.0)

    retreat = partial(_take_back, task, min_gain)
    x = prune(retreat, found.x, known, count, size.pruned, layout, rank=categories_first)
    cut = layout.n_continuous
    return x[:, :cut], harden(x[:, cut:].T, layout).T


def _best_edit(x: Array, known: _Known, task: _Task, min_gain: Array) -> tuple[Array, Array]:
    """Makes the edit that gains most for its price, where the panel is not yet convinced.

    Returns:
        The rows, and which of them have to go on.
    """
    edits, actions = task.edits, task.space.constraints.actions
    feature, columns = jnp.asarray(edits.feature), x.T
    owned = owned_columns(task.space.layout)
    parts = all_feature_layers(task.first, columns, task.space.layout)
    first = jnp.sum(parts, axis=0) + jnp.asarray(task.first_bias)[:, None]
    if task.steered is not None:
        parts = all_feature_layers(task.steered, columns, task.space.layout)
    here = _shares(_logits(task.panel, first), known.target, task.panel)
    told = ask_about_edits(
        partial(_logits, task.panel), first, parts, jnp.asarray(task.added), feature
    )
    shares = _shares(jnp.moveaxis(told, 0, 2), known.target, task.panel)
    gains = _consent(shares) - _consent(here)
    rates_now = None if known.rates is None else known.rates.T
    prices = spent(columns, known.row.T, rates_now, owned)[feature]
    rates = gains / (jnp.maximum(known.cost.T - prices, 0.0) + EDIT_PRICE)
    usable = known.allowed.T & (rates > min_gain) & (gains > _LEAST_GAIN)
    if actions is not None:
        usable = usable & lawful_edits(edits, columns, known.row.T, actions, owned)
    rates = jnp.where(usable, rates, -jnp.inf)
    best = jnp.argmax(rates, axis=0)
    moves = jnp.any(here < 1.0, axis=0) & jnp.isfinite(jnp.max(rates, axis=0))
    made = edited(columns, best, edits, owned)
    if actions is not None:
        made = actions.moved(made, known.row.T)
    x = jnp.where(moves[:, None], made.T, x)
    # What the panel says of the row as it is now is known already.
    now = jnp.take_along_axis(shares, best[None, None], axis=1)[:, 0]
    return x, moves & jnp.any(now < 1.0, axis=0)


def _take_back(
    task: _Task, min_gain: Array, known: _Known, x: Array, feature: Array, own: Array
) -> Array:
    """Takes back one feature's change, wholly or in part, where the panel stays convinced.

    Where some members are not convinced, also what convinces the others by less than it costs.
    """
    row, n, cut = known.row, len(x), task.space.layout.n_continuous
    number, each = jnp.minimum(feature, max(cut - 1, 0)), jnp.arange(n)
    here, far = row[each, number], x[each, number]
    retreats = _retreats(here, far, number, feature < cut, task)
    way_back = jnp.where(jnp.abs(far - here) > 0.0, here - far, 1.0)
    stay, back = jnp.zeros(n), jnp.ones(n)
    shares = jnp.concatenate([stay[None], back[None], (retreats.places - far) / way_back])
    now, then = Columns.of(x.T, task.space.layout), Columns.of(row.T, task.space.layout)
    first = first_layers(task.first, task.first_bias, x.T, task.space.layout)
    layers = task.first if task.steered is None else task.steered
    way = (
        feature_layers(layers, then.of_feature(feature))
        - feature_layers(layers, now.of_feature(feature))
    )[0]
    told = ask_along(partial(_logits, task.panel), first, way, shares)
    cost = jnp.sum(own * jnp.abs(row - x), axis=1)

    def convinced(share: Array, place: Array) -> Array:
        return _shares(told(share, place), known.target, task.panel)

    before = convinced(stay, jnp.zeros(n, jnp.int32))
    split = jnp.any(before < 1.0, axis=0)

    def holds(share: Array, place: Array) -> Array:
        after = convinced(share, place)
        lost = _consent(before) - _consent(after)
        too_dear = split & (after[0] >= before[0]) & (lost <= min_gain * share * cost)
        return jnp.all(after >= before, axis=0) | too_dear

    returned = jnp.where(own > 0, row, x)
    whole = holds(back, jnp.ones(n, jnp.int32))[:, None]
    actions = task.space.constraints.actions
    if not cut:
        return jnp.where(whole, returned, x)

    def worth(value: Array, place: Array) -> Array:
        # Staying and the whole way back come before the places.
        return jnp.where(holds((value - far) / way_back, place + 2), 0.0, -jnp.inf)

    value, _ = retreats.settle(far, worth, stay)
    is_value = (jnp.arange(x.shape[1]) == number[:, None]) & (feature < cut)[:, None]
    taken = jnp.where(whole, returned, jnp.where(is_value, value[:, None], x))
    return taken if actions is None else settled_changes(taken, x, row, actions)


def _retreats(here: Array, far: Array, number: Array, is_number: Array, task: _Task) -> Retreats:
    if not task.space.layout.n_continuous:
        return Retreats.of(far, lambda now, share: now, ())
    step, first = task.space.step[number], task.space.first[number]
    low, high = jnp.asarray(task.edits.low)[number], jnp.asarray(task.edits.high)[number]
    grid = jnp.where(step > 0.0, step, 1.0)

    def stop(now: Array, share: Array) -> Array:
        value = share * here + (1.0 - share) * now
        # Away from the row, so that whole numbers do not undo what the panel asks for.
        place = (value - first) / grid
        away = now > here
        whole = first + grid * jnp.where(away, jnp.ceil(place - 1e-4), jnp.floor(place + 1e-4))
        value = jnp.where(step > 0.0, whole, value)
        usable = (low <= value) & (value <= high) & is_number
        usable = usable & (jnp.abs(now - here) >= NEGLIGIBLE_CHANGE)
        return jnp.where(usable, value, now)

    return Retreats.of(far, stop, _RETREATS)


def _logits(panel: Panel, first: Array) -> Array:
    """What members say of first layers `[units, n]`: `[members, logits, n]`."""
    networks, width = panel.biases[0].shape
    layer = first.reshape(networks, width, -1)
    return committee_logits(panel.weights[1:], panel.biases[1:], layer, len(panel.margins))


def _shares(logits: Array, target: Array, panel: Panel) -> Array:
    """How convinced each member is, `[members, ..., n]`: its lead as a share of the margin."""
    margins = jnp.asarray(panel.margins)[:, target]
    margins = margins.reshape(len(margins), *(1,) * (logits.ndim - 3), -1)
    return jnp.minimum(lead(logits, target) / margins, 1.0)


def _consent(shares: Array) -> Array:
    """How convinced the panel is.

    The first member, the model that gives the recourse, counts as much as all others together:
    where not all can be convinced, it has to be.
    """
    others = jnp.mean(shares[1:], axis=0) if len(shares) > 1 else shares[0]
    return 0.5 * (shares[0] + others)
