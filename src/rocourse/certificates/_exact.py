"""How far weights may move, exactly: mixed-integer linear programs, solved by HiGHS.

Of every hidden unit the program knows the parts of its input above and below zero, p and q, of
which one is zero: a binary number says which, if the interval of the unit leaves it open; in the
first layer, where it hardly matters, only once a solution has had both. With
h = p − sq and |h| = p + sq, s the rectifier's slope, whatever weights can make of h is linear:
z ≥ Σ (w − δ)p − s(w + δ)q + b − δ and z ≤ Σ (w + δ)p − s(w − δ)q + b + δ. Inputs of the first layer
take any value of their intervals, each by itself. Networks of a committee move apart from one
another, so the least of their sum is the sum of their least.
"""

from typing import NamedTuple

import numpy as np

from rocourse.certificates._attack import broken_at
from rocourse.certificates._intervals import Layers, hidden_intervals, least_margins, radii
from rocourse.errors import RocourseError
from rocourse.recourse.proof import SLOPE

# What HiGHS may be wrong by where it says that a row of a program is kept.
_TOLERANCE = 1e-6
# How near to the largest δ a radius is: a part of itself.
_PRECISION = 5e-3
# Between what is found and what is proved, a part of it.
_GAP = 1e-5


class Solved(NamedTuple):
    """What came of a program."""

    bound: float
    """No weights make less of the margin."""
    hidden: list[tuple[np.ndarray, np.ndarray]]
    """The parts of each unit's input above and below zero at the least that was found."""


def least_margin(layers: Layers, x: np.ndarray, delta: float) -> float:
    """The least margin of a row if every weight and bias moves by at most δ.

    Up to the tolerance of the solver, never above it.

    Args:
        layers: The committee.
        x: An encoded row, float64 `[width]`.
        delta: How far.
    """
    margins: list[float] = []
    for margin, offset in enumerate(layers.offset.tolist()):
        parts = [solve(layers, k, margin, x, delta).bound for k in range(len(layers.last))]
        margins.append(sum(parts) + offset - delta * layers.turns)
    return min(margins)


def solve(layers: Layers, network: int, margin: int, x: np.ndarray, delta: float) -> Solved:
    """The least that one network can add to a margin.

    Args:
        layers: The committee.
        network: Its place.
        margin: Which margin.
        x: An encoded row, float64 `[width]`.
        delta: How far weights move.
    """
    bent = np.zeros(layers.weights[0].shape[1], bool)
    while True:
        solved = _solve(layers, network, margin, x, delta, bent)
        both = np.minimum(*solved.hidden[0]) > _TOLERANCE
        if not (both & ~bent).any():
            return solved
        bent |= both


