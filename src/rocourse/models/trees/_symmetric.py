"""Symmetric trees, all of whose nodes of a level ask the same: CatBoost's, and stumps.

A row's leaf is a number whose bits are the answers. An edit changes the bits of its feature alone,
so that all values of a feature between two thresholds come to one leaf, which is looked up for many
rows at a time.
"""

from typing import Any, NamedTuple

import numpy as np

from rocourse.models.trees._ensemble import TreeEnsemble
from rocourse.models.trees._kernels import compiled

SIDE_BY_SIDE = 128
"""So many rows are taken through all trees at a time."""


class SymmetricTrees(NamedTuple):
    """Levels and leaves of symmetric trees; L levels of all trees, a tree's by feature and cut."""

    column: np.ndarray
    """The column of codes that a level looks at, `[L]`."""
    cut: np.ndarray
    """The last code that answers 0, `[L]`."""
    feature: np.ndarray
    """`[L]`."""
    bit: np.ndarray
    """The answer's place in the number of a leaf, as a power of two, `[L]`."""
    first: np.ndarray
    """Where each tree's levels begin, `[trees + 1]`."""
    leaf: np.ndarray
    """Where each tree's leaves begin, `[trees]`."""
    order: np.ndarray
    """The nodes of the ensemble that are the leaves, `[leaves]`."""


def symmetric(ensemble: TreeEnsemble, cut: np.ndarray) -> SymmetricTrees | None:
    """The trees of an ensemble level by level; None if some is not symmetric.

    Args:
        ensemble: The ensemble.
        cut: The last code that goes to the left at each of its nodes.
    """
    shared = ensemble.value.shape[1] > 1
    if ensemble.categorical.any() or not len(ensemble.root) or not (shared or _one(ensemble)):
        return None
    levels: list[tuple[int, int, int, int]] = []
    first, leaf = [0], [0]
    order: list[np.ndarray] = []
    for root in ensemble.root.tolist():
        nodes, own = np.array([root]), []
        while ensemble.feature[nodes[0]] >= 0:
            head = nodes[0]
            asked = (ensemble.feature, ensemble.threshold, ensemble.missing_left)
            if not all((part[nodes] == part[head]).all() for part in asked):
                return None
            feature = int(ensemble.feature[head])
            column = 2 * feature + (not ensemble.missing_left[head])
            own.append((feature, int(cut[head]), column, len(nodes)))
            nodes = np.concatenate([ensemble.left[nodes], ensemble.right[nodes]])
        if (ensemble.feature[nodes] >= 0).any():
            return None
        levels += sorted(own)
        first.append(len(levels))
        leaf.append(leaf[-1] + len(nodes))
        order.append(nodes)
    told = np.array(levels, np.uint32).reshape(-1, 4)
    return SymmetricTrees(
        np.ascontiguousarray(told[:, 2]),
        np.ascontiguousarray(told[:, 1]),
        told[:, 0].astype(np.intp),
        np.ascontiguousarray(told[:, 3]),
        np.array(first, np.intp),
        np.array(leaf[:-1], np.intp),
        np.concatenate(order),
    )


def _one(ensemble: TreeEnsemble) -> bool:
    """Whether all trees add to the same single output."""
    return len(ensemble.base) == 1


@compiled
def add_symmetric_edits(
    trees: Any,
    value: np.ndarray,
    slots: np.ndarray,
    start: np.ndarray,
    codes: np.ndarray,
    sums: np.ndarray,
    changes: np.ndarray,
) -> None:
    """The leaves of rows, and what edits of single features change about them.

    Args:
        trees: The trees.
        value: Of their leaves.
        slots: Of each level, the first slot that answers 1, `[L]`.
        start: The first slot of each feature, `[features + 1]`; its last one is not asked about.
        codes: Of the rows, `[n, columns]`.
        sums: The rows' leaves are put there, `[n]`.
        changes: The change by each slot is put there, `[n, slots]`.
    """
    n_slots = changes.shape[1]
    side = np.empty((codes.shape[1], SIDE_BY_SIDE), np.uint32)
    block = np.empty((n_slots, SIDE_BY_SIDE))
    index, rest = np.empty(SIDE_BY_SIDE, np.uint32), np.empty(SIDE_BY_SIDE, np.uint32)
    total, here, last = np.empty(SIDE_BY_SIDE), np.empty(SIDE_BY_SIDE), np.empty(SIDE_BY_SIDE)
    for begin in range(0, codes.shape[0], SIDE_BY_SIDE):
        size = min(codes.shape[0] - begin, SIDE_BY_SIDE)
        side[:] = 0
        for r in range(size):
            for c in range(codes.shape[1]):
                side[c, r] = codes[begin + r, c]
        block[:] = 0.0
        total[:] = 0.0
        for t in range(len(trees.leaf)):
            leaves = value[trees.leaf[t] :]
            index[:] = 0
            for level in range(trees.first[t], trees.first[t + 1]):
                column, cut, bit = trees.column[level], trees.cut[level], trees.bit[level]
                for r in range(SIDE_BY_SIDE):
                    index[r] |= np.uint32(side[column, r] > cut) * bit
            for r in range(SIDE_BY_SIDE):
                here[r] = leaves[index[r]]
                total[r] += here[r]
            level = trees.first[t]
            while level < trees.first[t + 1]:
                feature, mask, end = trees.feature[level], np.uint32(0), level
                while end < trees.first[t + 1] and trees.feature[end] == feature:
                    mask |= trees.bit[end]
                    end += 1
                slot = start[feature]
                if slot + 1 < start[feature + 1]:
                    for r in range(SIDE_BY_SIDE):
                        rest[r] = index[r] & ~mask
                        last[r] = leaves[rest[r]]
                        block[slot, r] += last[r] - here[r]
                    for one in range(level, end):
                        slot, bit = slots[one], trees.bit[one]
                        for r in range(SIDE_BY_SIDE):
                            rest[r] |= bit
                            now = leaves[rest[r]]
                            block[slot, r] += now - last[r]
                            last[r] = now
                level = end
        for feature in range(len(start) - 1):
            for slot in range(start[feature] + 1, start[feature + 1]):
                for r in range(SIDE_BY_SIDE):
                    block[slot, r] += block[slot - 1, r]
        for r in range(size):
            sums[begin + r] = total[r]
            for slot in range(n_slots):
                changes[begin + r, slot] = block[slot, r]
