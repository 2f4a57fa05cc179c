"""What each row's own edits of single features change about its leaves, compiled by Numba.

As in `_edits`, but that each edit is a walker of its own: edits of different rows share nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from rocourse.models.trees._kernels import compiled, still_walking, turns_right

# So many rows take a step together, which stay in the processor's nearest cache.
_ROWS = 32
# Of trees deeper than this, those that have arrived are left out at every second step.
_STEPS = 8
_ONE = np.uint32(1)


class OwnEdits(NamedTuple):
    """Edits of rows, those of a feature one after the other."""

    codes: np.ndarray
    """What the feature becomes, `[n, edits]`."""
    first: np.ndarray
    """The first edit of each feature, `[n, features + 1]`."""
    order: np.ndarray
    """Which of the row's edits it is, `[n, edits]`."""


@compiled
def in_order(feature: np.ndarray, codes: np.ndarray, n_features: int) -> Any:
    """The edits of rows, `[n, edits]`, by their features: what `OwnEdits` holds."""
    n, size = feature.shape
    sorted_codes, order = np.empty((n, size), np.uint32), np.empty((n, size), np.uint32)
    first = np.zeros((n, n_features + 1), np.uint32)
    for r in range(n):
        for e in range(size):
            first[r, feature[r, e] + 1] += _ONE
        for f in range(n_features):
            first[r, f + 1] += first[r, f]
        place = first[r].copy()
        for e in range(size):
            f = feature[r, e]
            sorted_codes[r, place[f]], order[r, place[f]] = codes[r, e], e
            place[f] += _ONE
    return sorted_codes, first, order


@compiled
def add_own_edits(
    nodes: np.ndarray,
    turns: np.ndarray | None,
    value: np.ndarray,
    roots: np.ndarray,
    depth: np.ndarray,
    codes: np.ndarray,
    edits: OwnEdits,
    sums: np.ndarray,
    changes: np.ndarray,
) -> None:
    """Adds the leaves of rows, and what their own edits change about them.

    Args:
        nodes: Of the trees.
        turns: Of nodes that look at categories.
        value: `[nodes]`.
        roots: `[trees]`.
        depth: Of each tree.
        codes: Of the rows.
        edits: Of the rows.
        sums: The rows' leaves are added, `[n]`.
        changes: What each edit changes is added, `[n, edits]`.
    """
    rows, size = min(_ROWS, codes.shape[0]), edits.codes.shape[1]
    new, order, begin = edits.codes, edits.order, edits.first
    most = rows * size + 1
    node, row, which = (
        np.empty(most, np.uint32),
        np.empty(most, np.uint32),
        np.empty(most, np.uint32),
    )
    feature, walking = np.empty(most, np.uint32), np.empty(most, np.uint32)
    at, on_path = np.empty(rows, np.uint32), np.empty(rows + 1, np.uint32)
    # The last tree whose path an edit has left.
    gone = np.zeros(new.shape, np.uint32)
    for t in range(len(roots)):
        tree = np.uint32(t + 1)
        for start in range(0, codes.shape[0], _ROWS):
            here, last = np.uint64(start), min(_ROWS, codes.shape[0] - start)
            for i in range(last):
                at[np.uint64(i)], on_path[np.uint64(i)] = roots[t], i
            known, n_walking, n_rows = np.uint64(0), np.uint64(0), np.uint64(last)
            for level in range(depth[t]):
                for j in range(n_walking):
                    i = walking[np.uint64(j)]
                    k, r = node[i], row[i]
                    column = nodes[k, 0]
                    old, edited = codes[r, column], new[r, which[i]]
                    code = edited if column >> _ONE == feature[i] else old
                    right = turns_right(nodes, turns, k, code)
                    node[i] = nodes[k, 2] + np.uint32(right)
                for j in range(n_rows):
                    i = on_path[np.uint64(j)]
                    r, k = here + np.uint64(i), at[i]
                    column, child = nodes[k, 0], nodes[k, 2]
                    right = turns_right(nodes, turns, k, codes[r, column])
                    at[i] = child + np.uint32(right)
                    changed = column >> _ONE
                    for edit in range(begin[r, changed], begin[r, changed + _ONE]):
                        e = np.uint32(edit)
                        leaves = turns_right(nodes, turns, k, new[r, e]) != right
                        leaves &= gone[r, e] != tree
                        gone[r, e] = tree if leaves else gone[r, e]
                        node[known], row[known] = child + np.uint32(not right), r
                        which[known], feature[known] = e, changed
                        walking[n_walking] = known
                        known += np.uint64(leaves)
                        n_walking += np.uint64(leaves)
                if depth[t] > _STEPS and level & 1:
                    n_walking = still_walking(nodes, node, walking, n_walking)
                    n_rows = still_walking(nodes, at, on_path, n_rows)
            for i in range(last):
                sums[here + np.uint64(i)] += value[at[np.uint64(i)]]
            for j in range(known):
                w = np.uint64(j)
                r = np.uint64(row[w])
                changes[r, order[r, which[w]]] += value[node[w]] - value[at[r - here]]
