"""Whether a model can read what was promised under another one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rocourse.evaluation._model import Model, to_plain
from rocourse.schema import COLUMN, CategoryRule, Fault, Feature, NumberRule, ValueIndex

# In the place of a value in a row that has none.
_ABSENT = object()


class PromiseReader:
    """The columns, values and classes that a model knows.

    Args:
        model: The model.
    """

    def __init__(self, model: Model) -> None:
        # Each value is looked at by itself: in a column, what pandas makes of one depends on the
        # others, and what is said of a promise must not depend on its page.
        self._rules = model.schema_.rules
        self._reasons = {feature.name: _reasons(feature) for feature in model.schema_.features}
        self._classes = ValueIndex(to_plain(label) for label in model.classes_)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the model's schema."""
        return tuple(self._rules)

    def place(self, desired: Any) -> int | None:
        """The position of a class, or None if the model does not know it."""
        return self._classes.find(desired)

    def places(self, desired: Sequence[Any]) -> list[int]:
        """The positions of classes that the model knows."""
        known = {pair: self.place(pair[1]) for pair in _distinct(desired)}
        return [known[type(value), value] or 0 for value in desired]

    def faults(self, rows: Sequence[Mapping[str, Any]], desired: Sequence[Any]) -> dict[int, str]:
        """Why the model cannot judge some of many promises, by their places.

        Columns are looked at as a whole, and rows one by one only where there may be something.
        """
        if not rows:
            return {}
        suspects: set[int] = set()
        width = len(self._rules)
        suspects.update(k for k, row in enumerate(rows) if len(row) != width)
        for name in self._rules:
            column = [row.get(name, _ABSENT) for row in rows]
            if not self._is_sound(name, column):
                suspects.update(self._unsound(name, column))
        if not self._are_classes(desired):
            suspects.update(k for k, value in enumerate(desired) if self.place(value) is None)
        found = ((place, self.fault(rows[place], desired[place])) for place in sorted(suspects))
        return {place: reason for place, reason in found if reason is not None}

    def _are_classes(self, desired: Sequence[Any]) -> bool:
        try:
            return all(self.place(value) is not None for _, value in _distinct(desired))
        except TypeError:
            # Lists are no classes.
            return False

    def _is_sound(self, name: str, column: Sequence[Any]) -> bool:
        """Whether nothing is wrong with any value of a column, found out quickly."""
        rule = self._rules[name]
        try:
            if isinstance(rule, CategoryRule):
                return all(rule.fault(value) is None for _, value in _distinct(column))
            if rule.feature.date or not {*map(type, column)} <= {int, float}:
                return False
            numbers = np.array(column, dtype=np.float64)
            return bool(NumberRule(rule.feature, COLUMN).sound(numbers).all())
        except (TypeError, OverflowError):
            # Lists are no values, and whole numbers have no end: one by one, that is told.
            return False

    def _unsound(self, name: str, column: Sequence[Any]) -> Iterator[int]:
        rule = self._rules[name]
        for place, value in enumerate(column):
            if value is _ABSENT or rule.fault(value) is not None:
                yield place

    def fault(self, row: Mapping[str, Any], desired: Any) -> str | None:
        """Why the model cannot judge a promise, in words without the person's values; or None.

        Args:
            row: The row that was promised the class.
            desired: The class.
        """
        for name, rule in self._rules.items():
            if name not in row:
                return f"column {_short(name)} is asked for by the model, but not in the promise"
            fault = rule.fault(row[name])
            if fault is not None and (reason := self._reasons[name][fault]) is not None:
                return reason
        if len(row) > len(self._rules):
            extra = min(name for name in row if name not in self._rules)
            return f"column {_short(extra)} is in the promise, but not in the model"
        if self.place(desired) is None:
            return f"class {_short(desired)} is none of the model's classes"
        return None


def _distinct(values: Sequence[Any]) -> set[tuple[type, Any]]:
    """The different values; 1, 1.0 and True are three."""
    return set(zip(map(type, values), values, strict=True))


def _reasons(feature: Feature) -> dict[Fault, str | None]:
    """Why a value is none of a feature, by what its rule finds."""
    name = _short(feature.name)
    no_number, beyond = f"a value of {name} is no number", f"a value of {name} is beyond its bounds"
    return {
        Fault.NO_NUMBER: no_number,
        Fault.MISSING: f"a value of {name} is missing",
        Fault.INFINITE: no_number,
        Fault.FRACTION: f"a value of {name} is no whole number",
        Fault.BELOW_BOUNDS: beyond,
        Fault.ABOVE_BOUNDS: beyond,
        # The model clips it, or refuses the row itself.
        Fault.OUTSIDE_RANGE: None,
        Fault.UNKNOWN_CATEGORY: f"a category of {name} is unknown to the model",
    }


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
