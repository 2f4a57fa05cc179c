"""Takes changes back that a jury can do without, wholly or in part."""

from functools import partial

import jax.numpy as jnp
from jax import Array

from rocourse.models.jurors import leaves_left
from rocourse.recourse.jury._standing import quick_logits, quick_standing, tree_standing
from rocourse.recourse.jury._task import Lanes, Task, possible_without, rows_leaves
from rocourse.recourse.search import (
    Columns,
    Retreats,
    ask_along,
    feature_layers,
    first_layers,
    settled_changes,
)
from rocourse.schema import NEGLIGIBLE_CHANGE

# How far back towards the row a number is taken when it need not have gone so far.
_RETREATS = (0.75, 0.5, 0.5, 0.25)
# Sureness that rounding takes away is not missed.
_ROUNDING = 1e-4


def take_back(task: Task, lanes: Lanes, x: Array, feature: Array, own: Array) -> Array:
    """Takes one feature of each row back, wholly or in part, if nobody is less sure for it.

    Args:
        task: Whom the rows have to convince.
        lanes: The rows that they were.
        x: Encoded rows, `[n, width]`.
        feature: One of each, `[n]`.
        own: Its columns, float32 `[n, width]`.
    """
    jury, cut = task.jury, task.layout.n_continuous
    row, target, level = lanes
    n = len(x)
    number = jnp.minimum(feature, max(cut - 1, 0))
    each = jnp.arange(n)
    is_number = feature < cut
    here, far = row[each, number], x[each, number]
    retreats = _retreats(here, far, number, is_number, task)
    way_back = jnp.where(jnp.abs(far - here) > 0.0, here - far, 1.0)
    stay, back = jnp.zeros(n), jnp.ones(n)
    places = (retreats.places - far) / way_back
    shares = jnp.concatenate([stay[None], back[None], places])

    now, then = Columns.of(x.T, task.layout), Columns.of(row.T, task.layout)
    first = first_layers(jury.first, jury.first_bias, x.T, task.layout)
    layers = jury.first if task.steered is None else task.steered
    way = (
        feature_layers(layers, then.of_feature(feature))
        - feature_layers(layers, now.of_feature(feature))
    )[0]
    told = ask_along(partial(quick_logits, jury), first, way, shares)

    def quick(share: Array, place: Array) -> Array:
        return jnp.minimum(quick_standing(jury, told(share, place), target), level)

    before = quick(stay, jnp.zeros(n, jnp.int32))

    def quick_held(share: Array, place: Array) -> Array:
        return jnp.all(quick(share, place) >= before - _ROUNDING, axis=0)

    possible = rows_leaves(task, x)
    others = possible_without(task, possible, feature)
    trees_before = jnp.minimum(tree_standing(jury.trees, leaves_left(possible), target), level)

    def trees_held(left: Array) -> Array:
        said = jnp.minimum(tree_standing(jury.trees, left, target), level)
        return said >= trees_before - _ROUNDING

    def held(value: Array, place: Array) -> Array:
        looks = task.node_feature == feature[:, None, None].astype(jnp.int16)
        right = looks & (value[:, None, None] > task.jury.trees.threshold)
        nodes = jnp.where(right, jury.trees.stays, jnp.uint8(255))
        # Staying and the whole way back come before the places.
        by_quick = quick_held((value - far) / way_back, place + 2)
        return by_quick & trees_held(others & leaves_left(nodes))

    actions = task.constraints.actions
    returned = jnp.where(own > 0, row, x)
    if actions is not None:
        returned = settled_changes(returned, x, row, actions)
    whole = quick_held(back, jnp.ones(n, jnp.int32)) & trees_held(
        leaves_left(rows_leaves(task, returned))
    )
    if not cut:
        return jnp.where(whole[:, None], returned, x)
    value = retreats.settle(far, held)
    here_column = (jnp.arange(x.shape[1]) == number[:, None]) & is_number[:, None]
    taken = jnp.where(whole[:, None], returned, jnp.where(here_column, value[:, None], x))
    if actions is None:
        return taken
    taken = settled_changes(taken, x, row, actions)
    # Trees have not been asked about numbers that have followed.
    held_by_trees = trees_held(leaves_left(rows_leaves(task, taken)))
    return jnp.where(held_by_trees[:, None], taken, x)


def _retreats(here: Array, far: Array, number: Array, is_number: Array, task: Task) -> Retreats:
    if not task.layout.n_continuous:
        return Retreats.of(far, lambda now, share: now, ())
    edits = task.edits
    step, first = (jnp.asarray(part)[number] for part in task.grid)
    low, high = jnp.asarray(edits.low)[number], jnp.asarray(edits.high)[number]

    def stop(now: Array, share: Array) -> Array:
        place = (share * here + (1.0 - share) * now - first) / step
        # Away from the row, so that the grid does not undo what the jury asks for.
        away = now > here
        value = first + step * jnp.where(away, jnp.ceil(place - 1e-3), jnp.floor(place + 1e-3))
        usable = (low <= value) & (value <= high) & is_number
        usable = usable & (jnp.abs(now - here) >= NEGLIGIBLE_CHANGE)
        return jnp.where(usable, value, now)

    return Retreats.of(far, stop, _RETREATS)
