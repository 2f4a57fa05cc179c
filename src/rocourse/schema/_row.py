"""One row without a table: the rules of `encode`, `settle` and the record, for a single applicant.

A table of one row spends its time on being a table. Here its values are plain Python numbers, which
go through the same operations as a column's.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._settle import NEGLIGIBLE_CHANGE
from rocourse.schema._validation import RANGE_TOLERANCE
from rocourse.schema._values import Scalar, lookup_key, plain, positions


class RowCodes(NamedTuple):
    """One encoded row."""

    values: tuple[float, ...]
    """The continuous features, scaled to [0, 1], each a number that float32 holds."""
    categories: tuple[int, ...]
    """The index of each categorical feature's category."""


class EncodedRow(NamedTuple):
    """One row in both forms: its numbers in raw units, and its codes."""

    raw: tuple[float, ...]
    codes: RowCodes


class RowCodec:
    """Encodes, settles and compares single rows of a schema."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self._order = [feature.name for feature in features]
        self._names = frozenset(self._order)
        self._numbers = [_Number.of(f) for f in features if isinstance(f, Continuous)]
        self._groups = [f for f in features if isinstance(f, Categorical)]
        self._codes = [positions(feature.categories) for feature in self._groups]

    def encode(self, applicant: Mapping[str, Any]) -> EncodedRow | None:
        """The row's codes; None unless it is beyond doubt, and a table's checks must look at it."""
        if applicant.keys() != self._names:
            return None
        raw, categories = [], []
        for number in self._numbers:
            value = number.read(applicant[number.name])
            if value is None:
                return None
            raw.append(value)
        for group, known in zip(self._groups, self._codes, strict=True):
            code = _code(applicant[group.name], known)
            if code is None:
                return None
            categories.append(code)
        pairs = zip(self._numbers, raw, strict=True)
        values = tuple(number.scale(value) for number, value in pairs)
        return EncodedRow(tuple(raw), RowCodes(values, tuple(categories)))

    def settle(self, row: EncodedRow, proposed: RowCodes) -> RowCodes:
        """What `Schema.settle` makes of a proposal for the row."""
        here = row.codes
        values = zip(self._numbers, row.raw, here.values, proposed.values, strict=True)
        groups = zip(self._groups, here.categories, proposed.categories, strict=True)
        return RowCodes(
            tuple(number.settle(raw, now, wanted) for number, raw, now, wanted in values),
            tuple(_settled_category(now, wanted, group) for group, now, wanted in groups),
        )

    def changes(
        self, applicant: Mapping[str, Any], before: RowCodes, after: RowCodes
    ) -> list[dict[str, Any]]:
        """The changed cells in the order of the features, as in `Recourse.to_records`."""
        fresh: dict[str, Scalar] = {}
        for number, old, new in zip(self._numbers, before.values, after.values, strict=True):
            if old != new:
                value = number.unscale(new)
                fresh[number.name] = int(value) if number.whole else value
        pairs = zip(self._groups, before.categories, after.categories, strict=True)
        for group, was, is_now in pairs:
            if was != is_now:
                fresh[group.name] = group.categories[is_now]
        return [
            {"feature": name, "from": plain(applicant[name]), "to": fresh[name]}
            for name in self._order
            if name in fresh
        ]

    def proximity(self, before: RowCodes, after: RowCodes) -> float:
        """L1 distance in the encoded space; a changed category counts 2."""
        moved = sum(abs(a - b) for a, b in zip(before.values, after.values, strict=True))
        pairs = zip(before.categories, after.categories, strict=True)
        return float(moved + 2.0 * sum(a != b for a, b in pairs))


@dataclass(frozen=True, slots=True)
class _Number:
    """A continuous feature with all that is derived from it at hand."""

    name: str
    low: float
    high: float
    span: float
    least: float
    most: float
    first: float
    last: float
    whole: bool
    fixed: bool
    only_up: bool
    only_down: bool

    @classmethod
    def of(cls, feature: Continuous) -> "_Number":
        slack = RANGE_TOLERANCE * feature.span
        lower, upper = feature.bounds
        # What is accepted: the range with some slack, within the bounds.
        first, last = feature.low - slack, feature.high + slack
        return cls(
            name=feature.name,
            low=feature.low,
            high=feature.high,
            span=feature.span,
            least=feature.limits[0],
            most=feature.limits[1],
            first=first if lower is None else max(first, lower),
            last=last if upper is None else min(last, upper),
            whole=feature.integer,
            fixed=feature.immutable,
            only_up=feature.direction == "up",
            only_down=feature.direction == "down",
        )

    def read(self, value: Any) -> float | None:
        """A number that breaks no rule and lies within the training range; else None."""
        value = plain(value)
        if type(value) not in (int, float) or not self.first <= value <= self.last:
            return None
        return None if self.whole and value != math.floor(value) else float(value)

    def scale(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return float(np.float32((inside - self.low) / self.span))

    def unscale(self, code: float) -> float:
        share = min(max(code, 0.0), 1.0)
        value = self.high if share == 1.0 else self.low + share * self.span
        if self.whole:
            value = float(round(value))
        return min(max(value, self.least), self.most)

    def settle(self, raw: float, here: float, proposed: float) -> float:
        """The proposed code as it will be carried out, or the row's own."""
        if self.fixed or math.isnan(proposed):
            return here
        code = proposed
        for _ in range(2):
            code = self.scale(self.unscale(code))
        value = self.unscale(code)
        inside = min(max(raw, self.low), self.high)
        stay = (
            self.scale(value) != code
            or abs(value - inside) < NEGLIGIBLE_CHANGE * self.span
            or (self.only_up and value < raw)
            or (self.only_down and value > raw)
        )
        return here if stay else code


def _code(value: Any, known: dict[Any, int]) -> int | None:
    # Other sorts of numbers match categories too, but are not what JSON has.
    if type(plain(value)) not in (str, int, float, bool):
        return None
    return known.get(lookup_key(value))


def _settled_category(here: int, proposed: int, feature: Categorical) -> int:
    allowed = (
        not feature.immutable
        and 0 <= proposed < len(feature.categories)
        and not (feature.direction == "up" and proposed < here)
        and not (feature.direction == "down" and proposed > here)
    )
    return proposed if allowed else here
