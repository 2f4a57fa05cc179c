"""What an ensemble of trees says of rows, and of many single changes of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from rocourse.errors import DataError
from rocourse.models.trees import _kernels as kernels
from rocourse.models.trees._edits import add_edits
from rocourse.models.trees._ensemble import TreeEnsemble
from rocourse.models.trees._own_edits import OwnEdits, add_own_edits, in_order
from rocourse.models.trees._symmetric import SIDE_BY_SIDE, add_symmetric_edits, symmetric

_KINDS = {
    "nan": kernels.NAN_MISSING,
    "zero": kernels.ZERO_MISSING,
    "never": kernels.NAN_IS_ZERO,
}
# 1 MB of float64.
_CELLS = 1 << 17


@final
@dataclass(frozen=True, eq=False)
class TreeEdits:
    """Changes of one feature each, made ready for one evaluator by `TreeEvaluator.edits`.

    Attributes:
        feature: Which feature, `[edits]` for all rows or `[n, edits]`.
        missing: Which edits make the feature missing: such values have no place in an order.
        ready: What compiled code is given.
    """

    feature: np.ndarray
    missing: np.ndarray
    ready: "_SharedEdits | OwnEdits"


class _SharedEdits(NamedTuple):
    """The same edits of all rows, in slots: those of a feature in ascending order."""

    slot: np.ndarray
    """The place of each edit."""
    slot_codes: np.ndarray
    """The code of each place's edit."""
    node_slots: np.ndarray
    """As of `add_edits`, `[nodes, 3]`; of symmetric trees those of their levels."""
    start: np.ndarray
    """The first slot of each feature, `[features + 1]`."""


