"""What edits of single features change about the leaves of rows, compiled by Numba.

An edit of a feature leaves a row's path at the first node that looks at the feature and sends the
new value the other way, so that each node of the path is left once, with all values that leave it
there: an interval of slots, the edits of a feature in ascending order. A walker takes an interval
from there to its leaf, together with the rows themselves, a level at a time; below, nodes that look
at the feature again divide its interval.
"""

from typing import Any, NamedTuple

import numpy as np

from rocourse.models.trees._kernels import (
    GOES_RIGHT,
    REACHES,
    compiled,
    still_walking,
    turns_right,
)

# So many rows take a step together, which stay in the processor's nearest cache.
_ROWS = 64
# Of trees deeper than this, those that have arrived are left out at every second step.
_STEPS = 8
_ONE = np.uint32(1)


class _Walkers(NamedTuple):
    """Intervals of slots on their way down, each of a row."""

    at: np.ndarray
    """The node."""
    row: np.ndarray
    feature: np.ndarray
    low: np.ndarray
    """The first slot."""
    high: np.ndarray
    """After the last slot."""


@compiled
def add_edits(
    nodes: np.ndarray,
    slots: np.ndarray,
    slot_codes: np.ndarray,
    turns: np.ndarray | None,
    value: np.ndarray,
    roots: np.ndarray,
    depth: np.ndarray,
    codes: np.ndarray,
    sums: np.ndarray,
    steps: np.ndarray,
) -> None:
    """Adds the leaves of rows, and what edits of single features change about them.

    Args:
        nodes: Of the trees.
        slots: Of each node the first slot that goes to the right, the first and (after) the last
            slot that get to it, `[nodes, 3]`; of leaves zeros.
        slot_codes: The code of each slot's edit.
        turns: Of nodes that look at categories.
        value: `[nodes]`.
        roots: `[trees]`.
        depth: Of each tree.
        codes: Of the rows.
        sums: The rows' leaves are added, `[n]`.
        steps: The change from each slot to the next is added, `[n, slots]`.
    """
    rows = min(_ROWS, codes.shape[0])
    # Each slot of a row leaves its path once; one more place is written before it is counted.
    most = rows * steps.shape[1] + 1
    walkers = _Walkers(
        np.empty(most, np.uint32),
        np.empty(most, np.uint32),
        np.empty(most, np.uint32),
        np.empty(most, np.uint32),
        np.empty(most, np.uint32),
    )
    walking = np.empty(most, np.uint32)
    at, on_path = np.empty(rows, np.uint32), np.empty(rows + 1, np.uint32)
    for t in range(len(roots)):
        for start in range(0, codes.shape[0], _ROWS):
            first, size = np.uint64(start), min(_ROWS, codes.shape[0] - start)
            for i in range(size):
                at[np.uint64(i)], on_path[np.uint64(i)] = roots[t], i
            known, n_walking, n_rows = np.uint64(0), np.uint64(0), np.uint64(size)
            for level in range(depth[t]):
                known, n_walking = _walk(
                    nodes, slots, turns, slot_codes, codes, walkers, known, walking, n_walking
                )
                known, n_walking = _leave(
                    nodes,
                    slots,
                    turns,
                    slot_codes,
                    codes,
                    first,
                    at,
                    on_path,
                    n_rows,
                    walkers,
                    known,
                    walking,
                    n_walking,
                )
                if depth[t] > _STEPS and level & 1:
                    n_walking = still_walking(nodes, walkers.at, walking, n_walking)
                    n_rows = still_walking(nodes, at, on_path, n_rows)
            for i in range(size):
                sums[first + np.uint64(i)] += value[at[np.uint64(i)]]
            for j in range(known):
                w = np.uint64(j)
                r = np.uint64(walkers.row[w])
                change = value[walkers.at[w]] - value[at[r - first]]
                steps[r, walkers.low[w]] += change
                steps[r, walkers.high[w]] -= change


@compiled
def _walk(
    nodes: np.ndarray,
    slots: np.ndarray,
    turns: np.ndarray | None,
    slot_codes: np.ndarray,
    codes: np.ndarray,
    walkers: _Walkers,
    known: Any,
    walking: np.ndarray,
    n_walking: Any,
) -> Any:
    """Takes walkers one step; where an interval is divided, its right part is a new one.

    Returns:
        How many there are, and how many of them walk.
    """
    now = n_walking
    for j in range(now):
        i = walking[np.uint64(j)]
        k = walkers.at[i]
        column, child = nodes[k, 0], nodes[k, 2]
        right = turns_right(nodes, turns, k, codes[walkers.row[i], column])
        if column >> _ONE == walkers.feature[i] and child != k:
            low, high, cut = walkers.low[i], walkers.high[i], slots[k, 0]
            of_category = False
            if turns is not None:
                of_category = nodes[k, 3] > 0
            if of_category:
                # Those of categories have one slot each.
                right = turns_right(nodes, turns, k, slot_codes[low])
            else:
                right = cut <= low
                if low < cut and cut < high:
                    walkers.high[i] = cut
                    walkers.at[known], walkers.row[known] = child + _ONE, walkers.row[i]
                    walkers.feature[known] = walkers.feature[i]
                    walkers.low[known], walkers.high[known] = cut, high
                    walking[n_walking] = known
                    n_walking += np.uint64(1)
                    known += np.uint64(1)
        walkers.at[i] = child + np.uint32(right)
    return known, n_walking


@compiled
def _leave(
    nodes: np.ndarray,
    slots: np.ndarray,
    turns: np.ndarray | None,
    slot_codes: np.ndarray,
    codes: np.ndarray,
    first: Any,
    at: np.ndarray,
    on_path: np.ndarray,
    n_rows: int,
    walkers: _Walkers,
    known: Any,
    walking: np.ndarray,
    n_walking: Any,
) -> Any:
    """Takes rows one step; what edits send the other way is new walkers.

    Returns:
        How many there are, and how many of them walk.
    """
    for j in range(n_rows):
        i = on_path[np.uint64(j)]
        r, k = first + np.uint64(i), at[i]
        column, child = nodes[k, 0], nodes[k, 2]
        right = turns_right(nodes, turns, k, codes[r, column])
        at[i] = child + np.uint32(right)
        other = child + np.uint32(not right)
        cut, low, high = slots[k, 0], slots[k, 1], slots[k, 2]
        if turns is not None:
            if nodes[k, 3]:
                leaving = REACHES if right else REACHES | GOES_RIGHT
                for s in range(low, high):
                    slot = np.uint32(s)
                    walkers.at[known], walkers.row[known] = other, r
                    walkers.feature[known] = column >> _ONE
                    walkers.low[known], walkers.high[known] = slot, slot + _ONE
                    walking[n_walking] = known
                    leaves = np.uint64(turns[nodes[k, 3], slot_codes[slot]] == leaving)
                    n_walking += leaves
                    known += leaves
                continue
        # Written before it is known whether there is anything: guesses cost more.
        walkers.at[known], walkers.row[known] = other, r
        walkers.feature[known] = column >> _ONE
        after, before = max(low, cut), min(high, cut)
        low, high = low if right else after, before if right else high
        walkers.low[known], walkers.high[known] = low, high
        walking[n_walking] = known
        leaves = np.uint64(low < high)
        n_walking += leaves
        known += leaves
    return known, n_walking
