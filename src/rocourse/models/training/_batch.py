"""Batches of compact rows."""

from typing import NamedTuple

import jax
import numpy as np
from jax import Array

from rocourse.schema import Layout, Rows
from rocourse.schema.constraints import expand


class Batch(NamedTuple):
    """Compact rows with labels; rows of weight zero only fill the batch up."""

    continuous: Array
    categories: Array
    label: Array
    weight: Array


def stack_batches(
    rows: Rows, labels: np.ndarray, order: np.ndarray, size: int, count: int
) -> Batch:
    """The rows in the given order as `count` batches of `size`, stacked, `[count, size, ...]`.

    Rows of weight zero fill up the last batch, and batches of nothing else the stack.
    """
    weight = np.zeros(count * size, np.float32)
    weight[: len(order)] = 1.0
    filled = np.resize(order, count * size)
    parts = (rows.continuous[filled], rows.categories[filled], labels[filled], weight)
    # Put there as they are: `jnp.asarray` would compile something for each new shape.
    return Batch(*jax.device_put([p.reshape(count, size, *p.shape[1:]) for p in parts]))


def expand_rows(batch: Batch, layout: Layout) -> Array:
    """Compact rows as encoded columns, `[width, n]`."""
    return expand(batch.continuous.T, batch.categories.T, layout)