@final
class TreeEvaluator:
    """Evaluates an ensemble of trees: as its library does, but for the rounding of its sums.

    Values become codes once, after which every comparison is one of whole numbers. A call uses one
    core and lets other threads run meanwhile.

    Attributes:
        ensemble: What is evaluated.
    """

    def __init__(self, ensemble: TreeEnsemble) -> None:
        self.ensemble = ensemble
        order, parent, depth = _siblings_together(ensemble)
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        feature, code_set = ensemble.feature[order], ensemble.code_set[order]
        self._coding, cut = _coding(ensemble, order)
        turns = _turns(ensemble.left_codes)
        self._nodes = np.zeros((len(order), 4), np.uint32)
        inner = feature >= 0
        self._nodes[inner, 0] = 2 * feature[inner] + ~ensemble.missing_left[order][inner]
        self._nodes[:, 1] = np.where(inner, cut, kernels.LAST)
        self._nodes[:, 2] = np.arange(len(order))
        self._nodes[inner, 2] = place[ensemble.left[order][inner]]
        self._nodes[:, 3] = code_set + 1
        last = np.diff(self._coding.first)
        self._reach = np.zeros((len(order), 2), np.uint32)
        kernels.add_reach(self._nodes, parent, last, turns, self._reach)
        self._turns = turns if len(turns) > 1 else None
        self._inner, self._inner_feature = np.flatnonzero(inner), feature[inner]
        # Where the codes of each feature begin, when those of all are put side by side.
        widths = np.where(ensemble.categorical, self._coding.n_codes, last) + 1
        self._offset = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        by_node = np.empty(len(order), np.uint32)
        by_node[order] = cut
        self._symmetric = symmetric(ensemble, by_node)
        self._leaves = (
            () if self._symmetric is None else ensemble.value[self._symmetric.order].T.copy()
        )
        # The roots, depths and leaves of each output.
        self._outputs = []
        for k in range(len(ensemble.base)):
            shared = ensemble.value.shape[1] > 1
            trees = np.flatnonzero(shared | (ensemble.output == k))
            value = np.ascontiguousarray(ensemble.value[order, k if shared else 0])
            self._outputs.append((place[ensemble.root[trees]], depth[trees], value))

    def margins(self, rows: np.ndarray) -> np.ndarray:
        """The sums of leaves of rows `[n, features]`: float64 `[n, outputs]`."""
        return self._sums(kernels.row_codes(self._checked(rows), self._coding))

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """The probabilities of rows `[n, features]`: float64 `[n, classes]`."""
        return self.ensemble.probabilities(self.margins(rows))

    def edits(self, feature: Any, value: Any) -> TreeEdits:
        """Makes changes of one feature each ready, for `edit_margins`.

        Args:
            feature: The input column that an edit changes, `[edits]` for all rows or `[n, edits]`.
            value: What it becomes, of the same shape.
        """
        feature, value = np.asarray(feature, np.intp), np.asarray(value, np.float64)
        if feature.shape != value.shape or feature.ndim not in (1, 2):
            raise DataError(
                "The edits' features and values must be arrays of one shape, [edits] or "
                f"[rows, edits], but got {feature.shape} and {value.shape}; give each edit both."
            )
        if feature.size and not 0 <= feature.min() <= feature.max() < self.ensemble.n_features:
            raise DataError(
                f"The edits' features must be from 0 to {self.ensemble.n_features - 1}, but got "
                f"{feature.min()} to {feature.max()}; give the model's input columns."
            )
        codes = kernels.edit_codes(feature.ravel(), value.ravel(), self._coding)
        codes = codes.reshape(feature.shape)
        missing = codes == kernels.MISSING
        if feature.ndim == 2:
            known = np.where(missing, np.uint32(0), codes)
            own = OwnEdits(*in_order(feature, known, self.ensemble.n_features))
            return TreeEdits(feature, missing, own)
        at = self._offset[feature] + np.where(missing, 0, codes)
        asked = np.zeros(self._offset[-1] + 1, bool)
        asked[at[~missing]] = True
        before = np.concatenate([[0], np.cumsum(asked)])
        places = np.flatnonzero(asked)
        # One more slot after those of each feature, where its last interval ends.
        of = np.searchsorted(self._offset, places, side="right") - 1
        slot_codes = np.zeros(len(places) + self.ensemble.n_features, np.uint32)
        slot_codes[np.arange(len(places)) + of] = places - self._offset[of]
        start = before[self._offset] + np.arange(len(self._offset))
        start[-1] = len(slot_codes)
        slots = self._node_slots(before)
        ready = _SharedEdits(before[at] + feature, slot_codes, slots, start)
        return TreeEdits(feature, missing, ready)

    def edit_margins(self, rows: np.ndarray, edits: TreeEdits) -> np.ndarray:
        """The sums of leaves of each row with each edit: float64 `[n, edits, outputs]`.

        Args:
            rows: `[n, features]`, unedited.
            edits: Of this evaluator.
        """
        codes = kernels.row_codes(self._checked(rows), self._coding)
        n = len(codes)
        if edits.feature.ndim == 2 and len(edits.feature) != n:
            raise DataError(
                f"The edits must be those of {n} rows, but got edits of {len(edits.feature)}; give "
                "a line a row, or the same edits for all."
            )
        result = np.empty((n, edits.feature.shape[-1], len(self._outputs)))
        for k in range(len(self._outputs)):
            for part, sums, changes in self._changes(k, codes, edits.ready):
                result[part, :, k] = changes + (sums[:, None] + self.ensemble.base[k])
        for edit, chosen, feature in _missing_edits(edits, n):
            result[chosen, edit] = self._sums(self._with_missing(codes[chosen], feature))
        return result

    def _changes(
        self, k: int, codes: np.ndarray, edits: "_SharedEdits | OwnEdits"
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Which rows, their sums for an output, `[n]`, and what edits change, `[n, edits]`."""
        roots, depth, value = self._outputs[k]
        about = (self._turns, value, roots, depth)
        if isinstance(edits, OwnEdits):
            sums, changes = np.zeros(len(codes)), np.zeros(edits.codes.shape)
            add_own_edits(self._nodes, *about, codes, edits, sums, changes)
            yield slice(None), sums, changes
            return
        slots, slot_codes = edits.node_slots, edits.slot_codes
        # As many rows at a time as stay in a cache.
        size = max(SIDE_BY_SIDE if self._symmetric else 1, _CELLS // len(slot_codes))
        for start in range(0, len(codes), size):
            part = codes[start : start + size]
            sums, steps = np.zeros(len(part)), np.zeros((len(part), len(slot_codes)))
            if self._symmetric is not None:
                leaves = self._leaves[k]
                add_symmetric_edits(self._symmetric, leaves, slots, edits.start, part, sums, steps)
            else:
                add_edits(self._nodes, slots, slot_codes, *about, part, sums, steps)
                np.cumsum(steps, axis=1, out=steps)
            yield slice(start, start + size), sums, steps[:, edits.slot]

    def _sums(self, codes: np.ndarray) -> np.ndarray:
        result = np.empty((len(self._outputs), len(codes)))
        result[:] = self.ensemble.base[:, None]
        for sums, (roots, depth, value) in zip(result, self._outputs, strict=True):
            kernels.add_leaves(self._nodes, self._turns, value, roots, depth, codes, sums)
        return result.T

    def _with_missing(self, codes: np.ndarray, feature: np.ndarray) -> np.ndarray:
        for row, column in enumerate(feature):
            kernels.put_missing(codes, row, column, self._coding)
        return codes

    def _node_slots(self, before: np.ndarray) -> np.ndarray:
        """As of `add_edits`, from the number of asked codes before each."""
        if (trees := self._symmetric) is not None:
            ends: np.ndarray = before[self._offset[trees.feature] + trees.cut + 1] + trees.feature
            return ends
        inner, feature = self._inner, self._inner_feature
        start = self._offset[feature]
        slots = np.zeros((len(self._nodes), 3), np.uint32)
        slots[inner, 0] = before[start + self._nodes[inner, 1] + 1] + feature
        of_codes = self.ensemble.categorical[feature]
        low = start + self._reach[inner, 0]
        high = np.where(of_codes, self._offset[feature + 1], start + self._reach[inner, 1] + 1)
        slots[inner, 1] = before[low] + feature
        slots[inner, 2] = before[high] + feature
        return slots

    def _checked(self, rows: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(rows, np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.ensemble.n_features:
            raise DataError(
                f"The rows must have the {self.ensemble.n_features} columns of the trees, but got "
                f"an array of shape {rows.shape}; see TreeEnsemble.rows."
            )
        return rows


def _missing_edits(edits: TreeEdits, n: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Each edit that makes values missing, of which rows, and which feature of them."""
    for edit in np.flatnonzero(edits.missing.reshape(-1, edits.missing.shape[-1]).any(axis=0)):
        if edits.missing.ndim == 1:
            yield int(edit), np.arange(n), np.full(n, edits.feature[edit])
        else:
            chosen = np.flatnonzero(edits.missing[:, edit])
            yield int(edit), chosen, edits.feature[chosen, edit]


def _siblings_together(ensemble: TreeEnsemble) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An order of the nodes in which a tree's lie together, a right child after the left one.

    Returns:
        The order, each node's parent in that order (of a root, itself), and each tree's depth.
    """
    nodes, tree = ensemble.root, np.arange(len(ensemble.root))
    levels, trees, parents = [nodes], [tree], [nodes]
    depth = np.zeros(len(tree), np.intp)
    while True:
        inner = ensemble.feature[nodes] >= 0
        above, tree = np.repeat(nodes[inner], 2), np.repeat(tree[inner], 2)
        nodes = np.stack([ensemble.left[nodes[inner]], ensemble.right[nodes[inner]]], 1).ravel()
        if not len(nodes):
            break
        depth[tree] += 1
        levels.append(nodes)
        trees.append(tree)
        parents.append(above)
    by_tree = np.argsort(np.concatenate(trees), kind="stable")
    order = np.concatenate(levels)[by_tree]
    place = np.empty(len(ensemble.feature), np.uint32)
    place[order] = np.arange(len(order))
    return order, place[np.concatenate(parents)[by_tree]], depth


def _coding(ensemble: TreeEnsemble, order: np.ndarray) -> tuple[kernels.Coding, np.ndarray]:
    """How values become codes, and the last code that goes to the left at each node."""
    feature = ensemble.feature[order]
    threshold = ensemble.threshold[order]
    cut = np.zeros(len(order), np.uint32)
    parts = []
    for f in range(ensemble.n_features):
        at = (feature == f) & ~ensemble.categorical[f]
        known, cut[at] = np.unique(threshold[at], return_inverse=True)
        parts.append(known)
    kinds = [_KINDS[missing] for missing in ensemble.missing]
    coding = kernels.Coding(
        np.concatenate(parts),
        np.concatenate([[0], np.cumsum([len(part) for part in parts])]),
        np.where(ensemble.categorical, kernels.CATEGORY, kinds),
        max(ensemble.left_codes.shape[1] - 1, 0),
        ensemble.strict,
        ensemble.single,
        ensemble.zero,
    )
    return coding, cut


def _turns(left_codes: np.ndarray) -> np.ndarray:
    """Where codes turn: as `left_codes`, after a first row for nothing, and the two of missing."""
    sets, width = left_codes.shape
    turns = np.zeros((sets + 1, width + 2), np.uint8)
    turns[1:, :width] = ~left_codes * kernels.GOES_RIGHT
    turns[1:, width + 1] = kernels.GOES_RIGHT
    return turns
