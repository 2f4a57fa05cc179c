"""How little weights in the box leave of a margin, to any gap: branch and bound over units' signs.

A node states the signs of some units from the second layer on. All open nodes of all rows are
bounded at once, by lines; nodes whose bound is near enough to what some model leaves are closed,
the others are split at the unit whose chord gives most away. Where nothing is left to split at, a
small program ends it. Networks of a committee move apart from one another, so the least of their
sum is the sum of their least.
"""

from typing import NamedTuple

import numpy as np

from rocourse.certificates._intervals import Layers, hidden_intervals, rectified, through
from rocourse.certificates._lines import Asked, Bounded, Nodes, bounded
from rocourse.certificates._program import solve

# Nodes that are bounded at once.
_AT_ONCE = 2048
# Below so many open nodes two units are branched on at a time: it saves rounds.
_FEW = 32
# Times that lines are chosen: for every node, and where nothing is left to branch on.
_CHOICES = 2
_LAST_CHOICES = 30
# A chord that gives away less than this part of a margin is exact.
_NOTHING = 1e-9
# How often a gap is made smaller before a margin counts as zero.
_TRIES = 6


class Least(NamedTuple):
    """The least margin of rows, from both sides."""

    bound: np.ndarray
    """No weights in the box make less of it, `[n]`."""
    found: np.ndarray
    """Some weights make this of it, `[n]`."""
    ways: list[list[np.ndarray]]
    """For each margin, which way these push the units of each layer: `[networks, n, units]`."""


def holding(
    layers: Layers, x: np.ndarray, delta: np.ndarray, gap: np.ndarray
) -> tuple[np.ndarray, Least]:
    """Whether all models within δ leave each row's margins above zero.

    Args:
        layers: A committee of two hidden layers or more.
        x: Encoded rows, float64 `[n, width]`.
        delta: How far weights move for each row, `[n]`.
        gap: What the least margin is worth knowing to; it is known closer where that decides.
    """
    told = least_of(layers, x, delta, gap)
    for _ in range(_TRIES):
        open_rows = np.flatnonzero((told.bound <= 0.0) & (told.found > 0.0))
        if not len(open_rows):
            break
        again = least_of(layers, x[open_rows], delta[open_rows], 0.5 * told.found[open_rows])
        told.bound[open_rows] = np.maximum(told.bound[open_rows], again.bound)
        told.found[open_rows] = np.minimum(told.found[open_rows], again.found)
        for before, fresh in zip(told.ways, again.ways, strict=True):
            for way, better in zip(before, fresh, strict=True):
                way[:, open_rows] = better
    return told.bound > 0.0, told


def least_of(layers: Layers, x: np.ndarray, delta: np.ndarray, gap: np.ndarray) -> Least:
    """The least margin of rows if every weight and bias moves by at most δ.

    Args:
        layers: A committee of two hidden layers or more.
        x: Encoded rows, float64 `[n, width]`.
        delta: For each row, `[n]`.
        gap: How far the bound may be from what is found, `[n]`.
    """
    bound, found = np.full((2, len(x)), np.inf)
    ways = []
    for margin, offset in enumerate(layers.offset.tolist()):
        lead = offset - delta * layers.turns
        parts = [
            _searched(layers, place, margin, x, delta, gap / len(layers.last))
            for place in range(len(layers.last))
        ]
        bound = np.minimum(bound, lead + sum(part[0] for part in parts))
        found = np.minimum(found, lead + sum(part[1] for part in parts))
        ways.append([np.stack(each) for each in zip(*(part[2] for part in parts), strict=True)])
    return Least(bound, found, ways)


