"""What rows can become at all: a box around everything that `Schema.settle` can lead to.

Constraints between features make the truth smaller than the box; what holds for the whole box holds
for it too.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from jax import Array

from rocourse.models import bound, in_blocks
from rocourse.recourse._proposer import Context
from rocourse.recourse.proof._boxes import Boxes
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
    """

    boxes: Boxes
    grids: tuple[tuple[Grid, ...], ...]
    here: np.ndarray


def reach_of(context: Context, frame: pd.DataFrame, rows: Rows) -> Reach:
    """What rows can become.

    Args:
        context: Whose schema it is.
        frame: The rows as they were given.
        rows: The same, encoded.
    """
    schema = context.schema
    x = one_hot(rows, schema.layout)
    low, high, allowed = in_blocks(partial(bound, _limits, (context.constraints,)), x)
    here = rows.continuous.astype(np.float64)
    free = low < high
    low = np.where(free, np.clip(low.astype(np.float64) - _ROUNDING, 0.0, 1.0), here)
    high = np.where(free, np.clip(high.astype(np.float64) + _ROUNDING, 0.0, 1.0), here)
    grids: list[tuple[Grid, ...]] = []
    for k, feature in enumerate(schema.continuous):
        if not feature.integer or feature.span > _MOST_WHOLE_NUMBERS:
            grids.append((None,) * len(rows))
            continue
        found = _grids(feature, frame, here[:, k], low[:, k], high[:, k])
        low[:, k] = [grid[0] for grid in found]
        high[:, k] = [grid[-1] for grid in found]
        grids.append(tuple(found))
    return Reach(Boxes(low, high, allowed.astype(bool)), tuple(grids), here)


def _limits(model: tuple[ConstraintLayer], x: Array) -> tuple[Array, ...]:
    limits = model[0].limits(x.T)
    return limits.low.T, limits.high.T, limits.allowed.T


def _grids(
    feature: Continuous, frame: pd.DataFrame, here: np.ndarray, low: np.ndarray, high: np.ndarray
) -> list[np.ndarray]:
    """The codes of all whole numbers that settling leads to, for each row."""
    first = np.floor(feature.low + low * feature.span).astype(np.int64)
    last = np.ceil(feature.low + high * feature.span).astype(np.int64)
    lengths = np.where(low < high, last - first + 1, 1)
    grids: list[np.ndarray] = []
    # As many rows at once as are worth a call.
    block = np.cumsum(lengths) // _AT_ONCE
    for number in range(int(block[-1]) + 1) if len(block) else ():
        some = np.flatnonzero(block == number)
        ends = np.cumsum(lengths[some])
        owner = np.repeat(some, lengths[some])
        step = np.arange(len(owner)) - np.repeat(ends - lengths[some], lengths[some])
        codes = _settled(feature, frame, here, owner, first[owner] + step)
        inside = (codes >= low[owner]) & (codes <= high[owner])
        codes = np.where(inside, codes, here[owner])
        parts = np.split(codes, ends[:-1])
        grids += [
            np.unique(np.append(part, here[row])) for row, part in zip(some, parts, strict=True)
        ]
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
