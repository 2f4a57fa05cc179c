"""Walks through trees, compiled by Numba.

Nodes are rows of uint32: the column of codes, the last code that goes to the left, the left child
(the right one comes next), and the row of `turns` of a node that looks at categories, else 0. Of
trees without such nodes `turns` is None, and compiled code does not ask for them. All integers are
unsigned: indices that may be negative cost a third of the time.

Numba keeps what it has compiled beside this file or in the user's cache folder, as Python does its
byte code, and compiles again where neither can be written.
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

LEAF = np.uint32(0xFFFFFFFF)
"""The column of a leaf."""
MISSING = np.uint32(0xFFFFFFFF)
"""The code of a missing value, greater than all others."""
NAN_MISSING, ZERO_MISSING, NAN_IS_ZERO, CATEGORY = range(4)
"""Kinds of features: which values are missing."""
GOES_RIGHT, REACHES = np.uint8(1), np.uint8(2)
"""What `turns` says of a code at a node: it goes to the right; its value can get there at all."""

_ONE = np.uint32(1)
# So many rows are taken through a tree at a time, which stays in the processor's nearest cache.
_ROWS = 64


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
        if nodes[k, 0] == LEAF:
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
def _turns_right(nodes: np.ndarray, turns: np.ndarray | None, k: int, code: int) -> Any:
    if turns is not None:
        if nodes[k, 3]:
            return turns[nodes[k, 3], code] & GOES_RIGHT > 0
    return code > nodes[k, 1]


@compiled
def add_leaves(
    nodes: np.ndarray,
    turns: np.ndarray | None,
    value: np.ndarray,
    roots: np.ndarray,
    codes: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Adds the leaves of rows, `[n, columns]`, to their sums `[n]`."""
    for start in range(0, codes.shape[0], _ROWS):
        for root in roots:
            for row in range(start, min(codes.shape[0], start + _ROWS)):
                r, k = np.uint64(row), root
                while nodes[k, 0] != LEAF:
                    right = _turns_right(nodes, turns, k, codes[r, nodes[k, 0]])
                    k = nodes[k, 2] + np.uint32(right)
                sums[r] += value[k]


@compiled
def add_edits(
    nodes: np.ndarray,
    slots: np.ndarray,
    turns: np.ndarray | None,
    slot_codes: np.ndarray,
    value: np.ndarray,
    roots: np.ndarray,
    depth: int,
    codes: np.ndarray,
    sums: np.ndarray,
    steps: np.ndarray,
) -> None:
    """Adds the leaves of rows, and what edits of single features change about them.

    A row's path is walked once a tree. An edit of a feature leaves it at the first node that looks
    at the feature and sends the new value the other way, so that each node of the path is left
    once, with all values that leave it there: an interval of slots, the edits of a feature in
    ascending order.

    Args:
        nodes: Of the trees.
        slots: Of each node the first slot that goes to the right, the first and (after) the last
            slot that get to it, `[nodes, 3]`.
        turns: Of nodes that look at categories.
        slot_codes: The code of each slot's edit.
        value: `[nodes]`.
        roots: `[trees]`.
        depth: Of the deepest tree.
        codes: Of the rows.
        sums: The rows' leaves are added, `[n]`.
        steps: The change from each slot to the next is added, `[n, slots]`.
    """
    path = np.empty(depth + 1, np.uint32)
    waiting = np.empty((depth + 1, 3), np.uint32)
    for start in range(0, codes.shape[0], _ROWS):
        for root in roots:
            for row in range(start, min(codes.shape[0], start + _ROWS)):
                r, k, length = np.uint64(row), root, np.uint64(0)
                while nodes[k, 0] != LEAF:
                    path[length] = k
                    length += np.uint64(1)
                    right = _turns_right(nodes, turns, k, codes[r, nodes[k, 0]])
                    k = nodes[k, 2] + np.uint32(right)
                here = value[k]
                sums[r] += here
                for place in range(length):
                    k = path[np.uint64(place)]
                    if slots[k, 1] >= slots[k, 2]:
                        continue
                    if turns is not None:
                        if nodes[k, 3]:
                            _leave_category(
                                nodes, slots, turns, slot_codes, value, codes, r, k, here, steps
                            )
                            continue
                    _leave_number(nodes, slots, turns, value, codes, r, k, here, steps, waiting)


@compiled
def _leave_number(
    nodes: np.ndarray,
    slots: np.ndarray,
    turns: np.ndarray | None,
    value: np.ndarray,
    codes: np.ndarray,
    r: int,
    k: int,
    here: float,
    steps: np.ndarray,
    waiting: np.ndarray,
) -> None:
    """What changes by the numbers that leave a row's path at node `k`.

    Nodes below that look at the number again divide its interval; the right part waits.
    """
    feature, low, high = nodes[k, 0] >> _ONE, slots[k, 1], slots[k, 2]
    if codes[r, nodes[k, 0]] > nodes[k, 1]:
        high, k = min(high, slots[k, 0]), nodes[k, 2]
    else:
        low, k = max(low, slots[k, 0]), nodes[k, 2] + _ONE
    if low >= high:
        return
    n_waiting = np.uint64(0)
    while True:
        while nodes[k, 0] != LEAF:
            if nodes[k, 0] >> _ONE != feature:
                right = _turns_right(nodes, turns, k, codes[r, nodes[k, 0]])
                k = nodes[k, 2] + np.uint32(right)
                continue
            cut = slots[k, 0]
            if cut >= high:
                k = nodes[k, 2]
            elif cut <= low:
                k = nodes[k, 2] + _ONE
            else:
                waiting[n_waiting, 0] = nodes[k, 2] + _ONE
                waiting[n_waiting, 1] = cut
                waiting[n_waiting, 2] = high
                n_waiting += np.uint64(1)
                high, k = cut, nodes[k, 2]
        steps[r, low] += value[k] - here
        steps[r, high] -= value[k] - here
        if n_waiting == 0:
            return
        n_waiting -= np.uint64(1)
        k, low, high = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2]


@compiled
def _leave_category(
    nodes: np.ndarray,
    slots: np.ndarray,
    turns: np.ndarray,
    slot_codes: np.ndarray,
    value: np.ndarray,
    codes: np.ndarray,
    r: int,
    start: int,
    here: float,
    steps: np.ndarray,
) -> None:
    """What changes by the categories that leave a row's path at node `start`.

    All of them come to one leaf, unless a node below looks at the category again.
    """
    feature, row = nodes[start, 0] >> _ONE, nodes[start, 3]
    right = turns[row, codes[r, nodes[start, 0]]] & GOES_RIGHT > 0
    leaving = REACHES if right else REACHES | GOES_RIGHT
    k, again = start, True
    for s in range(slots[start, 1], slots[start, 2]):
        slot = np.uint32(s)
        new = slot_codes[slot]
        if turns[row, new] != leaving:
            continue
        if again:
            k, again = nodes[start, 2] + np.uint32(not right), False
            while nodes[k, 0] != LEAF:
                code = codes[r, nodes[k, 0]]
                if nodes[k, 0] >> _ONE == feature:
                    code, again = new, True
                k = nodes[k, 2] + np.uint32(_turns_right(nodes, turns, k, code))
        steps[r, slot] += value[k] - here
        steps[r, slot + _ONE] -= value[k] - here
