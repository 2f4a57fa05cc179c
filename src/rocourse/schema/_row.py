"""One row without a table: the rules of `encode`, `settle` and the record, for a single applicant.

A table of one row spends its time on being a table. Here all numbers of a row are handled at once,
feature by feature side by side, by the same operations as a column is.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._layout import Layout, Rows
from rocourse.schema._settle import NEGLIGIBLE_CHANGE
from rocourse.schema._validation import RANGE_TOLERANCE, Floats, Mask
from rocourse.schema._values import lookup_key, plain, positions


@dataclass(frozen=True)
class EncodedRow:
    """One row in both forms: its numbers in raw units, and its codes."""

    raw: Floats
    """The raw numbers of the continuous features, `[C]`."""
    rows: Rows
    """The codes, as rows of length one."""


class RowCodec:
    """Encodes, settles and compares single rows of a schema."""

    def __init__(self, features: tuple[Feature, ...], layout: Layout) -> None:
        self._features = features
        self._layout = layout
        self._names = frozenset(feature.name for feature in features)
        self._numbers = [f for f in features if isinstance(f, Continuous)]
        self._groups = [f for f in features if isinstance(f, Categorical)]
        self._codes = [positions(feature.categories) for feature in self._groups]

        def floats(values: list[float]) -> Floats:
            return np.asarray(values, dtype=np.float64)

        self._low = floats([f.low for f in self._numbers])
        self._high = floats([f.high for f in self._numbers])
        self._span = self._high - self._low
        self._least = floats([f.limits[0] for f in self._numbers])
        self._most = floats([f.limits[1] for f in self._numbers])
        self._whole = _flags([f.integer for f in self._numbers])
        self._never = _flags([f.immutable for f in self._numbers])
        self._only_up = _flags([f.direction == "up" for f in self._numbers])
        self._only_down = _flags([f.direction == "down" for f in self._numbers])

    def encode(self, applicant: Mapping[str, Any]) -> EncodedRow | None:
        """The row's codes; None unless it is beyond doubt, and a table's checks must look at it."""
        if applicant.keys() != self._names:
            return None
        numbers = [_sound(applicant[feature.name], feature) for feature in self._numbers]
        codes = [
            _code(applicant[feature.name], known)
            for feature, known in zip(self._groups, self._codes, strict=True)
        ]
        if None in numbers or None in codes:
            return None
        raw = np.asarray(numbers, dtype=np.float64)
        categories = np.asarray([codes], dtype=self._layout.category_dtype)
        return EncodedRow(raw, Rows(self._scale(raw)[None], categories.reshape(1, -1)))

    def settle(self, row: EncodedRow, proposed: Rows) -> Rows:
        """What `Schema.settle` makes of a proposal for the row."""
        here, wanted = row.rows.continuous[0], proposed.continuous[0]
        codes = np.where(np.isnan(wanted), here, wanted)
        for _ in range(2):
            codes = self._scale(self._unscale(codes))
        values = self._unscale(codes)
        inside = _clip(row.raw, self._low, self._high)
        stay: Mask = (
            self._never
            | np.isnan(wanted)
            | (self._scale(values) != codes)
            | (np.abs(values - inside) < NEGLIGIBLE_CHANGE * self._span)
            | (self._only_up & (values < row.raw))
            | (self._only_down & (values > row.raw))
        )
        categories = [
            _settled_category(int(before), int(after), feature)
            for before, after, feature in zip(
                row.rows.categories[0], proposed.categories[0], self._groups, strict=True
            )
        ]
        return Rows(
            np.where(stay, here, codes)[None],
            np.asarray([categories], dtype=self._layout.category_dtype).reshape(1, -1),
        )

    def changes(
        self, applicant: Mapping[str, Any], before: Rows, after: Rows
    ) -> list[dict[str, Any]]:
        """The changed cells in the order of the features, as in `Recourse.to_records`."""
        fresh: dict[str, Any] = {}
        moved = np.flatnonzero(before.continuous[0] != after.continuous[0]).tolist()
        if moved:
            values = self._unscale(after.continuous[0]).tolist()
            for k in moved:
                feature = self._numbers[k]
                fresh[feature.name] = int(values[k]) if feature.integer else values[k]
        for k in np.flatnonzero(before.categories[0] != after.categories[0]).tolist():
            group = self._groups[k]
            fresh[group.name] = group.categories[int(after.categories[0, k])]
        return [
            {"feature": f.name, "from": plain(applicant[f.name]), "to": fresh[f.name]}
            for f in self._features
            if f.name in fresh
        ]

    def _scale(self, values: Floats) -> npt.NDArray[np.float32]:
        inside = _clip(values, self._low, self._high)
        return ((inside - self._low) / self._span).astype(np.float32)

    def _unscale(self, codes: npt.NDArray[np.floating]) -> Floats:
        shares = _clip(codes.astype(np.float64), 0.0, 1.0)
        values = np.where(shares == 1.0, self._high, self._low + shares * self._span)
        values = np.where(self._whole, np.rint(values), values)
        return _clip(values, self._least, self._most)


def _flags(values: list[bool]) -> Mask:
    return np.asarray(values, dtype=np.bool_)


def _clip(values: Floats, low: Floats | float, high: Floats | float) -> Floats:
    # `np.clip` takes several times as long on so few values.
    clipped: Floats = np.minimum(np.maximum(values, low), high)
    return clipped


def _sound(value: Any, feature: Continuous) -> float | None:
    """A number that breaks no rule and lies within the training range; else None."""
    value = plain(value)
    if type(value) not in (int, float):
        return None
    least, most = feature.bounds
    slack = RANGE_TOLERANCE * feature.span
    sound = (
        feature.low - slack <= value <= feature.high + slack
        and not (feature.integer and value != math.floor(value))
        and (least is None or value >= least)
        and (most is None or value <= most)
    )
    return float(value) if sound else None


def _code(value: Any, known: dict[Any, int]) -> int | None:
    try:
        return known.get(lookup_key(value))
    except TypeError:
        return None


def _settled_category(here: int, proposed: int, feature: Categorical) -> int:
    allowed = (
        not feature.immutable
        and 0 <= proposed < len(feature.categories)
        and not (feature.direction == "up" and proposed < here)
        and not (feature.direction == "down" and proposed > here)
    )
    return proposed if allowed else here
