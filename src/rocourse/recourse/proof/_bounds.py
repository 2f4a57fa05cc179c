"""Upper bounds of margins over boxes of rows: linear relaxation from the back (CROWN).

A leaky rectifier lies below the chord over the interval of its input, and above lines through zero.
Put together from the margin back to the row, such lines make one linear function that is nowhere
below the margin; its maximum over a box is found column by column. Intervals of hidden units are
found in the same way, layer by layer (Zhang et al., 2018). All in float64, many boxes at once.
"""

from typing import NamedTuple

import numpy as np

from rocourse.recourse.proof._boxes import Boxes, counts, group_starts, highest, top
from rocourse.recourse.proof._margins import SLOPE, Margins
from rocourse.schema import Layout, Rows


class Bound(NamedTuple):
    """What is known of the least margin over each box."""

    upper: np.ndarray
    """Nowhere in the box it is greater, `[n]`."""
    best: Rows
    """Where the linear bound is greatest."""
    worth: np.ndarray
    """How much of what the bound gives away lies in each number and each group, `[n, f]`."""
    slopes: np.ndarray
    """Of the linear bound, `[n, width]`."""


class _Lines(NamedTuple):
    """A layer's rectifiers over the intervals of their inputs, all `[networks, n, units]`."""

    above: np.ndarray
    """The slope of the chord."""
    offset: np.ndarray
    """Its value at zero."""
    below: np.ndarray
    """The slope of a line through zero that is nowhere above."""
    gap: np.ndarray
    """How far the chord is off at zero, by the length of the interval."""


def _lines(low: np.ndarray, high: np.ndarray) -> _Lines:
    bent = (low < 0.0) & (high > 0.0)
    length = np.where(bent, high - low, 1.0)
    straight = np.where(high <= 0.0, SLOPE, 1.0)
    above = np.where(bent, (high - SLOPE * low) / length, straight)
    offset = np.where(bent, (1.0 - above) * high, 0.0)
    # Of the lines through zero the one that leaves the smaller triangle.
    below = np.where(bent & (high <= -low), SLOPE, straight)
    return _Lines(above, offset, below, offset / length)


def upper_bounds(margins: Margins, boxes: Boxes) -> Bound:
    """Bounds of the least margin over boxes."""
    layout, n = margins.layout, len(boxes.low)
    lines: list[_Lines] = []
    seen: list[np.ndarray] = []
    for depth, (weight, bias) in enumerate(zip(margins.weights, margins.biases, strict=True)):
        both = np.concatenate([weight, -weight], axis=1)
        if depth == 0:
            most = np.stack([highest(rows, boxes, layout) for rows in both])
            coefficients = weight[:, None]
        else:
            shape = (len(weight), n, *both.shape[1:])
            slopes, constant, _ = _back(margins, lines, np.broadcast_to(both[:, None], shape))
            most = highest(slopes, boxes, layout) + constant
            coefficients = slopes[:, :, : weight.shape[1]]
        units = weight.shape[1]
        lines.append(_lines(bias[:, None] - most[..., units:], bias[:, None] + most[..., :units]))
        seen.append(coefficients)
    last = np.broadcast_to(margins.last[:, None], (len(margins.last), n, *margins.last.shape[1:]))
    slopes, constant, passed = _back(margins, lines, last)
    total = slopes.sum(axis=0)
    upper = highest(total, boxes, layout) + constant.sum(axis=0) + margins.offset
    least, rows = upper.argmin(axis=1), np.arange(n)
    lost = [
        np.abs(part[:, rows, least]) * line.gap for part, line in zip(passed, lines, strict=True)
    ]
    return Bound(
        upper[rows, least],
        top(total[rows, least], boxes, layout),
        _worth(lost, seen, boxes, layout),
        total[rows, least],
    )


def _back(
    margins: Margins, lines: list[_Lines], weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Functions of the last of the lines' layers as linear ones of the row, nowhere below them.

    Args:
        margins: Whose layers.
        lines: Of the layers from the first on.
        weights: `[networks, n, r, units]` of the last layer.

    Returns:
        Coefficients `[networks, n, r, width]`, constants `[networks, n, r]`, and the weights at
        each layer, the first one first.
    """
    constant = np.zeros(weights.shape[:3])
    passed = []
    for depth in reversed(range(len(lines))):
        passed.append(weights)
        line, weight, bias = lines[depth], margins.weights[depth], margins.biases[depth]
        rise = np.maximum(weights, 0.0)
        constant += (rise @ line.offset[..., None])[..., 0]
        bent = rise * line.above[:, :, None] + (weights - rise) * line.below[:, :, None]
        constant += (bent @ bias[:, None, :, None])[..., 0]
        n_networks, n, r, units = bent.shape
        weights = (bent.reshape(n_networks, n * r, units) @ weight).reshape(n_networks, n, r, -1)
    return weights, constant, passed[::-1]


def _worth(
    lost: list[np.ndarray], seen: list[np.ndarray], boxes: Boxes, layout: Layout
) -> np.ndarray:
    """What the bends of units cost, by the features that move the units' inputs, `[n, f]`."""
    cut = layout.n_continuous
    starts = group_starts(layout)
    columns = np.zeros((len(boxes.low), layout.width))
    for cost, slopes in zip(lost, seen, strict=True):
        steep = np.abs(slopes[..., :cut])
        if layout.group_sizes:
            groups = slopes[..., cut:]
            means = np.add.reduceat(groups, starts, axis=-1) / np.asarray(layout.group_sizes)
            apart = np.abs(groups - np.repeat(means, layout.group_sizes, axis=-1))
            steep = np.concatenate([steep, 2.0 * apart], axis=-1)
        if steep.shape[1] == 1:
            columns += (cost @ steep[:, 0]).sum(axis=0)
        else:
            columns += (cost[..., None, :] @ steep)[..., 0, :].sum(axis=0)
    numbers: np.ndarray = columns[:, :cut] * (boxes.high - boxes.low)
    if not layout.group_sizes:
        return numbers
    groups = np.maximum.reduceat(np.where(boxes.allowed, columns[:, cut:], 0.0), starts, axis=1)
    return np.concatenate([numbers, np.where(counts(boxes, layout) > 1, groups, 0.0)], axis=1)
