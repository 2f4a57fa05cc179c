"""Ranges that are wished for, read by the rules of features."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rocourse._wording import listed, show
from rocourse.errors import ConfigError
from rocourse.schema._dates import to_days
from rocourse.schema._features import Categorical
from rocourse.schema._rules import COLUMN, CategoryRule, NumberRule, to_number
from rocourse.schema._validation import told

# Next to the code of a raw value lies one whose value is on the right side of it.
_STEPS_ASIDE = 16


def number_range(
    rule: NumberRule, given: tuple[Any, ...]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The range of a number that was wished for, in raw units and in codes."""
    feature, name = rule.feature, rule.name
    if len(given) != 2:
        raise ConfigError(
            f"The range of {name!r} must be a pair (lowest, highest), but got {show(given)}; use "
            "None for a side without limit."
        )
    first, last = feature.limits
    ends = []
    for end, open_end in zip(given, (-math.inf, math.inf), strict=True):
        read = to_days if feature.date else to_number
        number = open_end if end is None else read(end)
        if number is None or math.isnan(number):
            raise ConfigError(
                f"The range of {name!r} must be a pair of numbers, but got {show(end)} in it; use "
                "None for a side without limit."
            )
        if end is not None and not first <= number <= last:
            raise ConfigError(
                f"The range of {name!r} must lie within {told(feature, first)} to "
                f"{told(feature, last)}, which is what the schema allows, but got {show(end)}; "
                "wishes can only narrow it."
            )
        ends.append(number)
    least, most = ends
    low, high = _code(rule, least, upwards=True), _code(rule, most, upwards=False)
    if least > most or low is None or high is None or low > high:
        raise ConfigError(
            f"The range of {name!r} must leave a value between its ends, but got {show(given)}; "
            "widen it."
        )
    return (least, most), (low, high)


def _code(rule: NumberRule, end: float, *, upwards: bool) -> float | None:
    """The code next to an end of a range whose value lies inside it."""
    if math.isinf(end):
        return 0.0 if upwards else 1.0
    if rule.whole:
        end = float(math.ceil(end) if upwards else math.floor(end))
    code = np.float32(rule.scale(end))
    for _ in range(_STEPS_ASIDE):
        value = rule.unscale(float(code))
        if value >= end if upwards else value <= end:
            return float(code)
        code = np.nextafter(code, np.float32(1.0 if upwards else 0.0))
    return None


def accepted_categories(feature: Categorical, given: tuple[Any, ...]) -> npt.NDArray[np.bool_]:
    """Which categories will do, bool `[categories]`."""
    find = CategoryRule(feature, COLUMN).code
    accepted = np.zeros(feature.size, bool)
    for value in given:
        code = find(value)
        if code is None:
            raise ConfigError(
                f"The range of {feature.name!r} must be some of {listed(feature.categories)}, but "
                f"got {show(value)}; name categories of the schema."
            )
        accepted[code] = True
    if not accepted.any():
        raise ConfigError(
            f"The range of {feature.name!r} must name at least one category, but got none; leave "
            "it out for any."
        )
    return accepted
