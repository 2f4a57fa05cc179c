"""Single changes of a row: which there are, whose columns they touch, for whom they are allowed."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.schema import Layout
from rocourse.schema.constraints import Limits

Numbers = Array | np.ndarray


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


def allowed_edit(edit: tuple[Array, Array, Array], limits: Limits, layout: Layout) -> Array:
    """For which rows, as columns, an edit (feature, column, value) keeps to the limits: `[n]`."""
    feature, column, value = edit
    cut = layout.n_continuous
    low, high, categories = limits
    if not layout.group_sizes:
        return (low[feature] <= value) & (value <= high[feature])
    if not cut:
        return categories[column]
    number = jnp.minimum(feature, cut - 1)
    within = (low[number] <= value) & (value <= high[number])
    return jnp.where(feature < cut, within, categories[jnp.maximum(column - cut, 0)])


def owned_columns(layout: Layout) -> Array:
    """Which encoded columns are a feature's, float32 `[features, width]`."""
    sizes = (1,) * layout.n_continuous + tuple(layout.group_sizes)
    return jnp.asarray(np.repeat(np.eye(len(sizes), dtype=np.float32), sizes, axis=1))
