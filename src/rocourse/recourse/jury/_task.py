"""What a search for a jury's consent is given: the jury, what may be done, and the rows."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models.jurors import leaves_left, possible_leaves
from rocourse.recourse.jury._standing import Jury, StackedJury, stacked
from rocourse.recourse.search import (
    Edits,
    Grid,
    Numbers,
    column_features,
    edit_layers,
    steered_layers,
)
from rocourse.schema import Layout
from rocourse.schema.constraints import ConstraintLayer


class Task(NamedTuple):
    """Whom rows have to convince, and what may be done."""

    jury: StackedJury
    edits: Edits
    grid: Grid
    constraints: ConstraintLayer
    added: Numbers
    """What each edit adds to the first layers, `[edits, units]`."""
    node_feature: Numbers
    """The feature that each node of a tree looks at, `[nodes, trees]`."""
    edit_leaves: Numbers
    """The leaves that the nodes of an edit's feature leave possible then, `[edits, trees]`."""
    steered: Numbers | None = None
    """The first layers as numbers move them with what follows them, `[width, units]`."""

    @property
    def layout(self) -> Layout:
        """Of the encoded rows."""
        return self.constraints.layout


class Lanes(NamedTuple):
    """Rows and what is known of them from the start."""

    row: Array
    """Encoded, `[n, width]`."""
    target: Array
    """The class index wanted, `[n]`."""
    level: Array
    """The standard deviations by which all have to lead, `[n]`."""


def task_of(jury: Jury, edits: Edits, grid: Grid, constraints: ConstraintLayer) -> Task:
    """What does not depend on rows, made once."""
    layout, together = constraints.layout, stacked(jury)
    trees = together.trees
    node_feature = column_features(layout)[np.asarray(trees.column)].astype(np.int16)
    # An edit decides what the nodes of its feature say, whatever the row.
    feature, column, value = (np.asarray(part)[:, None, None] for part in edits[:3])
    here = np.where(np.asarray(trees.column) == column, value, np.float32(0.0))
    ruled = (node_feature == feature) & (here > np.asarray(trees.threshold))
    possible = np.where(ruled, np.asarray(trees.stays), np.uint8(255))
    first = np.asarray(together.first)
    steered = steered_layers(constraints.actions, first)
    return Task(
        together,
        edits,
        grid,
        constraints,
        edit_layers(first if steered is None else steered, edits),
        node_feature,
        np.bitwise_and.reduce(possible, axis=1),
        steered,
    )


def possible_without(task: Task, possible: Array, feature: Array) -> Array:
    """The leaves left by nodes that look at other features than the given.

    Args:
        task: With the trees.
        possible: The leaves that each node leaves possible, `[n, nodes, trees]`.
        feature: Those of each row that are left out, `[n, ...]`.

    Returns:
        uint8 `[n, ..., trees]`.
    """
    more = feature.ndim - 1
    nodes = possible.reshape(possible.shape[0], *(1,) * more, *possible.shape[1:])
    out = task.node_feature == feature[..., None, None].astype(jnp.int16)
    return leaves_left(jnp.where(out, jnp.uint8(255), nodes))


def rows_leaves(task: Task, x: Array) -> Array:
    """The leaves that each node leaves possible for encoded rows `[n, width]`."""
    return possible_leaves(task.jury.trees, x)
