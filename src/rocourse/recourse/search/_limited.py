"""Greedy edits under limits of change: what they cost, and which of them keep the joint rules.

Of schemas without such limits nothing of this is compiled.
"""

import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.recourse.search._edits import Edits, edit_costs
from rocourse.schema import Layout
from rocourse.schema.action_limits import ActionLimits
from rocourse.schema.constraints import expand

# By how much of its size a limited sum may be missed: the rounding of float32.
_ROUNDING = 1e-6


def column_rates(actions: ActionLimits | None, row: Array) -> Array | None:
    """What a unit of each encoded column costs rows, `[width, n]`; None: all the same."""
    return None if actions is None else actions.rates(row)


def begun(actions: ActionLimits | None, row: Array, layout: Layout, *start: Array) -> Array:
    """Where the search for rows as columns begins, `[width, n]`: where it is told to, or there.

    Args:
        actions: The limits, if there are any.
        row: The rows, encoded.
        layout: Theirs.
        start: The numbers and categories that it begins at, `[n, ...]`, if it is told to.
    """
    if not start:
        return row
    values, codes = start
    begin = expand(values.T, codes.T, layout)
    return begin if actions is None else actions.moved(begin, row)


def priced_edits(edits: Edits, row: Array, rates: Array | None, layout: Layout) -> Array:
    """What each edit costs rows as columns, `[edits, n]`."""
    if rates is None:
        return edit_costs(edits, row, layout)
    return rates[edits.column] * jnp.abs(jnp.asarray(edits.value)[:, None] - row[edits.column])


def spent(x: Array, row: Array, rates: Array | None, owned: Array) -> Array:
    """What the change of each feature costs by now, `[features, n]`."""
    moved = jnp.abs(x - row)
    return owned @ (moved if rates is None else rates * moved)


def steered_layers(actions: ActionLimits | None, weight: np.ndarray) -> np.ndarray | None:
    """First layers as each number moves them with what follows it; None: by itself alone."""
    return None if actions is None else np.asarray(actions.steered(jnp.asarray(weight)))


def lawful_edits(edits: Edits, x: Array, row: Array, actions: ActionLimits, owned: Array) -> Array:
    """Which edits leave changed rows with no more changes than may be and sums within limits.

    Args:
        edits: What may be done.
        x: The rows as they are by now, `[width, n]`.
        row: As they were.
        actions: The limits.
        owned: The columns of each feature.

    Returns:
        bool `[edits, n]`.
    """
    cut = len(actions.weights)
    follows = jnp.any(actions.follow != 0.0, axis=1)
    acts = jnp.concatenate([~follows, jnp.ones(len(owned) - cut, bool)])
    changed = (owned @ jnp.abs(x - row) > 0.0) & acts[:, None]
    full = jnp.sum(changed, axis=0) >= actions.max_features
    feature = jnp.asarray(edits.feature)
    fine = changed[feature] | ~full
    if not cut:
        return fine
    number = jnp.minimum(feature, cut - 1)
    way = jnp.where((feature < cut)[:, None], jnp.asarray(edits.value)[:, None] - x[number], 0.0)
    for effect, room in zip(actions.effects(), actions.room(x, row), strict=True):
        fine = fine & (effect[number][:, None] * way <= room + _ROUNDING)
    return fine


def settled_changes(taken: Array, x: Array, row: Array, actions: ActionLimits) -> Array:
    """Rows `[n, width]` with a change taken back and followers moved, where sums bear it."""
    moved = actions.moved(taken.T, row.T)
    bears = jnp.all(actions.room(moved, row.T) >= -_ROUNDING, axis=0)
    return jnp.where(bears[:, None], moved.T, x)


def ranked(costs: Array, actions: ActionLimits | None) -> Array:
    """What changes cost `[n, features]`, those that are hard to make more."""
    return costs if actions is None else costs * (actions.feature_weights + _ROUNDING)
