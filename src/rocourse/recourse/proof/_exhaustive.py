"""Every point of a row's box, one after the other: for models that are a black box."""

from collections.abc import Iterator

import numpy as np

from rocourse.recourse.proof._reach import Reach
from rocourse.schema import Layout, Rows

_AT_ONCE = 8192


def size_of(reach: Reach, row: int, layout: Layout) -> float:
    """How many points a row's box has; infinite with an interval."""
    return float(np.prod([np.inf if a is None else len(a) for a in _axes(reach, row, layout)]))


def points_of(reach: Reach, row: int, layout: Layout) -> Iterator[Rows]:
    """All points of a row's box, some thousands at a time."""
    axes = [axis for axis in _axes(reach, row, layout) if axis is not None]
    shape = [len(axis) for axis in axes]
    total, cut = int(np.prod(shape)), layout.n_continuous
    for start in range(0, total, _AT_ONCE):
        places = np.unravel_index(np.arange(start, min(start + _AT_ONCE, total)), shape)
        columns = [axis[place] for axis, place in zip(axes, places, strict=True)]
        n = len(places[0])
        yield Rows(
            np.array(columns[:cut], np.float32).reshape(cut, n).T,
            np.array(columns[cut:], layout.category_dtype).reshape(-1, n).T,
        )


def _axes(reach: Reach, row: int, layout: Layout) -> list[np.ndarray | None]:
    """The codes that each number and each group can have; None: an interval."""
    boxes, cut = reach.boxes, layout.n_continuous
    parts = zip(boxes.low[row], boxes.high[row], reach.grids, strict=True)
    numbers = [
        np.array([low]) if low == high else grids[row] if low < high else np.zeros(0)
        for low, high, grids in parts
    ]
    for k in np.flatnonzero(reach.follows):
        # Settling moves it.
        numbers[k] = reach.here[row, [k]]
    groups = [
        np.flatnonzero(boxes.allowed[row, part.start - cut : part.stop - cut])
        for part in layout.group_slices
    ]
    return [*numbers, *groups]
