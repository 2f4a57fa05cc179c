"""What rows can become at all: a box around everything that `Schema.settle` can lead to.

Rules over several features make the truth smaller than the box; what holds for the whole box holds
for it too.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from jax import Array

from rocourse.models import bound, in_blocks
from rocourse.recourse._proposer import Context
from rocourse.recourse.proof._boxes import Boxes
from rocourse.recourse.proof._joint import Joint
from rocourse.schema import NEGLIGIBLE_CHANGE, Continuous, Rows, Schema, one_hot
from rocourse.schema.constraints import ConstraintLayer

# More whole numbers than this are an interval like any other.
_MOST_WHOLE_NUMBERS = 1e6
# How many of them are settled at once.
_AT_ONCE = 1 << 20
# By how much codes that settling leads to may lie beyond limits of float32.
_ROUNDING = 1e-6
UNNOTICED = NEGLIGIBLE_CHANGE - _ROUNDING
"""Codes nearer to a row's own than this are no change: settling keeps its own."""

Grid = np.ndarray | None
"""All codes that a number can have, float64 and sorted; None where it is an interval."""


@dataclass(frozen=True, eq=False)
class Reach:
    """What each of n rows can become.

    Attributes:
        boxes: Around all of it.
        grids: Of each number the grid of each row.
        here: The numbers that rows have, float64 `[n, n_continuous]`.
        joint: The rules over several features, if there are any.
    """

    boxes: Boxes
    grids: tuple[tuple[Grid, ...], ...]
    here: np.ndarray
    joint: Joint | None = None

    @property
    def follows(self) -> np.ndarray:
        """Which numbers follow others, bool `[n_continuous]`: the others decide of them."""
        none = np.zeros(self.here.shape[1], bool)
        return none if self.joint is None else self.joint.follows


def reach_of(context: Context, frame: pd.DataFrame, rows: Rows) -> Reach:
    """What rows can become.

    Args:
        context: Whose schema it is.
        frame: The rows as they were given.
        rows: The same, encoded.
    """
    schema = context.schema
    x = one_hot(rows, schema.layout)
    # What is stated of changes is looked at in raw units, and what follows others moves with them.
    rules = replace(context.constraints, actions=None)
    low, high, allowed = in_blocks(partial(bound, _limits, (rules,)), x)
    allowed = allowed.astype(bool)
    here = rows.continuous.astype(np.float64)
    if schema.actions.limited:
        low, high, allowed = _limited(schema, frame, rows, low, high, allowed)
    free = low < high
    low = np.where(free, np.clip(low.astype(np.float64) - _ROUNDING, 0.0, 1.0), here)
    high = np.where(free, np.clip(high.astype(np.float64) + _ROUNDING, 0.0, 1.0), here)
    if (narrowing := context.narrowing) is not None:
        wished = (narrowing.least > -np.inf) | (narrowing.most < np.inf)
        low = np.where(wished, np.maximum(low, narrowing.low - _ROUNDING), low)
        high = np.where(wished, np.minimum(high, narrowing.high + _ROUNDING), high)
        allowed &= narrowing.accepted
    joint = Joint.of(schema, frame, rows)
    follows = np.zeros(len(schema.continuous), bool) if joint is None else joint.follows
    grids: list[tuple[Grid, ...]] = []
    for k, feature in enumerate(schema.continuous):
        step = _step(feature)
        if not step or feature.span / step > _MOST_WHOLE_NUMBERS or follows[k]:
            grids.append((None,) * len(rows))
            continue
        found = _grids(feature, frame, here[:, k], low[:, k], high[:, k])
        # Nothing is left where a wish cannot come true.
        low[:, k] = [grid[0] if len(grid) else 1.0 for grid in found]
        high[:, k] = [grid[-1] if len(grid) else 0.0 for grid in found]
        grids.append(tuple(found))
    return Reach(Boxes(low, high, allowed), tuple(grids), here, joint)


def _limited(
    schema: Schema,
    frame: pd.DataFrame,
    rows: Rows,
    low: np.ndarray,
    high: np.ndarray,
    allowed: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ends of numbers and the categories that limits of change leave."""
    actions, here = schema.actions, rows.continuous.astype(np.float64)
    ends = actions.reach(actions.numbers(frame))
    lows = np.array([feature.low for feature in schema.continuous])
    spans = np.array([feature.span for feature in schema.continuous])
    least, most = (np.clip((end - lows) / spans, 0.0, 1.0) for end in ends)
    low = np.maximum(low, np.minimum(least, here))
    high = np.minimum(high, np.maximum(most, here))
    moves = [table[rows.categories[:, k]] for k, table in enumerate(actions.transitions())]
    return low, high, allowed & np.concatenate([np.zeros((len(rows), 0), bool), *moves], axis=1)


def _step(feature: Continuous) -> float:
    """The distance between values that a number can become; 0: any."""
    if feature.change is not None and feature.change.step is not None:
        return feature.change.step
    return 1.0 if feature.integer else 0.0


def _limits(model: tuple[ConstraintLayer], x: Array) -> tuple[Array, ...]:
    limits = model[0].limits(x.T)
    return limits.low.T, limits.high.T, limits.allowed.T


def _grids(
    feature: Continuous, frame: pd.DataFrame, here: np.ndarray, low: np.ndarray, high: np.ndarray
) -> list[np.ndarray]:
    """The codes of all whole numbers, or steps, that settling leads to, for each row."""
    size = _step(feature)
    first = np.floor((feature.low + low * feature.span) / size).astype(np.int64)
    last = np.ceil((feature.low + high * feature.span) / size).astype(np.int64)
    lengths = np.where(low < high, last - first + 1, 1)
    grids: list[np.ndarray] = []
    # As many rows at once as are worth a call.
    block = np.cumsum(lengths) // _AT_ONCE
    for number in range(int(block[-1]) + 1) if len(block) else ():
        some = np.flatnonzero(block == number)
        ends = np.cumsum(lengths[some])
        owner = np.repeat(some, lengths[some])
        step = np.arange(len(owner)) - np.repeat(ends - lengths[some], lengths[some])
        codes = _settled(feature, frame, here, owner, (first[owner] + step) * size)
        inside = (codes >= low[owner]) & (codes <= high[owner])
        parts = np.split(np.where(inside, codes, np.nan), ends[:-1])
        for row, part in zip(some, parts, strict=True):
            # What it is stays, unless it was wished away.
            stays = here[[row]][(low[row] <= here[row]) & (here[row] <= high[row])]
            grids.append(np.unique(np.append(part[~np.isnan(part)], stays)))
    return grids


def _settled(
    feature: Continuous,
    frame: pd.DataFrame,
    here: np.ndarray,
    owner: np.ndarray,
    numbers: np.ndarray,
) -> np.ndarray:
    """What becomes of proposed numbers by the rules of the feature alone."""
    alone = Schema((feature,))
    wanted = np.clip((numbers - feature.low) / feature.span, 0.0, 1.0)
    raw = frame[[feature.name]].iloc[owner]
    settled = alone.settle(raw, _column(here[owner]), _column(wanted))
    return settled.continuous[:, 0].astype(np.float64)


def _column(codes: np.ndarray) -> Rows:
    """Rows of a single number."""
    return Rows(codes[:, None].astype(np.float32), np.zeros((len(codes), 0), np.int16))
