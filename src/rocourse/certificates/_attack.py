"""How far weights may move at most: models in the box that take a recourse's class away.

A unit's input is pushed down most if each weight moves by its input's sign, to
z = w h + b − δ(‖h‖₁ + 1), and up with the other sign. So which way each unit is pushed is all there
is to choose: units that speak for the class are pushed down, the others up, and which ones do is
asked again once all are pushed.
"""

import numpy as np

from rocourse.certificates._intervals import Layers, rectified
from rocourse.recourse.proof import SLOPE

# Rounds of asking which way units speak; more change nothing as a rule.
_ROUNDS = 8
# How near to what the attack can do, as a part of the range.
_HALVINGS = 8

Ways = list[np.ndarray]
"""Which way the units of each layer are pushed: 1 down, −1 up, `[networks, n, units]`."""


def attacked_margins(
    layers: Layers, x: np.ndarray, delta: np.ndarray, ways: list[Ways] | None = None
) -> np.ndarray:
    """A margin that some model within δ gives each row, as small as was found: `[n]`.

    Args:
        layers: The committee.
        x: Encoded rows, float64 `[n, width]`.
        delta: For each row, `[n]`.
        ways: To begin with, for each margin.
    """
    found = np.full(len(x), np.inf)
    for margin in range(layers.last.shape[1]):
        own = (
            ways[margin]
            if ways is not None
            else [np.ones((weight.shape[0], len(x), weight.shape[1])) for weight in layers.weights]
        )
        for _ in range(_ROUNDS):
            told, fresh = _pushed(layers, margin, x, delta[:, None], own)
            found = np.minimum(found, told)
            if all(np.array_equal(*pair) for pair in zip(own, fresh, strict=True)):
                break
            own = fresh
    return found


def _pushed(
    layers: Layers, margin: int, x: np.ndarray, delta: np.ndarray, ways: list[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """What is left of a margin, and which way each unit speaks for it then."""
    hidden = [np.broadcast_to(x, (len(layers.last), *x.shape))]
    slopes = []
    for weight, bias, way in zip(layers.weights, layers.biases, ways, strict=True):
        reach = delta * (np.abs(hidden[-1]).sum(axis=-1, keepdims=True) + 1.0)
        z = hidden[-1] @ weight.swapaxes(1, 2) + bias[:, None] - way * reach
        hidden.append(rectified(z))
        slopes.append(np.where(z > 0.0, 1.0, SLOPE))
    last, turns = layers.last[:, margin][:, None], layers.last_turns
    parts = (last * hidden[-1] - delta * turns * np.abs(hidden[-1])).sum(axis=-1)
    left = parts.sum(axis=0) + layers.offset[margin] - delta[:, 0] * layers.turns
    speaks = last - delta * turns * np.sign(hidden[-1])
    fresh: list[np.ndarray] = []
    for depth in range(len(ways) - 1, -1, -1):
        fresh.insert(0, np.where(speaks >= 0.0, 1.0, -1.0))
        if depth:
            speaks = speaks * slopes[depth]
            pushed = (speaks * ways[depth]).sum(axis=-1, keepdims=True)
            speaks = speaks @ layers.weights[depth] - delta * pushed * np.sign(hidden[depth])
    return left, fresh


def broken_at(
    layers: Layers,
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    ways: list[Ways] | None = None,
) -> np.ndarray:
    """A δ for each row at which some model takes its class away, as small as was found: `[n]`.

    Args:
        layers: The committee.
        x: Encoded rows, float64 `[n, width]`.
        low: What no model within does so at, `[n]`.
        high: What some model within does so at.
        ways: To begin with, for each margin.
    """
    # Intervals lack a tenth or two as a rule, so the range is looked for from below.
    top = np.minimum(1.25 * low, high)
    while (short := (top < high) & (attacked_margins(layers, x, top, ways) > 0.0)).any():
        low = np.where(short, top, low)
        top = np.where(short, np.minimum(1.5 * top, high), top)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + top)
        breaks = attacked_margins(layers, x, middle, ways) <= 0.0
        low, top = np.where(breaks, low, middle), np.where(breaks, middle, top)
    return np.asarray(top)
