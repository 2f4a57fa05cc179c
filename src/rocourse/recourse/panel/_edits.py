"""Greedy edits of a row until all models of a panel agree, then as few of them as will do."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import compiled
from rocourse.models.jurors import lead
from rocourse.recourse.search import (
    EDIT_PRICE,
    Edits,
    Numbers,
    Query,
    Space,
    allowed_edit,
    committee_scores,
    owned_columns,
    propose_in_blocks,
)
from rocourse.schema import NEGLIGIBLE_CHANGE, Layout, Rows
from rocourse.schema.constraints import Limits, expand, harden

# How much closer to the panel's margins an edit has to bring a row.
_LEAST_GAIN = 1e-5
# How far back towards the row a number is taken when it need not have gone so far.
_RETREATS = (0.75, 0.5, 0.5, 0.25, 0.25)
# Undoing one edit may make another one unnecessary.
_PRUNING_ROUNDS = 2


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
    """A block of rows, as columns, and whom they have to convince."""

    row: Array
    target: Array
    limits: Limits
    panel: Panel
    edits: Edits
    space: Space
    min_gain: Array


def panel_recourses(
    panel: Panel,
    edits: Edits,
    rows: Rows,
    target: np.ndarray,
    space: Space,
    *,
    max_changes: int,
    min_gain: float = 0.0,
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
    """
    panel, edits, price = jax.device_put((panel, edits, np.float32(min_gain)))
    return propose_in_blocks(
        lambda *block: _search(Query.of(*block), panel, edits, space, price, max_changes),
        rows,
        target,
        side_by_side=True,
    )


