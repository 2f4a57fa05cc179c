"""Boosted trees as arrays: trained by scikit-learn, asked by compiled code."""

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models.jurors._networks import Numbers
from rocourse.models.trees import TreeEnsemble, read_trees

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier

_ROUNDS = 40
_LEARNING_RATE = 0.15
# As many as a byte has bits: see `Trees`.
_LEAVES = 8
_DEPTH = 4
# Greater than every value: the threshold of nodes that do not exist.
_NOWHERE = np.finfo(np.float32).max
# A leaf of fewer rows says nothing; of few rows, the trees have to make do with less.
_LEAF_ROWS = 20


class Trees(NamedTuple):
    """Ensembles of trees side by side, each of at most eight leaves, in their order.

    A tree is asked without walking through it: every inner node that sends a row to the right
    rules out the leaves on its left, and the first leaf that is left is the row's. All nodes are
    looked at together, which is far faster here than following a path.
    """

    column: Numbers
    """The encoded column that a node looks at, `[ensembles, rounds, logits, nodes]`."""
    threshold: Numbers
    """Greater values go to the right; of nodes that do not exist, none are."""
    stays: Numbers
    """The leaves that are still possible for a row that goes to the right, as bits."""
    value: Numbers
    """`[ensembles, rounds, logits, leaves]`."""
    baseline: Numbers
    """`[ensembles, logits]`: one logit for two classes, else one a class."""


