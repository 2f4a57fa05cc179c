"""Walks through trees, compiled by Numba.

Nodes are rows of uint32: the column of codes, the last code that goes to the left, the left child
(the right one comes next), and the row of `turns` of a node that looks at categories, else 0. Of
trees without such nodes `turns` is None, and compiled code does not ask for them. A leaf is its own
left child, and sends every code there. All integers are unsigned: indices that may be negative cost
a third of the time.

A block of rows takes each step together, without asking who has arrived: a processor waits neither
for one row's next node nor for a guess that was wrong. Of deep trees, rows that have arrived are
left out now and then.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rocourse.errors import DependencyError

try:
    import numba
except ImportError as error:
    raise DependencyError(
        f"The package 'numba' must be installed to evaluate trees, but got {error}; install it "
        "with pip install 'rocourse[trees]'."
    ) from error

LAST = np.uint32(0xFFFFFFFF)
"""The last code that goes to the left at a leaf."""
MISSING = np.uint32(0xFFFFFFFF)
"""The code of a missing value, greater than all others."""
NAN_MISSING, ZERO_MISSING, NAN_IS_ZERO, CATEGORY = range(4)
"""Kinds of features: which values are missing."""
GOES_RIGHT, REACHES = np.uint8(1), np.uint8(2)
"""What `turns` says of a code at a node: it goes to the right; its value can get there at all."""

_ONE = np.uint32(1)
# Rows that take a step together stay in the processor's nearest cache; a tree stays in the next one
# until so many have been taken through it.
_ROWS, _TOGETHER = 128, 4096
# All take so many steps; after them, rows that have arrived are left out at every second one.
_STEPS = 8


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function compiled by Numba when it is first called."""
    # Not kept on disk: the compiled code's index there is a pickle.
    made: Callable[..., Any] = numba.njit(nogil=True, boundscheck=False, error_model="numpy")(
        function
    )
    return made


class Coding(NamedTuple):
    """How values become codes: numbers by the thresholds they are past, categories by their own."""

    thresholds: np.ndarray
    """Of all features, each one's in ascending order."""
    first: np.ndarray
    """Where each feature's begin, `[features + 1]`."""
    kind: np.ndarray
    """`NAN_MISSING`, `ZERO_MISSING`, `NAN_IS_ZERO` or `CATEGORY`, `[features]`."""
    n_codes: int
    """The most categories of a feature: also the code of those that the model does not know."""
    strict: bool
    single: bool
    zero: float
    """As of `TreeEnsemble`."""


@compiled
def _code(value: float, feature: int, coding: Coding) -> Any:
    """A value's code, or `MISSING`."""
    kind = coding.kind[feature]
    if kind == CATEGORY:
        if np.isnan(value):
            return MISSING
        # Compared before it is converted: large numbers have no integer.
        return np.uint32(value) if 0.0 <= value < coding.n_codes else np.uint32(coding.n_codes)
    if coding.single:
        value = float(np.float32(value))
    if abs(value) <= coding.zero or (np.isnan(value) and kind != NAN_MISSING):
        value = 0.0
    if np.isnan(value) or (kind == ZERO_MISSING and value == 0.0):
        return MISSING
    low = coding.first[feature]
    start, length = low, coding.first[feature + 1] - low
    while length > 0:
        half = length >> 1
        threshold = coding.thresholds[start + half]
        if threshold < value or (coding.strict and threshold == value):
            start += half + 1
            length -= half + 1
        else:
            length = half
    return np.uint32(start - low)


@compiled
def edit_codes(feature: np.ndarray, value: np.ndarray, coding: Coding) -> np.ndarray:
    """The codes of single values, each of its own feature: uint32 `[edits]`."""
    codes = np.empty(len(value), np.uint32)
    for i in range(len(value)):
        codes[i] = _code(value[i], feature[i], coding)
    return codes


@compiled
def row_codes(values: np.ndarray, coding: Coding) -> np.ndarray:
    """The codes of rows `[n, features]`: uint32 `[n, 2 * features]`.

    A feature has two columns: for nodes at which missing values go to the left, and for those at
    which they go to the right.
    """
    n, width = values.shape
    codes = np.empty((n, 2 * width), np.uint32)
    for r in range(n):
        for f in range(width):
            code = _code(values[r, f], f, coding)
            codes[r, 2 * f], codes[r, 2 * f + 1] = code, code
            if code == MISSING:
                put_missing(codes, r, f, coding)
    return codes


