"""Values that rows usually have: what advice may ask for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rocourse.errors import SchemaError
from rocourse.schema._layout import Layout, Rows

if TYPE_CHECKING:
    from rocourse.schema._schema import Schema

USUAL_TAIL = 0.01
"""The share of rows at each end of a number whose values are not asked for."""
USUAL_SHARE = 0.02
"""The least share of the rows that a category must have to be asked for."""
LEAST_ROWS = 5
"""The least number of them."""
# An end stands apart if the gap to the next value is this share of what most others span; of fewer
# different values nobody can tell. Codes for so many things are looked for on either side.
_APART, _LEAST_VALUES, _CODES = 0.25, 10, 3
# Encoded values are float32: a place on a grid need not be one to the last digit.
_ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class Usual:
    """Which values rows have that are neither at the edge nor rare.

    A row that is beyond them may stay there; no advice goes there.

    Attributes:
        low: The first percentile of each number, encoded, float32 `[n_continuous]`.
        high: The 99th.
        common: Which categories are not rare, group after group, bool `[width - n_continuous]`.
    """

    low: npt.NDArray[np.float32]
    high: npt.NDArray[np.float32]
    common: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Rows, schema: "Schema") -> "Usual":
        """What these rows have, whole numbers and steps within it."""
        low, high = usual_ends(rows, USUAL_TAIL)
        for i, feature in enumerate(schema.continuous):
            step = None if feature.change is None else feature.change.step
            step = step or (1.0 if feature.integer else None)
            if step is not None:
                first, last = (feature.low + np.array([low[i], high[i]]) * feature.span) / step
                first, last = np.ceil(first - _ROUNDING), np.floor(last + _ROUNDING)
                # Between percentiles that are next to each other there may be none.
                if first <= last:
                    ends = (step * np.array([first, last]) - feature.low) / feature.span
                    low[i], high[i] = np.clip(ends, 0.0, 1.0)
        common = np.zeros(schema.layout.width - schema.layout.n_continuous, bool)
        for group, codes in common_categories(rows, schema.layout, USUAL_SHARE):
            common[group.start - schema.layout.n_continuous + codes] = True
        return cls(low.astype(np.float32), high.astype(np.float32), common)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "common": self.common.tolist(),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], layout: Layout) -> "Usual":
        """The inverse of `to_dict`.

        Raises:
            SchemaError: They are not those of rows of this layout.
        """
        low, high = (np.asarray(stored[name], np.float32) for name in ("low", "high"))
        common = np.asarray(stored["common"], bool)
        numbers, categories = (layout.n_continuous,), (layout.width - layout.n_continuous,)
        if low.shape != numbers or high.shape != numbers or common.shape != categories:
            raise SchemaError(
                f"Usual values must be of {numbers[0]} numbers and {categories[0]} categories: got "
                f"{low.shape}, {high.shape} and {common.shape}; train the model again."
            )
        if not ((low >= 0.0) & (low <= high) & (high <= 1.0)).all():
            raise SchemaError(
                "Usual values must be between 0 and 1, the lower ones first: got others; train the "
                "model again."
            )
        return cls(low, high, common)


def common_categories(
    rows: Rows, layout: Layout, min_share: float
) -> list[tuple[slice, npt.NDArray[np.intp]]]:
    """Of each group, its columns and the categories that at least this share of the rows have."""
    found = []
    for group, codes in zip(layout.group_slices, rows.categories.T, strict=True):
        counts = np.bincount(codes, minlength=group.stop - group.start)
        # The most frequent one can be asked for, however many there are.
        least = min(max(LEAST_ROWS, min_share * len(rows)), counts.max())
        found.append((group, np.flatnonzero(counts >= least)))
    return found


def usual_ends(rows: Rows, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """The quantiles of each number that leave out this share of the rows, and codes, at an end."""
    ends = [
        np.quantile(some, (tail, 1.0 - tail))
        for column in rows.continuous.T
        for some in (column, without_codes(column))
    ]
    low, high = np.array(ends).reshape(-1, 2, 2).transpose(2, 0, 1)
    low, high = low.max(axis=1), high.min(axis=1)
    return low, np.maximum(low, high)


def without_codes(values: np.ndarray) -> np.ndarray:
    """A number's values but for those at its ends that stand apart from all others.

    A cholesterol of 0, or an amount of 9,999 where the next one is 800, is no amount but a code,
    mostly for one that is missing: a model may learn from it, and nobody can be told to reach it.
    """
    # One end may hide that the other stands apart.
    for sign in _CODES * (1.0, -1.0):
        found = np.unique(sign * values)
        if len(found) <= _LEAST_VALUES:
            break
        others = values[sign * values > found[0]]
        low, high = np.quantile(others, (USUAL_TAIL, 1.0 - USUAL_TAIL))
        # Rarer ones lie beyond the percentiles; what most rows have is no code.
        share = 1.0 - len(others) / len(values)
        if USUAL_TAIL < share < 0.5 and found[1] - found[0] > _APART * (high - low):
            values = others
    return values
