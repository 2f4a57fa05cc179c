"""What an ensemble of trees says of rows, and of many single changes of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rocourse.errors import DataError
from rocourse.models.trees import _kernels as kernels
from rocourse.models.trees._ensemble import TreeEnsemble
from rocourse.models.trees._symmetric import add_symmetric_edits, symmetric

_KINDS = {
    "nan": kernels.NAN_MISSING,
    "zero": kernels.ZERO_MISSING,
    "never": kernels.NAN_IS_ZERO,
}
# 4 MB of float64.
_CELLS = 1 << 19


@final
@dataclass(frozen=True, eq=False)
class TreeEdits:
    """Changes of one feature each, made ready for one evaluator by `TreeEvaluator.edits`.

    Attributes:
        feature: Which feature, `[edits]` for all rows or `[n, edits]`.
        missing: Which edits make the feature missing: such values have no place in an order.
        slot: The place of each edit among all, those of a feature in ascending order.
        slot_codes: The code of each place's edit.
        node_slots: As of `add_edits`, `[nodes, 3]`; of symmetric trees those of their levels.
        start: The first slot of each feature, `[features + 1]`.
    """

    feature: np.ndarray
    missing: np.ndarray
    slot: np.ndarray
    slot_codes: np.ndarray
    node_slots: np.ndarray
    start: np.ndarray


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
        order, parent, self._depth = _siblings_together(ensemble)
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        feature, code_set = ensemble.feature[order], ensemble.code_set[order]
        self._coding, cut = _coding(ensemble, order)
        turns = _turns(ensemble.left_codes)
        self._nodes = np.zeros((len(order), 4), np.uint32)
        inner = feature >= 0
        self._nodes[:, 0] = kernels.LEAF
        self._nodes[inner, 0] = 2 * feature[inner] + ~ensemble.missing_left[order][inner]
        self._nodes[:, 1] = cut
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
        # The roots and leaves of each output.
        self._outputs = []
        for k in range(len(ensemble.base)):
            shared = ensemble.value.shape[1] > 1
            roots = ensemble.root if shared else ensemble.root[ensemble.output == k]
            value = np.ascontiguousarray(ensemble.value[order, k if shared else 0])
            self._outputs.append((place[roots], value))

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
        at = self._offset[feature] + np.where(missing, 0, codes)
        asked = np.zeros(self._offset[-1] + 1, bool)
        asked[at[~missing]] = True
        before = np.concatenate([[0], np.cumsum(asked)])
        places = np.flatnonzero(asked)
        # One more slot after those of each feature, where its last interval ends.
        own = np.searchsorted(self._offset, places, side="right") - 1
        slot_codes = np.zeros(len(places) + self.ensemble.n_features, np.uint32)
        slot_codes[np.arange(len(places)) + own] = places - self._offset[own]
        start = before[self._offset] + np.arange(len(self._offset))
        start[-1] = len(slot_codes)
        slots = self._node_slots(before)
        return TreeEdits(feature, missing, before[at] + feature, slot_codes, slots, start)

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
        # What is changed from slot to slot, of as many rows at a time as stay in a cache.
        size = max(1, min(n, _CELLS // len(edits.slot_codes)))
        steps = np.empty((size, len(edits.slot_codes)))
        for k, output in enumerate(self._outputs):
            for start in range(0, n, size):
                part = slice(start, min(start + size, n))
                sums, changes = self._changes(k, output, codes[part], edits, steps)
                if edits.slot.ndim == 1:
                    told = changes[:, edits.slot]
                else:
                    told = np.take_along_axis(changes, edits.slot[part], axis=1)
                result[part, :, k] = told + (sums[:, None] + self.ensemble.base[k])
        for edit, chosen, feature in _missing_edits(edits, n):
            result[chosen, edit] = self._sums(self._with_missing(codes[chosen], feature))
        return result

    def _changes(
        self,
        k: int,
        output: tuple[np.ndarray, np.ndarray],
        codes: np.ndarray,
        edits: TreeEdits,
        steps: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """An output's sums of rows, `[n]`, and what edits change about them, `[n, slots]`."""
        roots, value = output
        sums, steps = np.zeros(len(codes)), steps[: len(codes)]
        if self._symmetric is not None:
            leaves = self._leaves[k]
            slots, start = edits.node_slots, edits.start
            add_symmetric_edits(self._symmetric, leaves, slots, start, codes, sums, steps)
            return sums, steps
        steps.fill(0.0)
        kernels.add_edits(
            self._nodes,
            edits.node_slots,
            self._turns,
            edits.slot_codes,
            value,
            roots,
            self._depth,
            codes,
            sums,
            steps,
        )
        return sums, np.cumsum(steps, axis=1, out=steps)

    def _sums(self, codes: np.ndarray) -> np.ndarray:
        result = np.empty((len(self._outputs), len(codes)))
        result[:] = self.ensemble.base[:, None]
        for sums, (roots, value) in zip(result, self._outputs, strict=True):
            kernels.add_leaves(self._nodes, self._turns, value, roots, codes, sums)
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


def _siblings_together(ensemble: TreeEnsemble) -> tuple[np.ndarray, np.ndarray, int]:
    """An order of the nodes in which a tree's lie together, a right child after the left one.

    Returns:
        The order, each node's parent in that order (of a root, itself), and the greatest depth.
    """
    nodes, tree = ensemble.root, np.arange(len(ensemble.root))
    levels, trees, parents = [nodes], [tree], [nodes]
    while True:
        inner = ensemble.feature[nodes] >= 0
        above, tree = np.repeat(nodes[inner], 2), np.repeat(tree[inner], 2)
        nodes = np.stack([ensemble.left[nodes[inner]], ensemble.right[nodes[inner]]], 1).ravel()
        if not len(nodes):
            break
        levels.append(nodes)
        trees.append(tree)
        parents.append(above)
    by_tree = np.argsort(np.concatenate(trees), kind="stable")
    order = np.concatenate(levels)[by_tree]
    place = np.empty(len(ensemble.feature), np.uint32)
    place[order] = np.arange(len(order))
    return order, place[np.concatenate(parents)[by_tree]], len(levels) - 1


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
