"""What gaps are read as: learned from training rows, and where rows have them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Never

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.errors import DataError, SchemaError
from rocourse.schema._dates import MOMENTS_PER_DAY
from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._gaps import gaps_of
from rocourse.schema._rules import COLUMN, CategoryRule
from rocourse.schema._validation import check_columns, check_frame, factorize, read_present

Mask = npt.NDArray[np.bool_]


def all_filled(df: pd.DataFrame, features: tuple[Feature, ...]) -> tuple[Feature, ...]:
    """The features, all of which know their fill if they impute; see `Schema.filled`."""
    df = check_frame(df)
    check_columns(df, [feature.name for feature in features], SchemaError)
    return tuple(filled(feature, df[feature.name]) for feature in features)


def filled(feature: Feature, column: pd.Series) -> Feature:
    """A feature that imputes, with a fill: its own, or the median or most frequent value."""
    if feature.missing != "impute" or feature.fill is not None:
        return feature
    if isinstance(feature, Categorical):
        return replace(feature, fill=feature.categories[_most_frequent(feature, column)])
    return replace(feature, fill=_median(feature, column))


def _median(feature: Continuous, column: pd.Series) -> float:
    values = read_present(column, feature.name, date=feature.date, written=feature.written)
    if np.isnan(values).all():
        _refuse_empty(feature.name)
    middle = float(np.nanmedian(values))
    if feature.date and not feature.integer:
        middle = round(middle * MOMENTS_PER_DAY) / MOMENTS_PER_DAY
    # Of an even number of values it may lie between two whole numbers.
    return float(np.clip(np.rint(middle) if feature.integer else middle, *feature.limits))


def _most_frequent(feature: Categorical, column: pd.Series) -> int:
    indices, values = factorize(column, feature.name)
    code_of = CategoryRule(feature, COLUMN).code
    codes = np.array([-1 if (code := code_of(value)) is None else code for value in values])
    seen = codes[indices[indices >= 0]] if len(codes) else codes
    if not len(seen := seen[seen >= 0]):
        _refuse_empty(feature.name)
    return int(np.bincount(seen).argmax())


def _refuse_empty(name: str) -> Never:
    raise DataError(
        f"Column {name!r} must have values to learn a fill from, but it has none; state the "
        "feature's fill, or drop the column."
    )


def gaps_by_feature(
    df: pd.DataFrame, features: Iterable[Feature]
) -> Iterator[tuple[Feature, Mask]]:
    """Each feature that rows have gaps in, and which of them."""
    for feature in features:
        known = feature.categories if isinstance(feature, Categorical) else ()
        gaps = gaps_of(df[feature.name], known)
        if gaps.any():
            yield feature, gaps


def usable(df: pd.DataFrame, features: Iterable[Feature]) -> Mask:
    """Which rows can be trained on; see `Schema.usable`."""
    fit = np.ones(len(df), dtype=bool)
    for _, gaps in gaps_by_feature(df, [one for one in features if one.missing == "drop"]):
        fit &= ~gaps
    return fit
