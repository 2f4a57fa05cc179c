"""Branch and bound: boxes that may hold a recourse are split until none is left, or one is found.

The boxes of many rows go through the bounds together. Of those that are open, the ones with the
highest bound come first.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rocourse.recourse.proof._bounds import Bound, upper_bounds
from rocourse.recourse.proof._boxes import Boxes, counts
from rocourse.recourse.proof._margins import Margins, least_margin, rounding
from rocourse.recourse.proof._reach import UNNOTICED, Reach
from rocourse.schema import Layout, Rows, one_hot

# Boxes that are bounded together: enough for the products to be worth a call.
_AT_ONCE = 128
# Rows whose boxes wait together.
_ROWS_AT_ONCE = 64
# Intervals that are narrower are not split any further.
_NARROWEST = 1e-5
# What breaks a tie between features whose bends cost nothing.
_SLOPE_SHARE, _WIDTH_SHARE = 1e-9, 1e-12

Try = Callable[[np.ndarray, Rows], tuple[np.ndarray, Rows]]
"""From rows, by their positions, and points for them to whether the model itself is convinced by
what settling leaves of the points, and that."""


class Outcome(NamedTuple):
    """What came of the search for each row."""

    found: dict[int, Rows]
    """A recourse of each row that has one, of length one, by the row's position."""
    decided: np.ndarray
    """Whether it is known that there is one or none, bool `[n]`."""
    examined: np.ndarray
    """How many boxes were looked at, `[n]`."""


def search(margins: Margins, reach: Reach, attempt: Try, *, boxes: int) -> Outcome:
    """Looks for a point of each row's box that is given the class.

    Args:
        margins: What the model decides by.
        reach: What the rows can become.
        attempt: Asks the model itself.
        boxes: The most to look at for a row.
    """
    n = len(reach.here)
    outcome = Outcome({}, np.ones(n, bool), np.zeros(n, np.int64))
    tolerance = rounding(margins, reach.boxes)
    for start in range(0, n, _ROWS_AT_ONCE):
        owner = np.arange(start, min(start + _ROWS_AT_ONCE, n))
        boxes_left, owner = _left(reach, reach.boxes.take(owner), owner)
        pool = _Pool(boxes_left, owner, np.full(len(owner), np.inf))
        while len(pool.owner):
            _step(pool, margins, reach, attempt, tolerance, outcome)
            spent = outcome.examined >= boxes
            given_up = np.unique(pool.owner[spent[pool.owner]])
            outcome.decided[given_up] = False
            pool.drop(spent[pool.owner])
    for row in outcome.found:
        outcome.decided[row] = True
    return outcome


class _Pool:
    """Boxes that wait, with the row of each and the bound of the box that it was split from."""

    def __init__(self, boxes: Boxes, owner: np.ndarray, upper: np.ndarray) -> None:
        self.boxes, self.owner, self.upper = boxes, owner, upper

    def take(self) -> tuple[Boxes, np.ndarray]:
        """Takes out those that promise most."""
        if len(self.owner) <= _AT_ONCE:
            chosen = np.arange(len(self.owner))
        else:
            chosen = np.argpartition(-self.upper, _AT_ONCE)[:_AT_ONCE]
        taken = self.boxes.take(chosen), self.owner[chosen]
        gone = np.zeros(len(self.owner), bool)
        gone[chosen] = True
        self.drop(gone)
        return taken

    def drop(self, gone: np.ndarray) -> None:
        """Leaves some out."""
        if gone.any():
            stay = np.flatnonzero(~gone)
            self.boxes, self.owner = self.boxes.take(stay), self.owner[stay]
            self.upper = self.upper[stay]

    def add(self, boxes: Boxes, owner: np.ndarray, upper: np.ndarray) -> None:
        """Puts more in."""
        self.boxes = Boxes.concatenate([self.boxes, boxes])
        self.owner = np.concatenate([self.owner, owner])
        self.upper = np.concatenate([self.upper, upper])


def _step(
    pool: _Pool,
    margins: Margins,
    reach: Reach,
    attempt: Try,
    tolerance: np.ndarray,
    outcome: Outcome,
) -> None:
    """Bounds a few boxes, tries their best points, and splits those that stay open."""
    layout = margins.layout
    boxes, owner = pool.take()
    bound = upper_bounds(margins, boxes)
    np.add.at(outcome.examined, owner, 1)
    is_open = bound.upper >= -tolerance[owner]
    near = least_margin(margins, one_hot(bound.best, layout).astype(np.float64))
    hopeful = np.flatnonzero(is_open & (near >= -tolerance[owner]))
    if len(hopeful):
        convinced, points = attempt(owner[hopeful], bound.best.take(hopeful))
        for place in np.flatnonzero(convinced):
            outcome.found.setdefault(int(owner[hopeful[place]]), points.take([place]))
    done = np.zeros(len(reach.here), bool)
    done[list(outcome.found)] = True
    pool.drop(done[pool.owner])
    splittable = _splittable(boxes, owner, reach, layout)
    is_open &= ~done[owner] & ~_is_point(boxes, reach, layout)
    # What is too narrow to be split, and still may hold a recourse.
    outcome.decided[owner[is_open & ~splittable.any(axis=1)]] = False
    rest = np.flatnonzero(is_open & splittable.any(axis=1))
    if len(rest):
        feature = np.where(splittable, _choice(bound, boxes, layout), -1.0).argmax(axis=1)
        children, parent = _split(boxes, owner, feature, rest, bound, reach, layout)
        children, parent = _left(reach, children, parent, owner[parent])
        pool.add(children, owner[parent], bound.upper[parent])