@compiled
def put_missing(codes: np.ndarray, row: int, feature: int, coding: Coding) -> None:
    """Makes a feature of a row missing."""
    of_category = coding.kind[feature] == CATEGORY
    codes[row, 2 * feature] = coding.n_codes + 1 if of_category else 0
    codes[row, 2 * feature + 1] = coding.n_codes + 2 if of_category else MISSING


@compiled
def add_reach(
    nodes: np.ndarray, parent: np.ndarray, last: np.ndarray, turns: np.ndarray, reach: np.ndarray
) -> None:
    """Finds which codes of its feature get to a node at all, by its ancestors of that feature.

    Args:
        nodes: Parents before children.
        parent: `[nodes]`; of a root, itself.
        last: The greatest code of each feature, `[features]`.
        turns: `REACHES` is filled in.
        reach: Filled in: the first and the last code, `[nodes, 2]`.
    """
    for k in range(len(nodes)):
        if nodes[k, 2] == k:
            continue
        feature, row = nodes[k, 0] >> 1, nodes[k, 3]
        child, above = k, parent[k]
        while child != above and nodes[above, 0] >> 1 != feature:
            child, above = above, parent[above]
        is_root, right = child == above, child != nodes[above, 2]
        if row > 0:
            for code in range(turns.shape[1]):
                if is_root:
                    turns[row, code] |= REACHES
                    continue
                before = turns[nodes[above, 3], code]
                if before & REACHES and (before & GOES_RIGHT > 0) == right:
                    turns[row, code] |= REACHES
        elif is_root:
            reach[k, 0], reach[k, 1] = 0, last[feature]
        elif right:
            reach[k, 0] = max(reach[above, 0], nodes[above, 1] + _ONE)
            reach[k, 1] = reach[above, 1]
        else:
            reach[k, 0] = reach[above, 0]
            reach[k, 1] = min(reach[above, 1], nodes[above, 1])


@compiled
def turns_right(nodes: np.ndarray, turns: np.ndarray | None, k: int, code: int) -> Any:
    """Whether a code goes to the right at a node; at a leaf, not."""
    if turns is not None:
        if nodes[k, 3]:
            return turns[nodes[k, 3], code] & GOES_RIGHT > 0
    return code > nodes[k, 1]


@compiled
def still_walking(nodes: np.ndarray, at: np.ndarray, walking: np.ndarray, n: int) -> Any:
    """Keeps those of the first `n` walkers that have not arrived at a leaf, and counts them."""
    left = np.uint64(0)
    for j in range(n):
        i = walking[np.uint64(j)]
        walking[left] = i
        left += np.uint64(nodes[at[i], 2] != at[i])
    return left


@compiled
def add_leaves(
    nodes: np.ndarray,
    turns: np.ndarray | None,
    value: np.ndarray,
    roots: np.ndarray,
    depth: np.ndarray,
    codes: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Adds the leaves of rows, `[n, columns]`, to their sums `[n]`; `depth` is of each tree."""
    at, walking = np.empty(_ROWS, np.uint32), np.empty(_ROWS + 1, np.uint32)
    for block in range(0, codes.shape[0], _TOGETHER):
        end = min(block + _TOGETHER, codes.shape[0])
        for t in range(len(roots)):
            for start in range(block, end, _ROWS):
                first, size = np.uint64(start), min(_ROWS, end - start)
                for i in range(size):
                    at[np.uint64(i)] = roots[t]
                for _ in range(min(depth[t], _STEPS)):
                    for i in range(size):
                        r, k = np.uint64(i), at[np.uint64(i)]
                        right = turns_right(nodes, turns, k, codes[first + r, nodes[k, 0]])
                        at[r] = nodes[k, 2] + np.uint32(right)
                if depth[t] > _STEPS:
                    n = np.uint64(size)
                    for i in range(size):
                        walking[np.uint64(i)] = i
                    for level in range(_STEPS, depth[t]):
                        if level & 1 == 0:
                            n = still_walking(nodes, at, walking, n)
                        for j in range(n):
                            r = np.uint64(walking[np.uint64(j)])
                            k = at[r]
                            right = turns_right(nodes, turns, k, codes[first + r, nodes[k, 0]])
                            at[r] = nodes[k, 2] + np.uint32(right)
                for i in range(size):
                    sums[first + np.uint64(i)] += value[at[np.uint64(i)]]
