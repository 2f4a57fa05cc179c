"""Values in words."""

import math
from typing import Any

from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._values import find, plain


def describe_change(feature: Feature, before: Any, after: Any) -> str:
    """One change in the applicant's terms: `Duration: 48 → 24 months`."""
    unit = f" {feature.unit}" if isinstance(feature, Continuous) and feature.unit else ""
    old, new = describe_value(feature, before), describe_value(feature, after)
    return f"{feature.name}: {old} → {new}{unit}"


def describe_value(feature: Feature, value: Any) -> str:
    """A value in words: the label of a category, a number at the precision its range asks for."""
    if isinstance(feature, Categorical):
        known = find(value, feature.categories)
        if feature.labels is not None and known is not None:
            return feature.labels[feature.categories.index(known)]
        return _number(float(value), 12) if isinstance(plain(value), float) else str(value)
    if feature.integer:
        return str(int(value))
    # A thousandth of the range: finer than the smallest change a recourse makes.
    decimals = max(0, 3 - math.floor(math.log10(feature.span)))
    return _number(float(value), decimals)


def _number(value: float, decimals: int) -> str:
    if abs(value) >= 1e15:
        return f"{value:.6g}"
    text = f"{value:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