def _left(
    reach: Reach, boxes: Boxes, places: np.ndarray, owner: np.ndarray | None = None
) -> tuple[Boxes, np.ndarray]:
    """What rules over several features leave of boxes, and the places of those that are left."""
    fine = (boxes.low <= boxes.high).all(axis=1)
    if reach.joint is not None:
        boxes, lawful = reach.joint.left(boxes, places if owner is None else owner)
        fine &= lawful
    return boxes.take(np.flatnonzero(fine)), places[fine]


def _is_point(boxes: Boxes, reach: Reach, layout: Layout) -> np.ndarray:
    # What follows others is where they put it.
    fixed = ((boxes.low == boxes.high) | reach.follows).all(axis=1)
    return np.asarray(fixed & (counts(boxes, layout) <= 1).all(axis=1))


def _splittable(boxes: Boxes, owner: np.ndarray, reach: Reach, layout: Layout) -> np.ndarray:
    """Which numbers and groups of each box can be split, bool `[n, f]`."""
    length = np.where(reach.follows, 0.0, boxes.high - boxes.low)
    narrowest = np.array(
        [[0.0 if grids[row] is not None else _NARROWEST for grids in reach.grids] for row in owner]
    ).reshape(length.shape)
    return np.concatenate([length > narrowest, counts(boxes, layout) > 1], axis=1)


def _choice(bound: Bound, boxes: Boxes, layout: Layout) -> np.ndarray:
    """How much a split of each number and group promises, `[n, f]`."""
    length = boxes.high - boxes.low
    steep = np.abs(bound.slopes[:, : layout.n_continuous]) * length
    ties = np.zeros_like(bound.worth)
    ties[:, : layout.n_continuous] = _SLOPE_SHARE * steep + _WIDTH_SHARE * length
    ties[:, layout.n_continuous :] = _WIDTH_SHARE
    ties += bound.worth
    return ties


def _split(
    boxes: Boxes,
    owner: np.ndarray,
    feature: np.ndarray,
    rest: np.ndarray,
    bound: Bound,
    reach: Reach,
    layout: Layout,
) -> tuple[Boxes, np.ndarray]:
    """The boxes at `rest` in parts along a feature each, and which box each part is of."""
    low, high, allowed, parents = [], [], [], []
    cut = layout.n_continuous
    for place in rest:
        k, row = int(feature[place]), int(owner[place])
        if k < cut:
            ends = boxes.low[place, k], boxes.high[place, k]
            for first, last in _intervals(*ends, reach.grids[k][row], reach.here[row, k]):
                low.append(boxes.low[place].copy())
                high.append(boxes.high[place].copy())
                low[-1][k], high[-1][k] = first, last
                allowed.append(boxes.allowed[place])
                parents.append(place)
            continue
        group = layout.group_slices[k - cut]
        columns = np.arange(group.start - cut, group.stop - cut)
        columns = columns[boxes.allowed[place, columns]]
        # The better categories, by the bound, and the others.
        ranked = columns[np.argsort(-bound.slopes[place, cut + columns], kind="stable")]
        half = (len(ranked) + 1) // 2
        for others in (ranked[half:], ranked[:half]):
            low.append(boxes.low[place])
            high.append(boxes.high[place])
            allowed.append(boxes.allowed[place].copy())
            allowed[-1][others] = False
            parents.append(place)
    n = len(parents)
    return (
        Boxes(
            np.array(low).reshape(n, cut),
            np.array(high).reshape(n, cut),
            np.array(allowed).reshape(n, layout.width - cut),
        ),
        np.array(parents),
    )


def _intervals(
    low: float, high: float, grid: np.ndarray | None, here: float
) -> list[tuple[float, float]]:
    """The parts of an interval, which together hold every code that can be reached in it."""
    if grid is not None:
        first, last = np.searchsorted(grid, low), np.searchsorted(grid, high, "right") - 1
        half = (first + last) // 2
        return [(grid[first], grid[half]), (grid[half + 1], grid[last])]
    if low <= here <= high:
        # As it is, or changed by as much as counts as a change.
        parts = [(low, here - UNNOTICED), (here, here), (here + UNNOTICED, high)]
        return [part for part in parts if part[0] <= part[1]]
    middle = 0.5 * (low + high)
    return [(low, middle), (middle, high)]
