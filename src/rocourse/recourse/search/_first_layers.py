"""All edits of rows at once: first layers move linearly with a row, the rest is asked anew."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.recourse.search._edits import Edits, Numbers, owned_columns
from rocourse.schema import Layout

# Columns that networks are asked about at a time: enough for the processor's vectors, few enough
# for its cache.
_COLUMNS = 64
# Rows of which shares of a way are asked about one after the other: of each most never are.
_ALONG = 8

Ask = Callable[[Array], Array]
"""From first layers before their rectifiers, `[units, n]`, to scores `[..., n]`."""


def edit_layers(weight: np.ndarray, edits: Edits) -> np.ndarray:
    """What each edit adds to first layers, `[edits, units]`, of weights `[width, units]`."""
    added: np.ndarray = weight[np.asarray(edits.column)] * np.asarray(edits.value)[:, None]
    return added


class Columns(NamedTuple):
    """Encoded rows by feature: the one column of each that is not zero, and what stands there."""

    column: Array
    """`[features, n]`."""
    value: Array
    """`[features, n]`; 1 for a category."""

    @classmethod
    def of(cls, x: Array, layout: Layout) -> "Columns":
        """Of encoded rows as columns `[width, n]`, each feature with a single category."""
        cut = layout.n_continuous
        # As a product with a thin matrix: the column of a group is where its one is.
        places = np.arange(layout.width, dtype=np.float32)[:, None]
        column = owned_columns(layout)[cut:] @ (places * x)
        numbers = jnp.broadcast_to(places[:cut], (cut, x.shape[1]))
        value = jnp.concatenate([x[:cut], jnp.ones(column.shape, x.dtype)])
        return cls(jnp.concatenate([numbers, column]).astype(jnp.int32), value)

    def of_feature(self, feature: Array) -> "Columns":
        """Those of one feature of each row, `[1, n]`."""
        return Columns(*(jnp.take_along_axis(part, feature[None], axis=0) for part in self))


def feature_layers(weight: Numbers, columns: Columns) -> Array:
    """What each feature adds to first layers, `[features, units, n]`.

    Args:
        weight: Of all first layers side by side, `[width, units]`.
        columns: The rows.
    """
    added = jnp.asarray(weight)[columns.column] * columns.value[:, :, None]
    return jnp.moveaxis(added, 1, 2)


def all_feature_layers(weight: Numbers, x: Array, layout: Layout) -> Array:
    """As `feature_layers`, of encoded rows as columns `[width, n]`: of many, by products."""
    if x.shape[1] < _COLUMNS:
        return feature_layers(weight, Columns.of(x, layout))
    cut = layout.n_continuous
    numbers = jnp.asarray(weight)[:cut, :, None] * x[:cut, None, :]
    groups = [jnp.einsum("wu,wn->un", weight[own], x[own])[None] for own in layout.group_slices]
    return jnp.concatenate([numbers, *groups])


def first_layers(weight: Numbers, bias: Numbers, x: Array, layout: Layout) -> Array:
    """The first layers of encoded rows as columns `[width, n]`: `[units, n]`."""
    if x.shape[1] < _COLUMNS:
        made = jnp.sum(feature_layers(weight, Columns.of(x, layout)), axis=0)
    else:
        made = jnp.einsum("wu,wn->un", jnp.asarray(weight), x)
    return made + jnp.asarray(bias)[:, None]


def ask_about_edits(ask: Ask, first: Array, parts: Array, added: Array, feature: Array) -> Array:
    """What networks say of every edit: `[edits, ..., n]`.

    An edit takes away what its feature adds to the first layers, and adds its own.

    Args:
        ask: The networks.
        first: Their first layers, of rows as they are, `[units, n]`.
        parts: What each feature adds to them, `[features, units, n]`.
        added: What each edit adds, `[edits, units]`.
        feature: Of each edit.
    """
    without = first - parts
    n = first.shape[1]

    if n >= _COLUMNS:
        told: Array = jax.lax.map(
            lambda edit: ask(without[edit[0]] + edit[1][:, None]), (feature, added)
        )
        return told
    return _ask_together(ask, jnp.moveaxis(without[feature] + added[:, :, None], 0, 1))


def ask_along(ask: Ask, first: Array, way: Array, shares: Array) -> Callable[[Array, Array], Array]:
    """What networks say at shares of a way.

    Of many rows when it is asked for, since most shares never are; of a few, all at once.

    Args:
        ask: The networks.
        first: Their first layers at the beginning of the way, `[units, n]`.
        way: What the whole way adds to them, `[units, n]`.
        shares: All that may be asked about, `[k, n]`.

    Returns:
        A function of shares `[n]` and their places among all, `[n]`, to scores `[..., n]`.
    """
    if first.shape[1] >= _ALONG:
        return lambda share, place: ask(first + share * way)
    told = _ask_together(ask, first[:, None] + shares * way[:, None])

    def at(share: Array, place: Array) -> Array:
        places = jnp.expand_dims(place, tuple(range(told.ndim - 1)))
        return jnp.take_along_axis(told, places, axis=0)[0]

    return at


def _ask_together(ask: Ask, first: Array) -> Array:
    """What networks say of first layers `[units, k, n]`: `[k, ..., n]`."""
    units, k, n = first.shape
    told = ask(first.reshape(units, -1))
    return jnp.moveaxis(told.reshape(*told.shape[:-1], k, n), -2, 0)
