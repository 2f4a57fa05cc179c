"""How far weights may move, exactly: the largest δ that leaves a row's margins above zero."""

import numpy as np

from rocourse.certificates._attack import attacked_margins, broken_at
from rocourse.certificates._branches import holding
from rocourse.certificates._intervals import Layers, least_margins, radii

# How near to the largest δ a radius is: a part of itself.
_PRECISION = 5e-3
# How far below what breaks a row is tried, and how well the margin is to be known there.
_ASIDE = 0.8
_GAP = 0.3
# Rows that are searched together: more are no faster.
_TOGETHER = 64


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
    for start in range(0, len(x), _TOGETHER):
        rows = start + np.flatnonzero(low[start : start + _TOGETHER] > 0.0)
        low[rows] = _further(layers, x[rows], low[rows])
    return low


def _further(layers: Layers, x: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Radii from what intervals certify on: what an attack breaks is undercut, and proved."""
    margin = least_margins(layers, x, np.zeros(len(x)))
    high = broken_at(layers, x, low, margin / layers.turns)
    while len(rows := np.flatnonzero(high > low * (1.0 + _PRECISION))):
        guess = np.maximum(high[rows] / (1.0 + _ASIDE * _PRECISION), 0.5 * (low + high)[rows])
        held, told = holding(layers, x[rows], guess, _GAP * _PRECISION * margin[rows])
        low[rows[held]] = guess[held]
        lost = np.flatnonzero(~held)
        ways = [[way[:, lost] for way in each] for each in told.ways]
        high[rows[lost]] = broken_at(layers, x[rows[lost]], low[rows[lost]], guess[lost], ways)
    return low


def holds(layers: Layers, x: np.ndarray, delta: float) -> np.ndarray:
    """Whether all models within δ leave the margins of rows above zero, bool `[n]`.

    Args:
        layers: The committee.
        x: Encoded rows, float64 `[n, width]`.
        delta: How far weights move.
    """
    reach = np.full(len(x), delta)
    held = least_margins(layers, x, reach) > 0.0
    told = attacked_margins(layers, x, reach)
    # Where some model within breaks a row, there is nothing to prove.
    for start in range(0, len(x) if len(layers.weights) > 1 else 0, _TOGETHER):
        some = slice(start, start + _TOGETHER)
        rows = start + np.flatnonzero(~held[some] & (told[some] > 0.0))
        held[rows], _ = holding(layers, x[rows], reach[rows], 0.5 * told[rows])
    return held
