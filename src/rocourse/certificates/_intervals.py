"""How far weights may move: intervals of what a committee says if each moves by at most δ.

A weight w that moves by at most δ sends h to w h ± δ|h|. Of the row, which is known, the first
layer makes intervals in which every value is taken by some weights, whatever those of other units
are; so they are exact, for rows of any sign: W x + b ± δ(‖x‖₁ + 1). Further in, w h − δ|h| is
concave in h, and least at an end of h's interval; leaky rectifiers leave h below zero, so that the
usual formula for h ≥ 0 would not do. Units that share an input are bounded each by itself, which
gives something away from the second hidden layer on. Some of that comes back if the margin is
bounded from the back: a unit's part of it, v h − d|h|, has one slope above zero and one below, and
lies above a line over the unit's interval; what weights can make of such lines is again of the form
v h − d|h| in the units before.
"""

from typing import NamedTuple

import numpy as np

from rocourse.recourse.proof import SLOPE, Margins

Interval = tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]
"""Of a layer's units: the ends before their rectifiers, then the lower and the upper one after."""

# Numbers in the largest array that is made at once: more leave the caches.
_AT_ONCE = 500_000
# How near to the largest a radius is, as a part of itself.
_PRECISION = 1e-4
# Of the range of radii: a step by which the slope at zero is told.
_LITTLE = 1e-4


class Layers(NamedTuple):
    """A committee's lead of a class over each other, with how far its own weights can move it.

    Layers of all networks are stacked; each network's weights move apart from the others'.
    """

    weights: tuple[np.ndarray, ...]
    """Of each hidden layer, `[networks, out, in]`."""
    biases: tuple[np.ndarray, ...]
    """`[networks, out]`."""
    last: np.ndarray
    """From the last hidden layers to the margins, `[networks, margins, in]`."""
    offset: np.ndarray
    """`[margins]`."""

    @property
    def turns(self) -> float:
        """By how much a margin moves with the last biases: of many classes, two logits move."""
        return 1.0 if len(self.offset) == 1 else 2.0

    @property
    def last_turns(self) -> float:
        """The same of a last weight: a committee's logit is the mean of its networks'."""
        return self.turns / len(self.last)

    def alone(self, place: int, margin: int) -> "Layers":
        """One network's part of one margin, without the offset."""
        return Layers(
            tuple(weight[[place]] for weight in self.weights),
            tuple(bias[[place]] for bias in self.biases),
            self.last[[place]][:, [margin]],
            np.zeros(1),
        )


def layers_of(margins: Margins) -> Layers:
    """The layers that margins are made of, networks that were joined to one apart again.

    A stored committee is one network with zeros between the units of different networks, and these
    zeros are no weights that could move.
    """
    layers = Layers(margins.weights, margins.biases, margins.last, margins.offset)
    if len(layers.last) > 1:
        return layers
    count = _joined(layers)
    if count == 1:
        return layers
    weights = [np.stack(np.split(layers.weights[0][0], count))]
    for joined in layers.weights[1:]:
        rows = np.split(joined[0], count)
        weights.append(np.stack([np.split(row, count, axis=1)[k] for k, row in enumerate(rows)]))
    return Layers(
        tuple(weights),
        tuple(np.stack(np.split(bias[0], count)) for bias in layers.biases),
        np.stack(np.split(layers.last[0], count, axis=1)),
        layers.offset,
    )


def _joined(layers: Layers) -> int:
    """How many networks lie side by side in one: as many as the zeros between them allow."""
    between = [weight[0] for weight in layers.weights[1:]]
    if not between:
        return 1
    widths = [weight.shape[1] for weight in layers.weights]
    for count in range(min(widths), 1, -1):
        if all(width % count == 0 for width in widths) and all(
            _is_block_diagonal(weight, count) for weight in between
        ):
            return count
    return 1


