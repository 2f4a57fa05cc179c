"""Takes changes back that are not worth what they cost, wholly or in part."""

from functools import partial

import jax.numpy as jnp
from jax import Array
from jax.scipy.stats import norm

from rocourse.models.jurors import leaves_left
from rocourse.recourse.jury._standing import quick_logits, quick_standing, tree_standing
from rocourse.recourse.jury._task import Lanes, Task, possible_without, rows_leaves
from rocourse.recourse.search import (
    AGREEMENT_WORTH,
    CAUTION,
    CONSENT,
    EDIT_PRICE,
    Columns,
    Retreats,
    ask_along,
    column_rates,
    feature_layers,
    first_layers,
    settled_changes,
)
from rocourse.schema import NEGLIGIBLE_CHANGE

# How far back towards the row a number is taken when it need not have gone so far.
_RETREATS = (0.75, 0.5, 0.5, 0.25)
# What rounding takes away is not missed.
_ROUNDING = 1e-4


def take_back(task: Task, lanes: Lanes, x: Array, feature: Array, own: Array) -> Array:
    """Takes one feature of each row back, wholly or in part, if it is not worth what it costs.

    A change is worth the share of models, the deciding one and the three families counting alike,
    that agree because of it. Without prices of doubt, changes that help one family a little would
    stay at any cost.

    Args:
        task: Whom the rows have to convince.
        lanes: The rows that they were.
        x: Encoded rows, `[n, width]`.
        feature: One of each, `[n]`.
        own: Its columns, float32 `[n, width]`.
    """
    jury, cut, actions = task.jury, task.layout.n_continuous, task.constraints.actions
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
    possible = rows_leaves(task, x)
    others = possible_without(task, possible, feature)
    rates = column_rates(actions, row.T)

    def cost_of(x: Array) -> Array:
        moved = jnp.abs(x - row) if rates is None else rates.T * jnp.abs(x - row)
        return jnp.sum(own * moved, axis=1)

    cost = cost_of(x)

    def quick(share: Array, place: Array) -> Array:
        return quick_standing(jury, told(share, place), target)

    def trees(left: Array) -> Array:
        return tree_standing(jury, left, target)

    before = quick(stay, jnp.zeros(n, jnp.int32))
    consent = jnp.minimum(before[0], CONSENT)

    def worth(quick: Array, trees: Array) -> Array:
        agreed = norm.cdf(CAUTION * jnp.concatenate([quick, trees[None]]))
        whole: Array = AGREEMENT_WORTH * level**2 * jnp.mean(agreed, axis=0)
        return jnp.where(quick[0] >= consent - _ROUNDING, whole, -jnp.inf)

    def at(value: Array, place: Array) -> Array:
        """What numbers on their way are worth, with what is saved by then."""
        looks = task.node_feature == feature[:, None, None].astype(jnp.int16)
        right = looks & (value[:, None, None] > task.jury.trees.threshold)
        nodes = jnp.where(right, jury.trees.stays, jnp.uint8(255))
        # Staying and the whole way back come before the places.
        share = (value - far) / way_back
        said = worth(quick(share, place + 2), trees(others & leaves_left(nodes)))
        return said + share * cost

    as_it_is = worth(before, trees(leaves_left(possible)))
    returned = jnp.where(own > 0, row, x)
    if actions is not None:
        returned = settled_changes(returned, x, row, actions)
    said = worth(
        quick(back, jnp.ones(n, jnp.int32)), trees(leaves_left(rows_leaves(task, returned)))
    )
    whole = said + cost + EDIT_PRICE
    value, partly = retreats.settle(far, at, as_it_is)
    gone = whole >= jnp.maximum(partly, as_it_is - _ROUNDING)
    here_column = (jnp.arange(x.shape[1]) == number[:, None]) & is_number[:, None]
    taken = jnp.where(gone[:, None], returned, jnp.where(here_column, value[:, None], x))
    if actions is None:
        return taken
    taken = settled_changes(taken, x, row, actions)
    # Nobody has been asked about numbers that have followed.
    first = first_layers(jury.first, jury.first_bias, taken.T, task.layout)
    quick_now = quick_standing(jury, quick_logits(jury, first), target)
    said = worth(quick_now, trees(leaves_left(rows_leaves(task, taken))))
    held = said + cost - cost_of(taken) + EDIT_PRICE >= as_it_is
    return jnp.where(held[:, None], taken, x)


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
