"""Values in words."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.schema._dates import in_words, read_days, to_days
from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._gaps import MISSING_WORD, gaps_of, is_gap
from rocourse.schema._values import find, plain
from rocourse.schema._written import as_numbers

# From here on digits are told in groups of three, where there is room for it.
_LONG = 10_000
# From here on a number is told by its leading digits.
_LARGE = 1e15
# Up to here, the rounding of a product of two numbers is told apart from a tie by this margin.
_SAFE_STEPS, _MARGIN = 1e9, 1e-6


def describe_changes(feature: Feature, before: pd.Series, after: pd.Series) -> list[str]:
    """Changes in the applicant's terms, one for each pair of values: `Duration: 48 → 24 months`.

    A gap is told as `missing`, and a date as it is written: `Since: 2020-01-05 → 2020-03-01`.
    """
    unit = _unit(feature)
    pairs = zip(_in_words(feature, before), _in_words(feature, after), strict=True)
    return [f"{feature.name}: {old} → {new}{unit}" for old, new in pairs]


def describe_value(feature: Feature, value: Any) -> str:
    """One value of a feature, with its unit; a continuous one in the numbers of the schema."""
    if isinstance(feature, Continuous) and feature.date:
        return feature.word(value)
    word = _one_in_words(feature, value)
    if isinstance(feature, Continuous) and abs(value) >= _LONG:
        whole, point, decimals = word.partition(".")
        word = f"{int(whole):,}{point}{decimals}"
    return f"{word}{_unit(feature)}"


def describe_change(feature: Feature, before: Any, after: Any) -> str:
    """One change, as `describe_changes` puts it, without tables: a service tells many of them."""
    old, new = (_one_in_words(feature, value) for value in (before, after))
    return f"{feature.name}: {old} → {new}{_unit(feature)}"


def _unit(feature: Feature) -> str:
    if isinstance(feature, Categorical) or feature.date:
        return ""
    return f" {feature.unit}" if feature.unit else ""


def _one_in_words(feature: Feature, value: Any) -> str:
    known = feature.categories if isinstance(feature, Categorical) else ()
    return MISSING_WORD if is_gap(value) and value not in known else _in_word(feature, value)


def _in_word(feature: Feature, value: Any) -> str:
    if isinstance(feature, Categorical):
        return _category(feature, value)
    if feature.date:
        day = to_days(value)
        return in_words(math.nan if day is None else day, whole=feature.integer)
    if feature.integer:
        return str(int(value))
    return _fixed([float(value)], _decimals(feature))[0]


def _decimals(feature: Continuous) -> int:
    # A thousandth of the range: finer than the smallest change a recourse makes.
    return max(0, 3 - math.floor(math.log10(feature.span)))


def _in_words(feature: Feature, values: pd.Series) -> list[str]:
    """The labels of categories, or numbers at the precision that their range asks for."""
    known = feature.categories if isinstance(feature, Categorical) else ()
    gaps = gaps_of(values, known)
    if isinstance(feature, Continuous):
        values = as_numbers(values, feature.written)
    if not gaps.any():
        return _present_in_words(feature, values)
    texts = np.full(len(values), MISSING_WORD, dtype=object)
    texts[~gaps] = _present_in_words(feature, values[~gaps])
    told: list[str] = texts.tolist()
    return told


def _present_in_words(feature: Feature, values: pd.Series) -> list[str]:
    if isinstance(feature, Continuous) and feature.date:
        whole = feature.integer
        return [in_words(day, whole=whole) for day in read_days(values)[0].tolist()]
    if isinstance(feature, Categorical) or feature.integer:
        return _each_distinct(values, lambda value: _in_word(feature, value))
    return _numbers(np.asarray(values, dtype=np.float64), _decimals(feature))


def _each_distinct(values: Any, describe: Callable[[Any], str]) -> list[str]:
    """Describes values, of which there are fewer than rows, once each."""
    if values.dtype == object:
        # Equal values of several types (2 and Decimal("2.0")) differ in words.
        return [describe(value) for value in values]
    indices, distinct = pd.factorize(values)
    words = np.array([describe(value) for value in distinct], dtype=object)
    texts: list[str] = words[indices].tolist()
    return texts


def _category(feature: Categorical, value: Any) -> str:
    known = find(value, feature.categories)
    if feature.labels is not None and known is not None:
        return feature.labels[feature.categories.index(known)]
    return _fixed([float(value)], 12)[0] if isinstance(plain(value), float) else str(value)


def _numbers(values: npt.NDArray[np.float64], decimals: int) -> list[str]:
    # A tiny range may ask for more decimals than the power below can have.
    scale = 10.0 ** min(decimals, 15)
    with np.errstate(over="ignore", invalid="ignore"):
        steps = values * scale
        nearest = np.rint(steps)
        # Rounded values are few, and their words those of the values, unless these lie about
        # halfway between two steps.
        is_safe = np.abs(np.abs(steps - nearest) - 0.5) > _MARGIN
    is_safe &= (np.abs(steps) < _SAFE_STEPS) & (decimals <= 15)
    indices, distinct = pd.factorize(nearest / scale)
    texts = np.array(_fixed(distinct.tolist(), decimals), dtype=object)[indices]
    texts[~is_safe] = _fixed(values[~is_safe].tolist(), decimals)
    told: list[str] = texts.tolist()
    return told


def _fixed(values: list[float], decimals: int) -> list[str]:
    """Numbers in fixed notation, without zeros at the end."""
    form = f"%.{decimals}f"
    texts = [form % value if abs(value) < _LARGE else f"{value:.6g}" for value in values]
    if decimals:
        texts = [text.rstrip("0").rstrip(".") if "." in text else text for text in texts]
    return ["0" if text == "-0" else text for text in texts]