def _is_block_diagonal(weight: np.ndarray, count: int) -> bool:
    rows, columns = (size // count for size in weight.shape)
    inside = np.kron(np.eye(count, dtype=bool), np.ones((rows, columns), bool))
    return not weight[~inside].any() and bool(weight[inside].reshape(count, -1).any(axis=1).all())


def least_margins(layers: Layers, x: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """A number that no margin falls below, whatever weights move by at most δ: `[n]`.

    Exact with one hidden layer.

    Args:
        layers: The committee.
        x: Encoded rows, float64 `[n, width]`.
        delta: For each row, `[n]`.
    """
    sizes = [layers.last.size, *(weight.size for weight in layers.weights[1:])]
    step = max(1, _AT_ONCE // max(sizes))
    parts = [
        _least_margins(layers, x[start : start + step], delta[start : start + step])
        for start in range(0, len(x), step)
    ]
    return np.concatenate([np.empty(0), *parts])


def _least_margins(layers: Layers, x: np.ndarray, delta: np.ndarray) -> np.ndarray:
    found = hidden_intervals(layers, x, delta)
    _, low, high = found[-1]
    reach = delta[:, None] * layers.last_turns
    parts = _least(layers.last, low, high, reach)
    if len(found) > 1:
        turns = (delta * layers.last_turns)[:, None, None]
        parts = np.maximum(parts, _from_the_back(layers, layers.last[:, None], turns, found, delta))
    lead = parts.sum(axis=0) + layers.offset
    return np.asarray(lead.min(axis=1)) - delta * layers.turns


def _from_the_back(
    layers: Layers, slopes: np.ndarray, reach: np.ndarray, found: list[Interval], delta: np.ndarray
) -> np.ndarray:
    """The least of sums over the units found last, of v h − d|h|, by lines: `[networks, n, sums]`.

    Args:
        layers: The committee.
        slopes: v, `[networks, 1, sums, units]`.
        reach: d, `[n, 1, 1]`.
        found: Intervals of the first layers.
        delta: `[n]`.
    """
    constant = np.zeros((1, 1, 1))
    for depth in range(len(found) - 1, 0, -1):
        low, high = (end[:, :, None] for end in found[depth][0])
        below, above = SLOPE * (slopes + reach), slopes - reach
        # Where the slope falls at zero, the chord; where it rises, the steeper or the flatter side.
        bent = (low < 0.0) & (high > 0.0)
        falls = bent & (below > above)
        chord = (above * high - below * low) / np.where(bent, high - low, 1.0)
        line = np.where(high > np.maximum(-low, 0.0), above, below)
        line = np.where(falls, chord, line)
        moved = delta[:, None] * np.abs(line).sum(axis=-1)
        offsets = (line @ layers.biases[depth][:, None, :, None])[..., 0]
        gap = np.where(falls, (above - line) * high, 0.0).sum(axis=-1)
        constant = constant + offsets + gap - moved
        slopes, reach = line @ layers.weights[depth][:, None], moved[..., None]
    ends = [slopes * end[:, :, None] - reach * np.abs(end)[:, :, None] for end in found[0][1:]]
    return np.asarray(constant + np.minimum(*ends).sum(axis=-1))


def hidden_intervals(
    layers: Layers, x: np.ndarray, delta: np.ndarray, *, closely: bool = False
) -> list[Interval]:
    """Of each hidden layer the intervals before, and from there to after, its rectifiers.

    All `[networks, n, units]`.

    Args:
        layers: The committee.
        x: Encoded rows, float64 `[n, width]`.
        delta: For each row, `[n]`.
        closely: Whether to bound units from the third layer on from the back as well.
    """
    found: list[Interval] = []
    reach = delta * (np.abs(x).sum(axis=1) + 1.0)
    middle = x @ layers.weights[0].swapaxes(1, 2) + layers.biases[0][:, None]
    low, high = middle - reach[:, None], middle + reach[:, None]
    for depth in range(len(layers.weights)):
        if depth:
            weight, bias = layers.weights[depth], layers.biases[depth]
            low, high = through(weight, bias, *found[-1][1:], delta)
        if depth > 1 and closely:
            least, most = (
                sign
                * _from_the_back(layers, sign * weight[:, None], delta[:, None, None], found, delta)
                + bias[:, None]
                - sign * delta[:, None]
                for sign in (1.0, -1.0)
            )
            low, high = np.maximum(low, least), np.minimum(high, most)
        found.append(((low, high), rectified(low), rectified(high)))
    return found


def through(
    weight: np.ndarray, bias: np.ndarray, low: np.ndarray, high: np.ndarray, delta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of what a layer makes of intervals, `[networks, n, units]`.

    Args:
        weight: `[networks, out, in]`.
        bias: `[networks, out]`.
        low: `[networks, n, in]`.
        high: `[networks, n, in]`.
        delta: `[n]`.
    """
    width = delta[:, None]
    ends = _least(weight, low, high, width), -_least(-weight, low, high, width)
    return ends[0] + bias[:, None] - width, ends[1] + bias[:, None] + width


def rectified(z: np.ndarray) -> np.ndarray:
    """What a leaky rectifier makes of a number."""
    return np.asarray(np.maximum(z, SLOPE * z))


def _least(weight: np.ndarray, low: np.ndarray, high: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """The least of sums over inputs of w h − δ|h|, for inputs between two ends: `[k, n, out]`.

    The lesser of two numbers is their mean less half their distance; of the means, products will
    do.

    Args:
        weight: `[k, out, in]`.
        low: `[k, n, in]`.
        high: `[k, n, in]`.
        delta: `[n, 1]`.
    """
    sizes = np.abs(low), np.abs(high)
    mean = (0.5 * (low + high)) @ weight.swapaxes(1, 2)
    mean -= (0.5 * delta * (sizes[0] + sizes[1])).sum(axis=-1, keepdims=True)
    apart = weight[:, None] * (0.5 * (high - low))[:, :, None]
    apart -= (0.5 * delta * (sizes[1] - sizes[0]))[:, :, None]
    np.abs(apart, out=apart)
    return np.asarray(mean - apart.sum(axis=-1))


def radii(layers: Layers, x: np.ndarray) -> np.ndarray:
    """The largest δ that intervals certify for each row, `[n]`; 0 where there is none.

    Args:
        layers: The committee.
        x: Encoded rows, `[n, width]`.
    """
    x = np.asarray(x, np.float64)
    low = np.zeros(len(x))
    value = np.maximum(least_margins(layers, x, low), 0.0)
    # The last bias alone takes δ off the margin; margins mostly fall faster and faster, so that
    # where the line through zero and a little more ends is beyond the radius as well.
    high = value / layers.turns
    little = _LITTLE * high
    slope = np.maximum(value - least_margins(layers, x, little), 1e-300)
    nearer = np.minimum(little * value / slope, high)
    high = np.where(least_margins(layers, x, nearer) <= 0.0, nearer, high)
    while len(rows := np.flatnonzero(high - low > _PRECISION * high)):
        middle = 0.5 * (low + high)[rows]
        holds = least_margins(layers, x[rows], middle) > 0.0
        low[rows[holds]], high[rows[~holds]] = middle[holds], middle[~holds]
    return low


def margins_of_draw(
    layers: Layers, x: np.ndarray, delta: float, rng: np.random.Generator
) -> np.ndarray:
    """The least margins of rows `[n, width]` by a model drawn uniformly from the box, `[n]`."""

    def moved(part: np.ndarray) -> np.ndarray:
        return part + rng.uniform(-delta, delta, part.shape)

    hidden = x
    for weight, bias in zip(layers.weights, layers.biases, strict=True):
        hidden = rectified(hidden @ moved(weight).swapaxes(1, 2) + moved(bias)[:, None])
    networks, margins, width = layers.last.shape
    # Each logit has weights of its own; of many classes, that of the wanted one is in all margins.
    logits = 1 if margins == 1 else margins + 1
    turn = rng.uniform(-delta, delta, (networks, logits, width + 1)) / networks
    turn = turn if logits == 1 else turn[:, :1] - turn[:, 1:]
    lead = hidden @ (layers.last + turn[..., :-1]).swapaxes(1, 2) + turn[:, None, :, -1]
    return np.asarray((lead.sum(axis=0) + layers.offset).min(axis=1))
