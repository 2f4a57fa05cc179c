"""Checks of a table against features: the rules that rows can break, and how they are told."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Never

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.errors import DataError, RocourseError
from rocourse.schema._features import Categorical, Continuous
from rocourse.schema._values import lookup_key, plain, positions
from rocourse.schema._wording import closest, counted, did_you_mean, duplicates, listed, show

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# Share of the range by which a value may lie outside it unnoticed: the rounding of a trip through a
# float32 column or a text file.
RANGE_TOLERANCE = 1e-6

# What pandas calls the contents of an object column that holds, or may hold, only numbers.
_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal", "empty"}
_MIXTURES = {"mixed", "mixed-integer"}


def check_frame(df: object) -> pd.DataFrame:
    """Refuses what is no table, has no rows, or has two columns of one name."""
    if not isinstance(df, pd.DataFrame):
        raise DataError(
            f"Rows must be a pandas DataFrame, but got {type(df).__name__}; wrap them in "
            "pd.DataFrame with column names."
        )
    if repeated := duplicates(list(df.columns)):
        raise DataError(
            f"Column names must be unique, but got {listed(repeated)} more than once; rename or "
            "drop the duplicates."
        )
    if len(df) == 0:
        raise DataError(
            "The rows must be at least one, but got a table with no rows; check how it was "
            "filtered."
        )
    return df


def check_columns(
    df: pd.DataFrame,
    names: Sequence[str],
    target: str | None,
    error: type[RocourseError] = DataError,
) -> None:
    """Refuses missing and unknown columns; their order does not matter."""
    present = set(df.columns)
    for name in names:
        if name in present:
            continue
        strangers = [column for column in df.columns if column not in set(names)]
        similar = closest(name, strangers)
        remedy = "" if similar is None else f", or rename {similar!r} if that is the one"
        missing = sum(name not in present for name in names)
        others = "" if missing == 1 else f" ({missing} of {len(names)} features are)"
        raise error(
            f"Column {name!r} is in the schema but missing from the rows{others}; add it{remedy}."
        )
    known = set(names)
    for column in df.columns:
        if column in known:
            continue
        if column == target:
            raise error(
                f"Column {column!r} is the target and no feature, but got it among the rows; drop "
                "it."
            )
        raise error(
            f"Column {show(column)} is not in the schema{did_you_mean(column, names)}, which has "
            f"the columns {listed(names)}; drop it."
        )


def read_numbers(column: pd.Series, name: str, error: type[RocourseError] = DataError) -> Floats:
    """The finite numbers of a column.

    Args:
        column: Any column.
        name: Its name, for the error sentence.
        error: Raised if the column does not hold numbers (missing and infinite ones are a
            `DataError` always).
    """
    values = to_floats(column)
    if values is None:
        _refuse_non_numbers(column, name, error)
    if (missing := np.isnan(values)).any():
        refuse_missing(column, name, missing)
    if (infinite := np.isinf(values)).any():
        first = values[infinite.argmax()]
        raise DataError(
            f"Column {name!r} must hold finite numbers, but {_rows_hold(infinite)} infinity "
            f"({first}, first in row {_label(column, infinite)}); replace or drop them."
        )
    return values


def to_floats(column: pd.Series) -> Floats | None:
    """The column as float64 with NaN for missing values, or None if it does not hold numbers."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = pd.Series(np.asarray(column), index=column.index)
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_complex_dtype(dtype):
        return None
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return np.asarray(column, dtype=np.float64)
    if pd.api.types.is_numeric_dtype(dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if dtype != np.dtype(object):
        return None
    kind = pd.api.types.infer_dtype(column)
    if kind not in _NUMBERS and not (kind in _MIXTURES and all(map(_is_number, column))):
        return None
    objects = column.to_numpy(dtype=object, copy=True)
    objects[column.isna().to_numpy()] = np.nan
    try:
        return objects.astype(np.float64)
    except OverflowError:
        return np.array([_float(value) for value in objects])


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _refuse_non_numbers(column: pd.Series, name: str, error: type[RocourseError]) -> Never:
    strangers = np.array([not _is_number(value) for value in column], dtype=bool)
    value = plain(column.iloc[strangers.argmax()])
    what, remedy = "values that are no numbers", "convert the column to numbers"
    if isinstance(value, str):
        what, remedy = (
            "text",
            "correct the values, convert with pd.to_numeric, or make the feature categorical",
        )
    elif isinstance(value, bool):
        what, remedy = "flags", "convert with .astype(int), or make the feature categorical"
    raise error(
        f"Column {name!r} must hold numbers, but {_rows_hold(strangers)} {what} (first "
        f"{show(value)} in row {_label(column, strangers)}); {remedy}."
    )


def _is_number(value: Any) -> bool:
    value = plain(value)
    if isinstance(value, (bool, str)):
        return False
    return isinstance(value, (int, float, Decimal)) or bool(np.all(pd.isna(value)))


def check_whole(
    values: Floats, column: pd.Series, name: str, error: type[RocourseError] = DataError
) -> None:
    """Refuses fractions in an integer feature."""
    fractions = values != np.floor(values)
    if fractions.any():
        raise error(
            f"Column {name!r} must hold whole numbers, but {_rows_hold(fractions)} fractions "
            f"(first {_first(values, fractions)} in row {_label(column, fractions)}); round them, "
            "or declare the feature with integer=False."
        )


def check_bounds(values: Floats, column: pd.Series, feature: Continuous) -> None:
    """Refuses values beyond the hard limits of a feature."""
    least, most = feature.bounds
    for bound, rule, broken in (
        (least, "at least", None if least is None else values < least),
        (most, "at most", None if most is None else values > most),
    ):
        if broken is not None and broken.any():
            raise DataError(
                f"Column {feature.name!r} must be {rule} {_brief(bound)} by its bounds, but "
                f"{_rows_hold(broken)} other values (first {_first(values, broken)} in row "
                f"{_label(column, broken)}); correct them or widen the bounds."
            )


def outside_range(values: Floats, feature: Continuous) -> Mask:
    """Which values lie outside the range of the training rows, rounding aside."""
    slack = RANGE_TOLERANCE * feature.span
    # Two comparisons instead of a difference: the values may be so large that a difference
    # overflows.
    outside: Mask = (values < feature.low - slack) | (values > feature.high + slack)
    return outside


def read_codes(
    column: pd.Series, feature: Categorical, error: type[RocourseError] = DataError
) -> npt.NDArray[np.int64]:
    """The category index of each value of a column.

    Args:
        column: Any column.
        feature: The feature that lists the categories.
        error: Raised if a value is none of them (missing ones are a `DataError` always).
    """
    indices, values = factorize(column, feature.name)
    if (missing := indices < 0).any():
        refuse_missing(column, feature.name, missing)
    known = positions(feature.categories)
    # One look-up per distinct value, not per row.
    table = np.array([known.get(lookup_key(value), -1) for value in values], dtype=np.int64)
    codes: npt.NDArray[np.int64] = table[indices]
    if (unseen := codes < 0).any():
        value = plain(column.iloc[int(unseen.argmax())])
        raise error(
            f"Column {feature.name!r} must hold one of its categories "
            f"{listed(feature.categories)}, but {_rows_hold(unseen)} an unseen category (first "
            f"{show(value)} in row {_label(column, unseen)}); {_category_remedy(value, feature)}."
        )
    return codes


def factorize(column: pd.Series, name: str) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """The index of each row's value (-1 if it is missing), and the distinct values."""
    try:
        indices, values = pd.factorize(column)
    except TypeError as unhashable:
        raise DataError(
            f"Column {name!r} must hold text, numbers or flags, but got {show(column.iloc[0])}; "
            "convert it to text."
        ) from unhashable
    return indices, list(values)


def _category_remedy(value: object, feature: Categorical) -> str:
    if feature.kind == "text" and not isinstance(value, str):
        return "convert the column with .astype(str) if these are the same categories"
    if feature.kind in ("integer", "number") and isinstance(value, str):
        return "convert the column with pd.to_numeric if these are the same categories"
    if feature.kind == "flag" and not isinstance(value, bool):
        return "convert the column with .astype(bool) if these are flags"
    hint = did_you_mean(value, feature.categories)
    return f"correct it{hint}, or infer the schema from rows that contain it"


def refuse_missing(column: pd.Series, name: str, missing: Mask) -> Never:
    raise DataError(
        f"Column {name!r} must not have missing values, but {_rows_hold(missing)} NaN (first in "
        f"row {_label(column, missing)}); fill or drop them."
    )


def _rows_hold(mask: Mask) -> str:
    count = int(mask.sum())
    return f"{counted(count, 'row')} {'holds' if count == 1 else 'hold'}"


def _label(column: pd.Series, mask: Mask) -> str:
    return show(column.index[int(mask.argmax())])


def _first(values: Floats, mask: Mask) -> str:
    return _brief(float(values[mask.argmax()]))


def _brief(value: float | None) -> str:
    return "None" if value is None else f"{value:.10g}"
