"""Whether there is a recourse at all: one, none, or not known within the budget."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from rocourse.recourse._keeping import kept_by_wishes
from rocourse.recourse._proposer import Context
from rocourse.recourse.proof._branching import search
from rocourse.recourse.proof._exhaustive import points_of, size_of
from rocourse.recourse.proof._margins import margins_of
from rocourse.recourse.proof._reach import Reach, reach_of
from rocourse.recourse.proof._take_back import Try, put, take_back
from rocourse.schema import Rows, proximity

MOST_POINTS = 200_000
"""Of a model that is a black box, so many points are tried for a row, or none."""


class Sought(NamedTuple):
    """What is known of each row."""

    exists: np.ndarray
    """Whether a recourse was found, bool `[n]`."""
    none: np.ndarray
    """Whether it is proved that there is none, bool `[n]`."""
    points: Rows
    """The recourses; rows as they are where there is none."""
    examined: np.ndarray
    """How many boxes, or points of a black box, were looked at, `[n]`."""


def seek(
    context: Context, frame: pd.DataFrame, rows: Rows, target: np.ndarray, *, boxes: int
) -> Sought:
    """Looks through everything that rows can become.

    Args:
        context: The model that decides, its cut-off, and the schema.
        frame: The rows as they were given.
        rows: The same, encoded.
        target: The class index wanted for each, `[n]`.
        boxes: The most to look at for a row.
    """
    n = len(rows)
    exists, none = np.zeros(n, bool), np.zeros(n, bool)
    examined = np.zeros(n, np.int64)
    points = rows
    for wanted in np.unique(target):
        own = np.flatnonzero(target == wanted)
        found = _seek(context, frame.iloc[own], rows.take(own), int(wanted), boxes)
        exists[own], none[own], examined[own] = found.exists, found.none, found.examined
        points = put(points, own, found.points)
    return Sought(exists, none, points, examined)


def convincing(context: Context, frame: pd.DataFrame, rows: Rows, target: np.ndarray) -> Try:
    """What asks the model itself about points, after every constraint and wish was kept."""
    schema, narrowing = context.schema, context.narrowing
    start = None if narrowing is None else narrowing.start(frame, rows).rows

    def attempt(owner: np.ndarray, points: Rows) -> tuple[np.ndarray, Rows]:
        some, own = frame.iloc[owner], rows.take(owner)
        if narrowing is None or start is None:
            settled = schema.settle(some, own, points)
        else:
            begin, wanted = start.take(owner), target[owner]
            settled = kept_by_wishes(context, narrowing, some, own, points, wanted, begin)
        good = context.verdicts(context.predict(settled)) == target[owner]
        if schema.actions.limited:
            good &= ~schema.actions.breaches(schema.actions.numbers(some), own, settled)
        if narrowing is not None:
            good &= narrowing.fulfilled(some, own, settled).all(axis=1)
        return good, settled

    return attempt


def _seek(context: Context, frame: pd.DataFrame, rows: Rows, target: int, boxes: int) -> Sought:
    layout = context.schema.layout
    reach = reach_of(context, frame, rows)
    attempt = convincing(context, frame, rows, np.full(len(rows), target))
    margins = margins_of(context.trained, target, context.cut_off, layout)
    if margins is None:
        return _exhaustive(context, rows, reach, attempt, target)
    outcome = search(margins, reach, attempt, boxes=boxes)
    exists = np.zeros(len(rows), bool)
    points = rows
    if outcome.found:
        where = np.array(sorted(outcome.found))
        exists[where] = True
        own = convincing(context, frame.iloc[where], rows.take(where), np.full(len(where), target))
        start = Rows.concatenate([outcome.found[row] for row in where])
        points = put(rows, where, take_back(rows.take(where), start, own, layout))
    return Sought(exists, outcome.decided & ~exists, points, outcome.examined)


def _exhaustive(context: Context, rows: Rows, reach: Reach, attempt: Try, target: int) -> Sought:
    """The cheapest of all points, where they are few enough to try each."""
    layout, n = context.schema.layout, len(rows)
    exists, none, examined = np.zeros(n, bool), np.zeros(n, bool), np.zeros(n, np.int64)
    points = rows
    for row in range(n):
        size = size_of(reach, row, layout)
        if size > MOST_POINTS:
            continue
        examined[row], least = int(size), np.inf
        for some in points_of(reach, row, layout):
            good = np.arange(len(some))
            if not reach.follows.any():
                good = np.flatnonzero(context.verdicts(context.predict(some)) == target)
            if not len(good):
                continue
            # Points that constraints between features forbid end up elsewhere, or nowhere.
            convinced, settled = attempt(np.full(len(good), row), some.take(good))
            cost = proximity(rows.take(np.full(len(good), row)), settled, layout)
            cost = np.where(convinced, cost, np.inf)
            if cost.min() < least:
                exists[row], least = True, cost.min()
                points = put(points, np.array([row]), settled.take([cost.argmin()]))
        none[row] = not exists[row]
    return Sought(exists, none, points, examined)
