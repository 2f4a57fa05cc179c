"""Whether a model can read what was promised under another one."""

import math
import sys
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from rocourse.evaluation._model import Model, to_plain
from rocourse.schema import Categorical, Continuous, Feature


class PromiseReader:
    """The columns, values and classes that a model knows.

    Args:
        model: The model.
    """

    def __init__(self, model: Model) -> None:
        self._rules = {feature.name: _rule(feature) for feature in model.schema_.features}
        self._places = {_key(to_plain(label)): k for k, label in enumerate(model.classes_)}

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the model's schema."""
        return tuple(self._rules)

    def place(self, desired: Any) -> int:
        """The position of a class that the model knows."""
        return self._places[_key(desired)]

    def fault(self, row: Mapping[str, Any], desired: Any) -> str | None:
        """Why the model cannot judge a promise, in words without the person's values; or None.

        Args:
            row: The row that was promised the class.
            desired: The class.
        """
        for name, rule in self._rules.items():
            if name not in row:
                return f"column {_short(name)} is asked for by the model, but not in the promise"
            if (reason := rule(row[name])) is not None:
                return reason
        if len(row) > len(self._rules):
            extra = min(name for name in row if name not in self._rules)
            return f"column {_short(extra)} is in the promise, but not in the model"
        if _key(desired) not in self._places:
            return f"class {_short(desired)} is none of the model's classes"
        return None


def _rule(feature: Feature) -> Callable[[Any], str | None]:
    """Says why a value is none of a feature; the rules are those of `Schema.encode`.

    Each value is looked at by itself: in a column, what pandas makes of one depends on the others,
    and what is said of a promise must not depend on its page.
    """
    if isinstance(feature, Categorical):
        known = {_key(category) for category in feature.categories}
        unseen = f"a category of {_short(feature.name)} is unknown to the model"
        return lambda value: None if _key(value) in known else unseen
    return lambda value: _number_fault(value, feature)


def _number_fault(value: Any, feature: Continuous) -> str | None:
    # Types and not `isinstance`: a flag is no number here.
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        return f"a value of {_short(feature.name)} is no number"
    if feature.integer and value != math.floor(value):
        return f"a value of {_short(feature.name)} is no whole number"
    least, most = feature.bounds
    if (least is not None and value < least) or (most is not None and value > most):
        return f"a value of {_short(feature.name)} is beyond its bounds"
    return None


def _key(value: Any) -> Hashable:
    """A key under which 1 and 1.0 are one value of JSON, but 1, true and "1" are three."""
    if isinstance(value, str | int | float):
        return isinstance(value, bool), value
    return None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
