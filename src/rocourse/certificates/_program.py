"""The least that one network adds to a margin, as a mixed-integer linear program solved by HiGHS.

Of every hidden unit the program knows the parts of its input above and below zero, p and q, of
which one is zero: a binary number says which, if the interval of the unit leaves it open, and only
once a solution has had both. With h = p − sq and |h| = p + sq, s the rectifier's slope, whatever
weights can make of h is linear: z ≥ Σ (w − δ)p − s(w + δ)q + b − δ and
z ≤ Σ (w + δ)p − s(w − δ)q + b + δ. Inputs of the first layer take any value of their intervals,
each by itself.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rocourse.certificates._intervals import Layers, hidden_intervals
from rocourse.errors import RocourseError
from rocourse.recourse.proof import SLOPE

# What HiGHS may be wrong by where it says that a row of a program is kept.
_TOLERANCE = 1e-6
# What SciPy says of a program that nothing keeps.
_INFEASIBLE = 2
# Between what is found and what is proved, a part of it.
_GAP = 1e-5


class Solved(NamedTuple):
    """What came of a program."""

    bound: float
    """No weights make less of it; infinite where no weights are in the part of the box."""
    value: float
    """Some weights make this of it, up to the tolerance."""
    hidden: list[tuple[np.ndarray, np.ndarray]]
    """The parts of each unit's input above and below zero at the least that was found, if any."""


Ends = Sequence[tuple[np.ndarray, np.ndarray]]
"""Where the units of each layer may lie before their rectifiers, from the second layer on."""


def solve(
    layers: Layers, turns: float, x: np.ndarray, delta: float, ends: Ends | None = None
) -> Solved:
    """The least that a network can add to a margin.

    Args:
        layers: Of one network and one margin.
        turns: How far a last weight moves, in δ.
        x: An encoded row, float64 `[width]`.
        delta: How far weights move.
        ends: A part of the box; without it, all of it.
    """
    first, *others = [
        (before[0][0, 0], before[1][0, 0])
        for before, _, _ in hidden_intervals(layers, x[None], np.array([delta]), closely=True)
    ]
    ends = [first, *(others if ends is None else ends)]
    bent = [np.zeros(weight.shape[1], bool) for weight in layers.weights]
    while True:
        solved = _solve(layers, turns, delta, ends, bent)
        if not solved.hidden:
            return solved
        both = [np.minimum(*parts) > _TOLERANCE for parts in solved.hidden]
        fresh = [new & ~old for new, old in zip(both, bent, strict=True)]
        if not any(each.any() for each in fresh):
            return solved
        bent = [new | old for new, old in zip(both, bent, strict=True)]


def _solve(
    layers: Layers, turns: float, delta: float, ends: Ends, bent: list[np.ndarray]
) -> Solved:
    """The same, with binary numbers for some units only."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    widths = [len(low) for low, _ in ends]
    starts = np.concatenate([[0], 2 * np.cumsum(widths)])
    open_units = [np.flatnonzero((low < 0.0) & (high > 0.0)) for low, high in ends]
    total = int(starts[-1]) + sum(len(units) for units in open_units)
    least, most = np.zeros(total), np.ones(total)
    whole = np.zeros(total)
    whole[starts[-1] :] = np.concatenate(
        [own[units] for own, units in zip(bent, open_units, strict=True)]
    )
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
            weight, bias = layers.weights[depth][0], layers.biases[depth][0]
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
    reach = delta * turns
    deepest = len(widths) - 1
    cost[place(deepest)] = layers.last[0, 0] - reach
    cost[place(deepest, below=True)] = -SLOPE * (layers.last[0, 0] + reach)
    kept = LinearConstraint(np.concatenate(rows), ub=np.concatenate(limits)) if rows else ()
    result = milp(
        cost,
        integrality=whole,
        bounds=Bounds(least, most),
        constraints=kept,
        options={"mip_rel_gap": _GAP},
    )
    if result.status == _INFEASIBLE:
        return Solved(np.inf, np.inf, [])
    bound = result.mip_dual_bound if whole.any() else result.fun
    if result.status != 0 or bound is None:
        raise RocourseError(
            f"HiGHS must find the least margin, but it ended with {result.message!r}; ask for a "
            "certificate that is not exact."
        )
    values = [(result.x[place(k)], result.x[place(k, below=True)]) for k in range(len(widths))]
    return Solved(float(bound) - _TOLERANCE, float(result.fun) + _TOLERANCE, values)