def _searched(
    layers: Layers, place: int, margin: int, x: np.ndarray, delta: np.ndarray, gap: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """What one network adds to a margin at least, what was found, and the ways to it."""
    own = layers.alone(place, margin)
    ends = hidden_intervals(own, x, delta, closely=True)
    asked = Asked(own, layers.last_turns, x, delta, (ends[0][1][0], ends[0][2][0]))
    low, high = (tuple(before[side][0] for before, _, _ in ends[1:]) for side in (0, 1))
    share = tuple((top > -end).astype(np.float64) for end, top in zip(low, high, strict=True))
    known = _Known(
        np.full(len(x), np.inf),
        np.full(len(x), np.inf),
        [np.ones((len(x), weight.shape[1])) for weight in own.weights],
        gap,
    )
    waiting = [Nodes(np.arange(len(x)), low, high, share)]
    while waiting:
        nodes = waiting.pop()
        if len(nodes.row) > _AT_ONCE:
            waiting.append(nodes.take(np.arange(_AT_ONCE, len(nodes.row))))
            nodes = nodes.take(np.arange(_AT_ONCE))
        nodes, told = _climbed(asked, nodes, known, _CHOICES)
        gaps = np.concatenate(told.gaps, axis=1)
        decided = gaps.max(axis=1) <= _NOTHING * np.maximum(1.0, np.abs(told.least))
        last = np.flatnonzero(decided & (told.least < known.goal(nodes.row)))
        if len(last):
            told.least[last] = np.maximum(
                told.least[last], _at_last(asked, nodes.take(last), known)
            )
        closed = decided | (told.least >= known.goal(nodes.row))
        np.minimum.at(known.bound, nodes.row[closed], told.least[closed])
        still = np.flatnonzero(~closed)
        if len(still):
            waiting.append(_split(asked, nodes.take(still), gaps[still]))
    return known.bound, known.found, known.ways


class _Known(NamedTuple):
    """What is known of rows, and grows while nodes are looked at."""

    bound: np.ndarray
    """Of closed nodes, `[n]`."""
    found: np.ndarray
    """`[n]`."""
    ways: list[np.ndarray]
    gap: np.ndarray

    def goal(self, row: np.ndarray) -> np.ndarray:
        """What a bound has to reach."""
        return np.asarray((self.found - self.gap)[row])

    def note(self, row: np.ndarray, told: Bounded) -> None:
        """Keeps what models leave, where it is less than before."""
        least = self.found.copy()
        np.minimum.at(least, row, told.found)
        better = np.flatnonzero((told.found == least[row]) & (told.found < self.found[row]))
        for way, found in zip(self.ways, told.ways, strict=True):
            way[row[better]] = found[better]
        self.found[:] = least


def _climbed(asked: Asked, nodes: Nodes, known: _Known, choices: int) -> tuple[Nodes, Bounded]:
    """Nodes with better lines, and what these say of them.

    Steps are Polyak's: as long as would reach the goal if the bound were a plane.
    """
    told = bounded(asked, nodes)
    known.note(nodes.row, told)
    least, share, moved = told.least, nodes.share, nodes
    for _ in range(choices - 1):
        size = sum((climb**2).sum(axis=1) for climb in told.climbs)
        goal = known.goal(nodes.row) + 0.5 * known.gap[nodes.row]
        step = (np.maximum(goal - told.least, 0.0) / np.maximum(size, 1e-12))[:, None]
        lines = zip(moved.share, told.climbs, strict=True)
        moved = moved._replace(
            share=tuple(np.clip(own + step * climb, 0.0, 1.0) for own, climb in lines)
        )
        told = bounded(asked, moved)
        known.note(nodes.row, told)
        better = (told.least > least)[:, None]
        share = tuple(np.where(better, *each) for each in zip(moved.share, share, strict=True))
        least = np.maximum(least, told.least)
    return nodes._replace(share=share), told._replace(least=least)


def _at_last(asked: Asked, nodes: Nodes, known: _Known) -> np.ndarray:
    """Bounds of nodes that cannot be split: by many lines, and by a program where these fail."""
    nodes, told = _climbed(asked, nodes, known, _LAST_CHOICES)
    for k in np.flatnonzero(told.least < known.goal(nodes.row)).tolist():
        row = nodes.row[k]
        ends = [(low[k], high[k]) for low, high in zip(nodes.low, nodes.high, strict=True)]
        solved = solve(asked.layers, asked.turns, asked.x[row], float(asked.delta[row]), ends)
        told.least[k] = max(told.least[k], solved.bound)
        known.found[row] = min(known.found[row], solved.value)
    return told.least


def _split(asked: Asked, nodes: Nodes, gaps: np.ndarray) -> Nodes:
    """Children of nodes: the unit whose chord gives most away is below zero, or above it.

    Args:
        asked: The network and its rows.
        nodes: To be split.
        gaps: What the chord of each unit gives away, `[nodes, units of all layers]`.
    """
    for _ in range(2 if len(nodes.row) < _FEW else 1):
        units = gaps.argmax(axis=1)
        given = gaps[np.arange(len(units)), units]
        go, stay = np.flatnonzero(given > 0.0), np.flatnonzero(given <= 0.0)
        places = np.concatenate([go, go, stay])
        nodes, gaps, units = nodes.take(places), gaps[places], units[places]
        below, above = np.arange(len(go)), np.arange(len(go), 2 * len(go))
        gaps[np.arange(2 * len(go)), units[: 2 * len(go)]] = -1.0
        start = 0
        for low, high in zip(nodes.low, nodes.high, strict=True):
            for moved, side in ((high, below), (low, above)):
                own = side[(units[side] >= start) & (units[side] < start + low.shape[1])]
                moved[own, units[own] - start] = 0.0
            start += low.shape[1]
    delta = asked.delta[nodes.row]
    possible = np.ones(len(nodes.row), bool)
    for depth in range(1, len(nodes.low)):
        hidden = rectified(nodes.low[depth - 1])[None], rectified(nodes.high[depth - 1])[None]
        weight, bias = asked.layers.weights[depth + 1], asked.layers.biases[depth + 1]
        ends = through(weight, bias, *hidden, delta)
        np.maximum(nodes.low[depth], ends[0][0], out=nodes.low[depth])
        np.minimum(nodes.high[depth], ends[1][0], out=nodes.high[depth])
        possible &= (nodes.low[depth] <= nodes.high[depth]).all(axis=1)
    return nodes.take(np.flatnonzero(possible))
