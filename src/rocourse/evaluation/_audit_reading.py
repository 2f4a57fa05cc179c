"""Whether a model can read what was promised under another one."""

from collections.abc import Mapping
from typing import Any

from rocourse.evaluation._model import Model, to_plain
from rocourse.schema import Fault, Feature, ValueIndex


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
