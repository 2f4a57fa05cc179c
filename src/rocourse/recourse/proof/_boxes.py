"""Boxes of encoded rows: an interval for each number, a choice of categories for each group."""

from typing import NamedTuple

import numpy as np

from rocourse.schema import Layout, Rows


class Boxes(NamedTuple):
    """Many boxes."""

    low: np.ndarray
    """Least encoded numbers, float64 `[n, n_continuous]`."""
    high: np.ndarray
    """Greatest encoded numbers, `[n, n_continuous]`."""
    allowed: np.ndarray
    """Which categories may be chosen, bool `[n, width - n_continuous]`."""

    def take(self, where: np.ndarray) -> "Boxes":
        """Some of them."""
        return Boxes(*(part[where] for part in self))

    @classmethod
    def concatenate(cls, parts: list["Boxes"]) -> "Boxes":
        """All of them."""
        return cls(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def group_starts(layout: Layout) -> np.ndarray:
    """Where each group begins among the one-hot columns."""
    return np.array([part.start - layout.n_continuous for part in layout.group_slices], np.intp)


def highest(rows: np.ndarray, boxes: Boxes, layout: Layout) -> np.ndarray:
    """The greatest value that linear functions have in each box.

    Args:
        rows: Their coefficients, `[r, width]`, or those of each box, `[..., n, r, width]`.
        boxes: n boxes.
        layout: Of the encoded rows.

    Returns:
        `[..., n, r]`.
    """
    cut = layout.n_continuous
    numbers, columns = rows[..., :cut], rows[..., cut:]
    rise, fall = np.maximum(numbers, 0.0), np.minimum(numbers, 0.0)
    if rows.ndim == 2:
        most: np.ndarray = boxes.high @ rise.T + boxes.low @ fall.T
    else:
        ends = boxes.high[..., None], boxes.low[..., None]
        most = ((rise @ ends[0]) + (fall @ ends[1]))[..., 0]
    if layout.group_sizes:
        chosen = np.where(boxes.allowed[:, None], columns, -np.inf)
        most = most + np.maximum.reduceat(chosen, group_starts(layout), axis=-1).sum(axis=-1)
    return most


def top(rows: np.ndarray, boxes: Boxes, layout: Layout) -> Rows:
    """Where a linear function of each box, `[n, width]`, is greatest."""
    cut = layout.n_continuous
    values = np.where(rows[:, :cut] > 0.0, boxes.high, boxes.low)
    columns = np.where(boxes.allowed, rows[:, cut:], -np.inf)
    codes = [
        columns[:, part.start - cut : part.stop - cut].argmax(axis=1)
        for part in layout.group_slices
    ]
    categories = np.stack(codes, axis=1) if codes else np.zeros((len(rows), 0), int)
    return Rows(values.astype(np.float32), categories.astype(layout.category_dtype))


def counts(boxes: Boxes, layout: Layout) -> np.ndarray:
    """How many categories each group has left, `[n, n_groups]`."""
    if not layout.group_sizes:
        return np.zeros((len(boxes.low), 0), np.intp)
    return np.add.reduceat(boxes.allowed.astype(np.intp), group_starts(layout), axis=1)
