"""Single changes of a row: which there are, whose columns they touch, for whom they are allowed."""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.schema import Layout, Rows, common_categories
from rocourse.schema.constraints import Limits

Numbers = Array | np.ndarray

EDIT_PRICE = 0.3
"""Added to the price of an edit: without it the many nearly free edits of numbers would come first
and use up the steps."""

AGREEMENT_WORTH = 8.0
"""What agreement of all is worth, as cost, at a level of one standard deviation. It grows with the
level's square: near to certain, every further share of models takes more."""

CAUTION = 0.9
"""Few members say less about the next one than normal leads would."""

CONSENT = 0.25
"""The model itself has to lead by so much, in standard deviations, if it did."""

FINE_QUANTILES = tuple(np.linspace(0.01, 0.99, 50).tolist())
"""Of numbers that people can change only so far: there must be values that they reach."""

Edit = tuple[int, int, float]
"""Feature, column and value."""

FromHere = tuple[np.ndarray, Rows]
"""What is closed to each row, bool `[n, width]`, and where its search begins."""


class Edits(NamedTuple):
    """The single changes that may be made to a row."""

    feature: Numbers
    """Which feature, numbers first, `[edits]`."""
    column: Numbers
    """Its encoded column, `[edits]`."""
    value: Numbers
    """What the column becomes; 1 for a category, `[edits]`."""
    low: Numbers
    """The least and the greatest value of each number that is ever asked for, `[n_continuous]`."""
    high: Numbers


def made_edits(edits: Sequence[Edit], low: np.ndarray, high: np.ndarray) -> Edits:
    """Single edits side by side, with the least and the greatest value of each number."""
    feature, column, value = zip(*edits, strict=True)
    return Edits(
        np.asarray(feature, np.int32),
        np.asarray(column, np.int32),
        np.asarray(value, np.float32),
        low.astype(np.float32),
        high.astype(np.float32),
    )


def category_edits(rows: Rows, layout: Layout, min_share: float) -> list[Edit]:
    """The categories that at least this share of the rows have."""
    return [
        (layout.n_continuous + g, int(group.start + code), 1.0)
        for g, (group, codes) in enumerate(common_categories(rows, layout, min_share))
        for code in codes
    ]


def allowed_edits(edits: Edits, limits: Limits, layout: Layout) -> Array:
    """Which edits keep to the limits of rows as columns, `[edits, n]`."""
    cut = layout.n_continuous
    low, high, categories = limits
    number = jnp.minimum(edits.feature, max(cut - 1, 0))
    value = jnp.asarray(edits.value)[:, None]
    if not layout.group_sizes:
        return (low[number] <= value) & (value <= high[number])
    chosen = categories[jnp.maximum(edits.column - cut, 0)]
    if not cut:
        return chosen
    within = (low[number] <= value) & (value <= high[number])
    return jnp.where((jnp.asarray(edits.feature) < cut)[:, None], within, chosen)


def free_edits(edits: Edits, limits: Limits, layout: Layout, *closed: Array) -> Array:
    """As `allowed_edits`, without those of columns that are closed to rows, bool `[n, width]`."""
    allowed = allowed_edits(edits, limits, layout)
    for shut in closed:
        allowed = allowed & ~shut.T[edits.column]
    return allowed


def starting(closed: np.ndarray, starts: Rows) -> tuple[np.ndarray, ...]:
    """What a search is told of rows to which something is closed, as columns."""
    return closed, starts.continuous, starts.categories


def edit_costs(edits: Edits, row: Array, layout: Layout) -> Array:
    """How far each edit takes its feature from encoded rows as columns, `[edits, n]`."""
    moved = jnp.abs(jnp.asarray(edits.value)[:, None] - row[edits.column])
    is_number = (jnp.asarray(edits.feature) < layout.n_continuous)[:, None]
    # Another category is two columns away from the row's own.
    return jnp.where(is_number, moved, 2.0 * moved)


def edited(x: Array, place: Array, edits: Edits, owned: Array) -> Array:
    """Each row, `[width, n]`, with an edit of its own."""
    own = owned[edits.feature[place]].T > 0
    here = jnp.arange(x.shape[0])[:, None] == edits.column[place]
    return jnp.where(here, edits.value[place], jnp.where(own, 0.0, x))


def column_features(layout: Layout) -> np.ndarray:
    """The feature that each encoded column belongs to, numbers first, `[width]`."""
    sizes = (1,) * layout.n_continuous + tuple(layout.group_sizes)
    return np.repeat(np.arange(len(sizes)), sizes)


def owned_columns(layout: Layout) -> Array:
    """Which encoded columns are a feature's, float32 `[features, width]`."""
    sizes = (1,) * layout.n_continuous + tuple(layout.group_sizes)
    return jnp.asarray(np.repeat(np.eye(len(sizes), dtype=np.float32), sizes, axis=1))