def train_trees(
    x: list[np.ndarray], labels: list[np.ndarray], n_classes: int, *, seed: int
) -> Trees:
    """An ensemble for each set of rows; arguments as of `train_networks`."""
    # Imported by what fits alone: a stored model is loaded and asked without it.
    from sklearn.ensemble import HistGradientBoostingClassifier

    parts = []
    for i, (rows, classes) in enumerate(zip(x, labels, strict=True)):
        boosting = HistGradientBoostingClassifier(
            max_iter=_ROUNDS,
            learning_rate=_LEARNING_RATE,
            max_leaf_nodes=_LEAVES,
            max_depth=_DEPTH,
            min_samples_leaf=max(2, min(_LEAF_ROWS, len(rows) // 20)),
            early_stopping=False,
            random_state=seed + i,
        )
        parts.append(_arrays(boosting.fit(rows, classes), n_classes))
    return Trees(*(np.stack(arrays) for arrays in zip(*parts, strict=True)))


class FlatTrees(NamedTuple):
    """The trees of all ensembles side by side: the axis that lies together in memory."""

    column: Numbers
    """`[nodes, trees]`, as the next two."""
    threshold: Numbers
    stays: Numbers
    value: Numbers
    """`[leaves, trees]`."""
    member: Numbers
    """Which logit of which ensemble a tree adds to, float32 `[trees, ensembles * logits]`."""
    baseline: Numbers
    """`[ensembles, logits]`."""


def flat_trees(trees: Trees) -> FlatTrees:
    """The same trees, side by side."""
    ensembles, rounds, logits, nodes = trees.column.shape
    adds_to = np.broadcast_to(
        np.arange(ensembles * logits).reshape(ensembles, 1, logits), (ensembles, rounds, logits)
    )
    column, threshold, stays = (array.reshape(-1, nodes).T for array in trees[:3])
    return FlatTrees(
        column,
        threshold,
        stays,
        trees.value.reshape(-1, _LEAVES).T,
        np.eye(ensembles * logits, dtype=np.float32)[adds_to.ravel()],
        trees.baseline,
    )


def tree_scores(trees: Trees, x: Array) -> Array:
    """The score of each class for encoded rows as columns `[width, n]`: `[ensembles, classes, n]`.

    Scores are log-odds: of two classes the first one's is zero.
    """
    flat = flat_trees(trees)
    logits = jnp.moveaxis(leaf_logits(flat, leaves_left(possible_leaves(flat, x.T))), 0, -1)
    if logits.shape[1] == 1:
        logits = jnp.concatenate([jnp.zeros_like(logits), logits], axis=1)
    return logits


def possible_leaves(trees: FlatTrees, x: Array) -> Array:
    """The leaves that each node leaves possible for encoded rows `[n, width]`, as bits.

    Returns:
        uint8 `[n, nodes, trees]`.
    """

    def look_up() -> Array:
        return jnp.where(x[:, trees.column] > trees.threshold, trees.stays, jnp.uint8(255))

    def everything() -> Array:
        return jnp.full((len(x), *trees.column.shape), 255, jnp.uint8)

    # The condition always holds. It keeps the compiler from looking values up inside the loops that
    # work on the leaves, which would then no longer be made of the processor's vectors.
    possible: Array = jax.lax.cond(jnp.isfinite(x[0, 0]), look_up, everything)
    return possible


def leaves_left(possible: Array) -> Array:
    """The leaves that no node rules out: `[..., nodes, trees]` to `[..., trees]`."""
    left = possible[..., 0, :]
    for node in range(1, possible.shape[-2]):
        left = left & possible[..., node, :]
    return left


def leaf_logits(trees: FlatTrees, left: Array) -> Array:
    """What ensembles say of leaves that are left, `[..., trees]`: `[..., ensembles, logits]`."""
    first = left & (~left + jnp.uint8(1))
    told = jnp.zeros(left.shape, jnp.float32)
    for leaf in range(_LEAVES):
        told = told + jnp.where(first == jnp.uint8(1 << leaf), trees.value[leaf], 0.0)
    # Exactly, also where products are made of shorter numbers by default.
    sums = jnp.matmul(told, trees.member, precision="highest")
    return sums.reshape(*left.shape[:-1], *trees.baseline.shape) + trees.baseline


def _arrays(boosting: "HistGradientBoostingClassifier", n_classes: int) -> tuple[np.ndarray, ...]:
    """The nodes of a fitted ensemble, padded to one number of nodes."""
    ensemble = read_trees(boosting)
    n_logits = 1 if n_classes == 2 else n_classes
    shape = (_ROUNDS, n_logits, _LEAVES - 1)
    column, threshold = np.zeros(shape, np.int32), np.full(shape, _NOWHERE, np.float32)
    stays = np.full(shape, 255, np.uint8)
    value = np.zeros((_ROUNDS, n_logits, _LEAVES), np.float32)
    for tree, root in enumerate(ensemble.root):
        i, k = divmod(tree, n_logits)
        inner, leaves, lost = _in_order(ensemble, int(root))
        column[i, k, : len(inner)] = ensemble.feature[inner]
        # Values are float32: the greatest of them that is not above the threshold.
        threshold[i, k, : len(inner)] = _at_most(ensemble.threshold[inner])
        stays[i, k, : len(inner)] = [255 - bits for bits in lost]
        value[i, k, : len(leaves)] = ensemble.value[leaves, 0]
    return column, threshold, stays, value, ensemble.base.astype(np.float32)


def _in_order(ensemble: TreeEnsemble, root: int) -> tuple[list[int], list[int], list[int]]:
    """Inner nodes, leaves from left to right, and the leaves on each inner node's left as bits."""
    inner: list[int] = []
    leaves: list[int] = []
    lost: list[int] = []

    def visit(node: int) -> None:
        if ensemble.feature[node] < 0:
            leaves.append(node)
            return
        place, start = len(inner), len(leaves)
        inner.append(node)
        lost.append(0)
        visit(ensemble.left[node])
        lost[place] = sum(1 << leaf for leaf in range(start, len(leaves)))
        visit(ensemble.right[node])

    visit(root)
    return inner, leaves, lost


def _at_most(thresholds: np.ndarray) -> np.ndarray:
    rounded = thresholds.astype(np.float32)
    return np.where(
        rounded > thresholds, np.nextafter(rounded, np.float32(-np.inf)), rounded
    ).astype(np.float32)
