"""The slope of a probability by coordinate differences, for models without a gradient."""

from collections.abc import Callable, Iterator

import numpy as np

from rocourse.models.adapters._views import Reach
from rocourse.schema import Layout

Probability = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Encoded rows `[m, width]` and target classes `[m]` to probabilities `[m]`."""

# Cells of the table of moved rows that are in memory at once: 8 MB of float32.
_CELLS = 1 << 21


def coordinate_slopes(
    probability: Probability,
    x: np.ndarray,
    target: np.ndarray,
    reach: Reach,
    layout: Layout,
) -> tuple[np.ndarray, np.ndarray]:
    """Probability of each row's target, and its difference quotients along every column.

    A continuous column j moves to x_j ± h, both cut at the ends of its range, and the slope is the
    difference of the two probabilities over the distance between the two points: central inside,
    one-sided at an end. A category column j replaces its whole group: its slope is
    p(group := j) − p(row as it is), the gain of changing to that category, which is zero for the
    category the row has.

    Args:
        probability: The model; it is called with many moved rows at once.
        x: Rows as the model sees them, float32 `[n, width]`.
        target: Class index of each row, `[n]`.
        reach: Steps and ends of the continuous columns.
        layout: Shape of the rows.

    Returns:
        Probabilities `[n]` and slopes `[n, width]`, float32.
    """
    here = np.empty(len(x), np.float32)
    slopes = np.empty(x.shape, np.float32)
    for part in _parts(len(x), layout):
        here[part], slopes[part] = _part_slopes(probability, x[part], target[part], reach, layout)
    return here, slopes


def _parts(n: int, layout: Layout) -> Iterator[slice]:
    moves = 1 + layout.width + layout.n_continuous
    size = max(1, _CELLS // (moves * layout.width))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def _part_slopes(
    probability: Probability, x: np.ndarray, target: np.ndarray, reach: Reach, layout: Layout
) -> tuple[np.ndarray, np.ndarray]:
    cut = layout.n_continuous
    up = np.clip(x[:, :cut] + reach.step, reach.low, reach.high)
    down = np.clip(x[:, :cut] - reach.step, reach.low, reach.high)
    moved = _moved_rows(x, up, down, layout)
    # Many moves lead nowhere (the category a row has, an end it stands at): they cost no call.
    differs = (moved != x[:, None, :]).any(axis=2)
    differs[:, 0] = True
    values = np.zeros(differs.shape, np.float32)
    values[differs] = probability(moved[differs], np.repeat(target, differs.sum(axis=1)))
    here = values[:, 0]
    values = np.where(differs, values, here[:, None])
    gap = up - down
    rise = values[:, 1 : 1 + cut] - values[:, 1 + cut : 1 + 2 * cut]
    # A feature with a single allowed value has no gap.
    continuous = np.divide(rise, gap, out=np.zeros_like(rise), where=gap > 0.0)
    categories = values[:, 1 + 2 * cut :] - here[:, None]
    return here, np.hstack([continuous, categories])


def _moved_rows(x: np.ndarray, up: np.ndarray, down: np.ndarray, layout: Layout) -> np.ndarray:
    """Each row as it is, with each number up, each down, and with each category, [n, moves, width].

    The order of moves is that order.
    """
    cut, width = layout.n_continuous, layout.width
    moved = np.repeat(x[:, None, :], 1 + cut + width, axis=1)
    numbers = np.arange(cut)
    moved[:, 1 + numbers, numbers] = up
    moved[:, 1 + cut + numbers, numbers] = down
    for group in layout.group_slices:
        columns = np.arange(group.start, group.stop)
        # The move to column j stands at 1 + 2C + (j - C).
        moves = slice(1 + cut + group.start, 1 + cut + group.stop)
        moved[:, moves, group] = np.eye(len(columns), dtype=np.float32)
    return moved
