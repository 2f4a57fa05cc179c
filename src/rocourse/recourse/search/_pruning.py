"""Changes that a row can do without are taken back, feature by feature."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import jax.numpy as jnp
from jax import Array

from rocourse.recourse.search._edits import owned_columns
from rocourse.recourse.search._lanes import through_lanes
from rocourse.schema import Layout

# Undoing one edit may make another one unnecessary.
_ROUNDS = 2


class HasRow(Protocol):
    """What is known of rows, whatever else: how they were."""

    @property
    def row(self) -> Array:
        """Encoded, `[n, width]`."""


Known = TypeVar("Known", bound=HasRow)

Retreat = Callable[[Known, Array, Array, Array], Array]
"""From what is known of rows, the rows `[n, width]`, a feature of each and its columns to the rows
with that feature taken back as far as may be."""


class _Pruned(NamedTuple):
    """How far pruning has come."""

    x: Array
    """`[n, width]`."""
    tried: Array
    """The features that were tried in this round, bool `[n, features]`."""
    kept: Array
    """Those of which nothing can be taken back, with the others as they are."""
    rounds: Array
    """How many rounds have ended, `[n]`."""


def prune(
    retreat: Retreat[Known],
    x: Array,
    known: Known,
    count: Array,
    lanes: int,
    layout: Layout,
    *,
    rank: Callable[[Array], Array],
) -> Array:
    """Takes back each row's changes where it may be, one feature after the other, twice.

    A feature that could not be taken back is not tried again before another one has been.

    Args:
        retreat: Takes a feature back.
        x: Encoded rows as a search has left them, `[n, width]`.
        known: What is known of each, with the rows that they were.
        count: How many there are; the rest are filling.
        lanes: How many are pruned at a time.
        layout: Of the rows.
        rank: From what each feature's change costs, `[n, features]`, to what is tried first: the
            highest; 0 where nothing is changed.
    """
    owned = owned_columns(layout)
    features = jnp.arange(owned.shape[0])

    def ranks(state: _Pruned, known: Known) -> Array:
        costs = jnp.abs(state.x - known.row) @ owned.T
        return jnp.where(state.tried | state.kept, 0.0, rank(costs))

    def step(known: Known, state: _Pruned) -> tuple[_Pruned, Array]:
        feature = jnp.argmax(ranks(state, known), axis=1)
        x = retreat(known, state.x, feature, owned[feature])
        changed = jnp.any(x != state.x, axis=1)[:, None]
        own = features == feature[:, None]
        kept = jnp.where(changed, False, state.kept | own)
        state = _Pruned(x, state.tried | own, kept, state.rounds)
        ended = jnp.max(ranks(state, known), axis=1) <= 0.0
        state = state._replace(
            tried=jnp.where(ended[:, None], False, state.tried), rounds=state.rounds + ended
        )
        nothing = jnp.max(ranks(state, known), axis=1) <= 0.0
        return state, nothing | (state.rounds >= _ROUNDS)

    none = jnp.zeros((len(x), len(features)), bool)
    start = _Pruned(x, none, none, jnp.zeros(len(x), jnp.int32))
    return through_lanes(step, known, start, count, lanes).x