def _solve(
    layers: Layers, network: int, margin: int, x: np.ndarray, delta: float, bent: np.ndarray
) -> Solved:
    """The same, with binary numbers for some units of the first layer only."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    own = Layers(
        tuple(weight[[network]] for weight in layers.weights),
        tuple(bias[[network]] for bias in layers.biases),
        layers.last[[network]][:, [margin]],
        layers.offset[[margin]],
    )
    found = hidden_intervals(own, x[None], np.array([delta]))
    ends = [(before[0][0, 0], before[1][0, 0]) for before, _, _ in found]
    widths = [len(low) for low, _ in ends]
    starts = np.concatenate([[0], 2 * np.cumsum(widths)])
    open_units = [np.flatnonzero((low < 0.0) & (high > 0.0)) for low, high in ends]
    total = int(starts[-1]) + sum(len(units) for units in open_units)
    least, most = np.zeros(total), np.ones(total)
    whole = np.zeros(total)
    whole[starts[-1] :] = 1.0
    whole[starts[-1] :][: len(open_units[0])] = bent[open_units[0]]
    rows: list[np.ndarray] = []
    limits: list[np.ndarray] = []

    def place(depth: int, below: bool = False) -> slice:
        start = int(starts[depth]) + below * widths[depth]
        return slice(start, start + widths[depth])

    switch = int(starts[-1])
    for depth, (low, high) in enumerate(ends):
        above, below = place(depth), place(depth, below=True)
        least[above], most[above] = np.maximum(low, 0.0), np.maximum(high, 0.0)
        least[below], most[below] = np.maximum(-high, 0.0), np.maximum(-low, 0.0)
        for unit in open_units[depth].tolist():
            # p ≤ high · on, q ≤ −low · (1 − on).
            line = np.zeros((2, total))
            line[0, [above.start + unit, switch]] = 1.0, -high[unit]
            line[1, [below.start + unit, switch]] = 1.0, -low[unit]
            rows.append(line)
            limits.append(np.array([0.0, -low[unit]]))
            switch += 1
        if depth:
            weight, bias = own.weights[depth][0], own.biases[depth][0]
            before = place(depth - 1), place(depth - 1, below=True)
            # What z must not fall below, then what it must not exceed, both as rows ≤ limit.
            for sign in (1.0, -1.0):
                line = np.zeros((widths[depth], total))
                line[:, before[0]] = sign * weight - delta
                line[:, before[1]] = -SLOPE * (sign * weight + delta)
                line[:, above] = -sign * np.eye(widths[depth])
                line[:, below] = sign * np.eye(widths[depth])
                rows.append(line)
                limits.append(delta - sign * bias)
    cost = np.zeros(total)
    reach = delta * layers.last_turns
    deepest = len(widths) - 1
    cost[place(deepest)] = own.last[0, 0] - reach
    cost[place(deepest, below=True)] = -SLOPE * (own.last[0, 0] + reach)
    kept = LinearConstraint(np.concatenate(rows), ub=np.concatenate(limits)) if rows else ()
    result = milp(
        cost,
        integrality=whole,
        bounds=Bounds(least, most),
        constraints=kept,
        options={"mip_rel_gap": _GAP},
    )
    bound = result.mip_dual_bound if whole.any() else result.fun
    if result.status != 0 or bound is None:
        raise RocourseError(
            f"HiGHS must find the least margin, but it ended with {result.message!r}; ask for a "
            "certificate that is not exact."
        )
    values = [(result.x[place(k)], result.x[place(k, below=True)]) for k in range(len(widths))]
    return Solved(float(bound) - _TOLERANCE, values)


def exact_radii(layers: Layers, x: np.ndarray) -> np.ndarray:
    """The largest δ for each row that leaves its margin above zero, `[n]`; 0 where there is none.

    At least what intervals certify, and within half a per cent of the largest, from below.

    Args:
        layers: The committee.
        x: Encoded rows, `[n, width]`.
    """
    x = np.asarray(x, np.float64)
    low = radii(layers, x)
    if len(layers.weights) == 1:
        # Intervals are exact.
        return low
    margins = np.maximum(least_margins(layers, x, np.zeros(len(x))), 0.0)
    high = broken_at(layers, x, low, margins / layers.turns)
    known = zip(x, low.tolist(), high.tolist(), margins.tolist(), strict=True)
    return np.array([_exact_radius(layers, *each) for each in known])


def _exact_radius(layers: Layers, x: np.ndarray, low: float, high: float, margin: float) -> float:
    """Where a parabola through what is known crosses zero, tried a little before and after it."""
    if low <= 0.0 or high - low <= _PRECISION * low:
        return low
    value = least_margin(layers, x, low)
    if value <= 0.0:
        # The solver's tolerance is more than what intervals leave.
        return low
    points = [(0.0, margin), (low, value)]
    while high - low > _PRECISION * low:
        root = _crossing(points, low, high)
        aside = 0.4 * _PRECISION * low
        guess = root - aside if root - low > 2.0 * aside else root + aside
        # Where the parabola is of no use, the range is halved at least.
        guess = guess if low < guess < high else 0.5 * (low + high)
        told = least_margin(layers, x, guess)
        points.append((guess, told))
        low, high = (guess, high) if told > 0.0 else (low, guess)
    return low


def _crossing(points: list[tuple[float, float]], low: float, high: float) -> float:
    """Where the parabola, or at first the line, through the last points falls through zero."""
    at, values = np.array(points[-3:]).T
    found = np.roots(np.polyfit(at, values, len(at) - 1))
    inside = [root.real for root in found if abs(root.imag) < 1e-12 and low < root.real < high]
    return min(inside, default=0.5 * (low + high))