@compiled
def _search(
    query: Query, panel: Panel, edits: Edits, space: Space, min_gain: Array, max_changes: int
) -> tuple[Array, Array]:
    layout = space.layout
    row = expand(query.continuous.T, query.categories.T, layout)
    task = _Task(row, query.target, space.constraints.limits(row), panel, edits, space, min_gain)

    def unconvinced(carry: tuple[Array, Array, Array]) -> Array:
        step, _, searching = carry
        return (step < max_changes) & jnp.any(searching)

    def edit(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        step, x, searching = carry
        x, moved = _best_edit(x, searching, task)
        return step + 1, x, searching & moved

    everyone = jnp.ones(row.shape[1], bool)
    _, x, _ = jax.lax.while_loop(unconvinced, edit, (jnp.int32(0), row, everyone))
    # Categories first: each of them costs 2.
    order = jnp.arange(_n_features(layout) - 1, -1, -1)
    for _ in range(_PRUNING_ROUNDS):
        x, _ = jax.lax.scan(lambda x, feature: (_prune(x, feature, task), None), x, order)
    cut = layout.n_continuous
    return x[:cut].T, harden(x[cut:], layout).T


def _best_edit(x: Array, searching: Array, task: _Task) -> tuple[Array, Array]:
    """Makes the edit that gains most for its price, where the panel is not yet convinced."""
    panel, edits = task.panel, task.edits
    owned = owned_columns(task.space.layout)
    hidden = _first_layer(panel, x)
    shares = _shares(_all_leads(panel, hidden, task.target), task)
    gain = _consent(shares)
    searching = searching & jnp.any(shares < 1.0, axis=0)
    prices = owned @ jnp.abs(x - task.row)
    # What each feature adds to the first layer: an edit takes this away and adds its own.
    parts = jax.lax.map(
        lambda own: jnp.einsum("moi,ib->mob", panel.weights[0], own[:, None] * x), owned
    )

    def consider(edit: tuple[Array, Array, Array]) -> Array:
        feature, column, value = edit
        own = owned[feature]
        edited = jnp.where(own[:, None] > 0, 0.0, x).at[column].set(value)
        first = hidden - parts[feature] + (value * panel.weights[0][:, :, column])[:, :, None]
        gained = _consent(_shares(_all_leads(panel, first, task.target), task))
        price = own @ jnp.abs(edited - task.row) - prices[feature]
        rate = (gained - gain) / (jnp.maximum(price, 0.0) + EDIT_PRICE)
        allowed = allowed_edit(edit, task.limits, task.space.layout) & (rate > task.min_gain)
        return jnp.where(allowed & (gained > gain + _LEAST_GAIN), rate, -jnp.inf)

    rates = jax.lax.map(consider, (edits.feature, edits.column, edits.value))
    best = jnp.argmax(rates, axis=0)
    moves = searching & jnp.isfinite(jnp.max(rates, axis=0))
    own = owned[edits.feature[best]].T > 0
    place = jnp.arange(x.shape[0])[:, None] == edits.column[best]
    edited = jnp.where(place, edits.value[best], jnp.where(own, 0.0, x))
    return jnp.where(moves, edited, x), moves


def _prune(x: Array, feature: Array, task: _Task) -> Array:
    """Takes back one feature's change, wholly or in part, where the panel stays convinced.

    Where some members are not convinced, also what convinces the others by less than it costs.
    """
    panel, edits = task.panel, task.edits
    layout = task.space.layout
    own = owned_columns(layout)[feature][:, None]
    before = _shares(_all_leads(panel, _first_layer(panel, x), task.target), task)
    split = jnp.any(before < 1.0, axis=0)
    cost = jnp.sum(jnp.abs(x - task.row), axis=0)

    def attempt(x: Array, tried: Array) -> Array:
        after = _shares(_all_leads(panel, _first_layer(panel, tried), task.target), task)
        saved = cost - jnp.sum(jnp.abs(tried - task.row), axis=0)
        lost = _consent(before) - _consent(after)
        too_dear = split & (after[0] >= before[0]) & (lost <= task.min_gain * saved)
        return jnp.where(jnp.all(after >= before, axis=0) | too_dear, tried, x)

    x = attempt(x, jnp.where(own > 0, task.row, x))
    if not layout.n_continuous:
        return x
    number = jnp.minimum(feature, layout.n_continuous - 1)
    step, first = task.space.step[number], task.space.first[number]
    for share in _RETREATS:
        value = share * task.row[number] + (1.0 - share) * x[number]
        # Away from the row, so that whole numbers do not undo what the panel asks for.
        grid = jnp.where(step > 0.0, step, 1.0)
        place = (value - first) / grid
        away = x[number] > task.row[number]
        whole = first + grid * jnp.where(away, jnp.ceil(place - 1e-4), jnp.floor(place + 1e-4))
        value = jnp.where(step > 0.0, whole, value)
        usual = (edits.low[number] <= value) & (value <= edits.high[number])
        moved = jnp.abs(x[number] - task.row[number]) >= NEGLIGIBLE_CHANGE
        usable = usual & moved & (feature < layout.n_continuous)
        x = attempt(x, x.at[number].set(jnp.where(usable, value, x[number])))
    return x


def _first_layer(panel: Panel, x: Array) -> Array:
    """Before its rectifier, of all networks, `[networks, units, n]`."""
    return jnp.einsum("moi,ib->mob", panel.weights[0], x) + panel.biases[0][:, :, None]


def _all_leads(panel: Panel, first_layer: Array, target: Array) -> Array:
    """By how much the target class leads over the best other one, `[members, n]`."""
    scores = committee_scores(panel.weights, panel.biases, first_layer, len(panel.margins))
    return lead(scores, target)


def _shares(leads: Array, task: _Task) -> Array:
    """How convinced each member is: its lead as a share of the margin, at most one."""
    return jnp.minimum(leads / task.panel.margins[:, task.target], 1.0)


def _consent(shares: Array) -> Array:
    """How convinced the panel is.

    The first member, the model that gives the recourse, counts as much as all others together:
    where not all can be convinced, it has to be.
    """
    others = jnp.mean(shares[1:], axis=0) if len(shares) > 1 else shares[0]
    return 0.5 * (shares[0] + others)


def _n_features(layout: Layout) -> int:
    return layout.n_continuous + layout.n_categorical
