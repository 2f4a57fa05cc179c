"""Nodes of the search over units' signs, and how lines bound what is left of a margin in them.

A unit adds v h − d|h| to a margin, which has one slope above zero and one below. Where the slope
falls at zero, the least over the unit's interval is bounded by a chord, which is exact once the
unit's sign is known; where it rises, any line between the two slopes bounds it, and the best one is
climbed to. Lines lead back to the first layer, whose units take every value of their intervals,
each by itself: there the least of a line is exact.
"""

from typing import NamedTuple

import numpy as np

from rocourse.certificates._intervals import Layers, rectified
from rocourse.recourse.proof import SLOPE


class Asked(NamedTuple):
    """One network of a committee, and the rows that are asked about."""

    layers: Layers
    """Of this network alone, for one margin."""
    turns: float
    """How far a last weight moves, in δ."""
    x: np.ndarray
    """Encoded rows, `[n, width]`."""
    delta: np.ndarray
    """`[n]`."""
    first: tuple[np.ndarray, np.ndarray]
    """Ends of the first layer's units after their rectifiers, `[n, units]`."""


class Nodes(NamedTuple):
    """Which rows nodes are of, and where the units of layers may lie, from the second layer on."""

    row: np.ndarray
    """`[nodes]`."""
    low: tuple[np.ndarray, ...]
    """Before their rectifiers, `[nodes, units]`."""
    high: tuple[np.ndarray, ...]
    share: tuple[np.ndarray, ...]
    """Of the slope above zero in the line of a unit whose slope rises."""

    def take(self, where: np.ndarray) -> "Nodes":
        """Some of the nodes."""
        low, high, share = (tuple(part[where] for part in each) for each in self[1:])
        return Nodes(self.row[where], low, high, share)


class Bounded(NamedTuple):
    """What lines say of nodes, and the model where they are least."""

    least: np.ndarray
    """`[nodes]`."""
    gaps: tuple[np.ndarray, ...]
    """What each unit's chord gives away there; below 0 where it has none, `[nodes, units]`."""
    climbs: tuple[np.ndarray, ...]
    """How the bound grows with the share of each line that may be chosen."""
    found: np.ndarray
    """What a model like it leaves, `[nodes]`."""
    ways: tuple[np.ndarray, ...]
    """Which way that model pushes the units of every layer, `[nodes, units]`."""


def bounded(asked: Asked, nodes: Nodes) -> Bounded:
    """Bounds each node by lines from the margin back to the first layer."""
    layers, delta = asked.layers, asked.delta[nodes.row]
    slopes, reach = layers.last[0], delta[:, None] * asked.turns
    least = np.zeros(len(nodes.row))
    lines: list[tuple[np.ndarray, ...]] = []
    for depth in range(len(nodes.low), 0, -1):
        low, high, share = (each[depth - 1] for each in nodes[1:])
        below, above = SLOPE * (slopes + reach), slopes - reach
        bent = (low < 0.0) & (high > 0.0)
        falls = bent & (below > above)
        rises = bent & ~falls
        chord = (above * high - below * low) / np.where(bent, high - low, 1.0)
        line = np.where(high > 0.0, above, below)
        line = np.where(rises, below + share * (above - below), np.where(falls, chord, line))
        slack = np.where(falls, (above - line) * high, 0.0)
        lines.insert(0, (below, above, falls, rises, line, slack))
        moved = delta * np.abs(line).sum(axis=1)
        least += line @ layers.biases[depth][0] + slack.sum(axis=1) - moved
        slopes, reach = line @ layers.weights[depth][0], moved[:, None]
    bottom, top = (end[nodes.row] for end in asked.first)
    at_bottom = slopes * bottom - reach * np.abs(bottom)
    at_top = slopes * top - reach * np.abs(top)
    down = at_bottom <= at_top
    least += np.where(down, at_bottom, at_top).sum(axis=1)
    first = np.where(down, bottom, top)
    gaps, climbs = _at_the_least(asked, nodes, lines, first)
    found, ways = _left(asked, delta, [line for *_, line, _ in lines], first)
    return Bounded(least, gaps, climbs, found, (np.where(down, 1.0, -1.0), *ways))


def _at_the_least(
    asked: Asked, nodes: Nodes, lines: list[tuple[np.ndarray, ...]], hidden: np.ndarray
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Where units lie as lines have it, what chords give away there, and how lines could gain."""
    delta, sizes = asked.delta[nodes.row], np.abs(hidden)
    gaps, climbs = [], []
    for depth, (below, above, falls, rises, line, slack) in enumerate(lines, start=1):
        low, high, share = (each[depth - 1] for each in nodes[1:])
        reach = delta[:, None] * (sizes.sum(axis=1, keepdims=True) + 1.0)
        z = hidden @ asked.layers.weights[depth][0].T + asked.layers.biases[depth][0]
        z -= np.sign(line) * reach
        climb = np.where(rises, (above - below) * z, 0.0)
        climbs.append(np.where(np.where(climb > 0.0, share < 1.0, share > 0.0), climb, 0.0))
        inside = np.clip(z, low, high)
        given = np.minimum(below * inside, above * inside) - line * inside - slack
        gaps.append(np.where(falls, given, -1.0))
        # What a line makes of h and of |h|: both are linear in z.
        upper = np.where(rises, share, np.where(high > 0.0, 1.0, 0.0))
        width = np.where(falls, high - low, 1.0)
        hidden, sizes = (
            np.where(
                falls,
                (high - slope * low) / width * (z - high) + high,
                (upper + (1.0 - upper) * slope) * z,
            )
            for slope in (SLOPE, -SLOPE)
        )
    return tuple(gaps), tuple(climbs)


def _left(
    asked: Asked, delta: np.ndarray, lines: list[np.ndarray], hidden: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """What a model leaves that pushes units as lines would; the last ones to their least."""
    ways = []
    last, turn = asked.layers.last[0, 0], (delta * asked.turns)[:, None]
    for depth, line in enumerate(lines, start=1):
        reach = delta[:, None] * (np.abs(hidden).sum(axis=1, keepdims=True) + 1.0)
        z = hidden @ asked.layers.weights[depth][0].T + asked.layers.biases[depth][0]
        if depth < len(lines):
            ways.append(np.where(line >= 0.0, 1.0, -1.0))
            hidden = rectified(z - ways[-1] * reach)
            continue
        ends = rectified(z - reach), rectified(z + reach)
        parts = [last * end - turn * np.abs(end) for end in ends]
        ways.append(np.where(parts[0] <= parts[1], 1.0, -1.0))
    return np.minimum(*parts).sum(axis=1), ways
