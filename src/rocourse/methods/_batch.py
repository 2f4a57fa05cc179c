"""Batches of compact rows."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
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


def make_batch(rows: Rows, labels: np.ndarray, indices: np.ndarray, size: int) -> Batch:
    """The rows at `indices`, filled up to `size` with copies of weight zero."""
    weight = np.zeros(size, np.float32)
    weight[: len(indices)] = 1.0
    filled = np.resize(indices, size)
    parts = (rows.continuous[filled], rows.categories[filled], labels[filled], weight)
    return Batch(*(jnp.asarray(part) for part in parts))


def expand_rows(batch: Batch, layout: Layout) -> Array:
    """Compact rows as encoded vectors, `[n, width]`."""
    return jax.vmap(lambda c, k: expand(c, k, layout))(batch.continuous, batch.categories)
