"""One row without a table: `encode`, `settle` and the record, for a single applicant.

A table of one row spends its time on being a table. Here its values are plain Python numbers, which
go by the same rules as a column's.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rocourse.schema._actions import Actions
from rocourse.schema._dates import to_iso
from rocourse.schema._features import Continuous
from rocourse.schema._gaps import is_gap
from rocourse.schema._layout import Rows
from rocourse.schema._rules import CategoryRule, NumberRule, Rule
from rocourse.schema._values import Scalar, plain

# Other sorts of numbers match categories too, but are not what JSON has.
_JSON_TYPES = frozenset({str, int, float, bool})


def jsonable(feature: Continuous, number: float) -> float | int | str:
    """A number as JSON has it: whole if it must be, a date as ISO text."""
    if feature.date:
        return to_iso(number, whole=feature.integer)
    return int(number) if feature.integer else number


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
    imputed: tuple[str, ...] = ()
    """The features that were missing and read by their fill, in order."""


class RowCodec:
    """Encodes, settles and compares single rows of a schema.

    Args:
        rules: The rules of its features, for single values.
        actions: What else is stated of changes.
    """

    def __init__(self, rules: Mapping[str, Rule], actions: Actions) -> None:
        self._rules, self._order = rules, list(rules)
        self._names = frozenset(rules)
        self._numbers = [rule for rule in rules.values() if isinstance(rule, NumberRule)]
        self._groups = [rule for rule in rules.values() if isinstance(rule, CategoryRule)]
        self._actions = actions
        self.priced = actions.pricing.priced
        """Whether changes cost other than their proximity."""

    def encode(self, applicant: Mapping[str, Any]) -> EncodedRow | None:
        """The row's codes; None unless it is beyond doubt, and a table's checks must look at it."""
        if not applicant.keys() >= self._names:
            return None
        imputed: list[str] = []
        raw: list[float] = []
        values: list[float] = []
        categories: list[int] = []
        for number in self._numbers:
            value = number.read(applicant[number.name])
            if value is None:
                if not is_gap(applicant[number.name]):
                    return None
                value = math.nan
            if value != value and number.fill is not None:
                imputed.append(number.name)
                value = number.fill
            if not number.sound(value):
                return None
            raw.append(value)
            values.append(number.scale(value))
        for group in self._groups:
            category = plain(applicant[group.name])
            code = group.code(category) if type(category) in _JSON_TYPES else None
            if code is None:
                code = group.gap
                if code is None or not is_gap(category):
                    return None
                if group.fill is not None:
                    imputed.append(group.name)
            categories.append(code)
        codes = RowCodes(tuple(values), tuple(categories))
        if len(imputed) > 1:
            imputed.sort(key=self._order.index)
        return EncodedRow(tuple(raw), codes, tuple(imputed))

    def settle(self, row: EncodedRow, proposed: RowCodes) -> RowCodes:
        """What `Schema.settle` makes of a proposal for the row."""
        here = row.codes
        values = zip(self._numbers, row.raw, here.values, proposed.values, strict=True)
        groups = zip(self._groups, here.categories, proposed.categories, strict=True)
        settled = RowCodes(
            tuple([number.settle(raw, now, wanted) for number, raw, now, wanted in values]),
            tuple([group.settle(now, wanted) for group, now, wanted in groups]),
        )
        joint = self._actions.joint
        if joint is None:
            return settled
        kept = joint.settle(_numbers(row), _rows(here), _rows(settled))
        return RowCodes(tuple(kept.continuous[0].tolist()), tuple(kept.categories[0].tolist()))

    def breaks(self, row: EncodedRow, attempt: RowCodes) -> bool:
        """Whether an attempt breaks a rule, which settled ones do not."""
        if not self._actions.limited:
            return False
        return bool(self._actions.breaches(_numbers(row), _rows(row.codes), _rows(attempt))[0])

    def changes(
        self, applicant: Mapping[str, Any], before: RowCodes, after: RowCodes
    ) -> list[dict[str, Any]]:
        """The changed cells in the order of the features, as in `Recourse.to_records`."""
        fresh: dict[str, Scalar] = {}
        for number, old, new in zip(self._numbers, before.values, after.values, strict=True):
            if old != new:
                fresh[number.name] = jsonable(number.feature, number.unscale(new))
        pairs = zip(self._groups, before.categories, after.categories, strict=True)
        for group, was, is_now in pairs:
            if was != is_now:
                fresh[group.name] = group.feature.categories[is_now]
        return [
            {"feature": name, "from": self._given(name, applicant[name]), "to": fresh[name]}
            for name in self._order
            if name in fresh
        ]

    def _given(self, name: str, value: object) -> object:
        """A value as it was given, None for a gap, dates as ISO text."""
        rule = self._rules[name]
        if isinstance(rule, NumberRule):
            number = rule.number(value)
            if number is None or number != number:
                return None
            # A table has whole numbers as decimals where some are missing.
            told = isinstance(value, str) or rule.feature.date
            told = told or (rule.whole and type(value) is not int)
            return jsonable(rule.feature, number) if told else plain(value)
        return plain(value) if rule.code(value) is not None else None

    def proximity(self, before: RowCodes, after: RowCodes) -> float:
        """L1 distance in the encoded space; a changed category counts 2."""
        moved = sum(abs(a - b) for a, b in zip(before.values, after.values, strict=True))
        pairs = zip(before.categories, after.categories, strict=True)
        return float(moved + 2.0 * sum(a != b for a, b in pairs))

    def cost(self, before: RowCodes, after: RowCodes) -> float:
        """What the schema says that it costs; about the proximity, where it says nothing."""
        return float(self._actions.pricing.cost(_rows(before), _rows(after))[0])

    def months(self, row: EncodedRow, after: RowCodes) -> float | None:
        """How long it takes; None where nothing is said of that."""
        pricing = self._actions.pricing
        if not pricing.timed:
            return None
        return float(pricing.months(_numbers(row), _rows(row.codes), _rows(after))[0])


def _numbers(row: EncodedRow) -> np.ndarray:
    return np.array([row.raw], dtype=np.float64)


def _rows(codes: RowCodes) -> Rows:
    return Rows(
        np.array([codes.values], dtype=np.float32), np.array([codes.categories], dtype=np.int32)
    )
