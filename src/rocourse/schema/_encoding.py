"""Tables: from raw values to codes, settled, and back."""

import warnings
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse._wording import show
from rocourse.errors import ConfigError, DataError
from rocourse.schema._clipping import Clipped, ClippedWarning
from rocourse.schema._dates import to_stamps
from rocourse.schema._features import Categorical, Continuous, Feature, positioned
from rocourse.schema._layout import Layout, Rows, check_layout
from rocourse.schema._rules import COLUMN, CategoryRule, NumberRule
from rocourse.schema._validation import (
    check_columns,
    check_frame,
    read_codes,
    read_raw,
    read_values,
)
from rocourse.schema._values import as_array

OutOfRange = Literal["clip", "error"]


def encode(
    df: pd.DataFrame,
    features: tuple[Feature, ...],
    layout: Layout,
    *,
    out_of_range: OutOfRange,
) -> Rows:
    """Checks rows and encodes them; see `Schema.encode`."""
    if out_of_range not in get_args(OutOfRange):
        raise ConfigError(
            f"out_of_range must be 'clip' or 'error', but got {show(out_of_range)}; choose one of "
            "them."
        )
    df = check_frame(df)
    check_columns(df, [feature.name for feature in features])
    continuous = np.empty((len(df), layout.n_continuous), dtype=np.float32)
    categories = np.empty((len(df), layout.n_categorical), dtype=layout.category_dtype)
    clipped: list[Clipped] = []
    for feature, k in positioned(features):
        column = df[feature.name]
        if isinstance(feature, Categorical):
            categories[:, k] = read_codes(column, feature)
            continue
        rule = NumberRule(feature, COLUMN)
        values, outside = read_values(column, rule)
        if outside.any():
            first = float(values[outside.argmax()])
            clipped.append(Clipped(feature, int(outside.sum()), first))
        continuous[:, k] = rule.scale(values)
    if clipped and out_of_range == "error":
        raise DataError(
            "Values must lie within the range of the training rows, but got others in "
            f"{', '.join(map(str, clipped))}; correct them, or allow clipping with "
            "out_of_range='clip'."
        )
    if clipped:
        warnings.warn(ClippedWarning.about(clipped), stacklevel=3)
    return Rows(continuous, categories)


def settle(
    df: pd.DataFrame, rows: Rows, proposed: Rows, features: tuple[Feature, ...], layout: Layout
) -> Rows:
    """Turns proposals into rows that keep every constraint; see `Schema.settle`."""
    check_layout(rows, layout)
    check_layout(proposed, layout)
    if not len(df) == len(rows) == len(proposed):
        raise DataError(
            f"Rows, their codes and the proposals must be equally many, but got {len(df)}, "
            f"{len(rows)} and {len(proposed)}; propose one change per row."
        )
    continuous = rows.continuous.copy()
    categories = rows.categories.astype(layout.category_dtype)
    for feature, k in positioned(features):
        if feature.immutable:
            # By its rule as well; here, the column is not even read.
            continue
        if isinstance(feature, Categorical):
            choose = CategoryRule(feature, COLUMN).settle
            categories[:, k] = choose(rows.categories[:, k], proposed.categories[:, k])
            continue
        raw = read_raw(df[feature.name], feature)
        here, wanted = (part.continuous[:, k].astype(np.float64) for part in (rows, proposed))
        continuous[:, k] = NumberRule(feature, COLUMN).settle(raw, here, wanted)
    return Rows(continuous, categories)


def decode(rows: Rows, features: tuple[Feature, ...], layout: Layout) -> pd.DataFrame:
    """Raw values of encoded rows; see `Schema.decode`."""
    check_layout(rows, layout)
    columns: dict[str, pd.Series] = {}
    for feature, k in positioned(features):
        codes = rows.categories if isinstance(feature, Categorical) else rows.continuous
        columns[feature.name] = decode_column(codes[:, k], feature)
    return pd.DataFrame(columns)


def decode_column(codes: npt.NDArray[Any], feature: Feature) -> pd.Series:
    """Raw values of one feature."""
    if isinstance(feature, Categorical):
        return _decode_categories(codes, feature)
    return _decode_numbers(codes, feature)


def _decode_numbers(codes: npt.NDArray[np.floating], feature: Continuous) -> pd.Series:
    """Raw numbers, as int64 if the feature is integer; dates as times."""
    if np.isnan(codes).any():
        raise DataError(
            f"Feature {feature.name!r} must be encoded by numbers, but got NaN; pass the rows "
            "through settle."
        )
    values = NumberRule(feature, COLUMN).unscale(codes.astype(np.float64))
    if feature.date:
        return to_stamps(values)
    return pd.Series(values.astype(np.int64) if feature.integer else values)


def _decode_categories(codes: npt.NDArray[np.integer], feature: Categorical) -> pd.Series:
    """The categories themselves, in the dtype pandas would give them."""
    if len(codes) and not 0 <= codes.min() <= codes.max() < feature.size:
        raise DataError(
            f"Feature {feature.name!r} must be encoded by codes from 0 to {feature.size - 1}, but "
            f"got {codes.min()} to {codes.max()}; pass the rows through settle."
        )
    values = pd.Series(as_array(feature.categories, feature.kind))
    if feature.kind == "text":
        values = values.astype("str")
    if feature.gap is None or not (gaps := codes == feature.gap).any():
        return values.take(codes).reset_index(drop=True)
    present = values.take(np.where(gaps, 0, codes)).reset_index(drop=True)
    return (present if feature.kind == "text" else present.astype(object)).mask(gaps, None)
