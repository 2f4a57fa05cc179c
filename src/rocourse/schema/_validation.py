"""Checks of a table against features: the rules that rows can break, and how they are told."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Never

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse._wording import closest, counted, did_you_mean, duplicates, listed, show
from rocourse.errors import DataError, RocourseError, SchemaError
from rocourse.schema._dates import read_days
from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._frames import as_frame
from rocourse.schema._gaps import GAP_WORDS, is_gap
from rocourse.schema._rules import (
    COLUMN,
    CategoryRule,
    Fault,
    NumberRule,
    fractions,
)
from rocourse.schema._values import plain
from rocourse.schema._written import read_written

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

# A schema fitted on other rows may miss a few extremes of these; a range that misses most of them
# is another column's.
_MOST_OUTSIDE = 0.5

# In place of codes.
_UNSEEN, _GAP = -1, -2

# What pandas calls the contents of an object column that holds, or may hold, only numbers.
_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal", "empty"}
_MIXTURES = {"mixed", "mixed-integer"}


def check_frame(df: object) -> pd.DataFrame:
    """Refuses what is no table, has no rows, or has two columns of one name."""
    df = as_frame(df)
    if not isinstance(df, pd.DataFrame):
        raise DataError(
            f"Rows must be a pandas DataFrame, but got {type(df).__name__}; wrap them in "
            "pd.DataFrame with column names, or pass a table of pyarrow or polars."
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
    df: pd.DataFrame, names: Sequence[str], error: type[RocourseError] = DataError
) -> None:
    """Refuses missing columns; their order does not matter, nor do others beside them."""
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


def refuse_unknown(df: pd.DataFrame, names: Sequence[str], ignored: Sequence[str | None]) -> None:
    """Refuses columns of training rows of which a schema says nothing."""
    for column in df.columns:
        if column in names or column in ignored:
            continue
        raise SchemaError(
            f"Column {show(column)} is not in the schema{did_you_mean(column, names)}, which has "
            f"the columns {listed(names)}; drop it."
        )


def check_fit(
    df: pd.DataFrame, features: tuple[Feature, ...], target: str | None, ignored: Sequence[str]
) -> None:
    """Refuses rows that contradict the features; see `Schema.check_fit`."""
    df = check_frame(df)
    names = [feature.name for feature in features]
    check_columns(df, names, SchemaError)
    if target is not None and target in df.columns:
        raise SchemaError(
            f"Column {target!r} is the target and no feature, but got it among the rows; drop it."
        )
    refuse_unknown(df, names, ignored)
    for feature in features:
        column = df[feature.name]
        if isinstance(feature, Categorical):
            read_codes(column, feature, SchemaError)
            continue
        values, outside = read_values(column, NumberRule(feature, COLUMN), SchemaError)
        if outside.mean() > _MOST_OUTSIDE:
            raise SchemaError(
                f"Feature {feature.name!r} has the range {told(feature, feature.low)} to "
                f"{told(feature, feature.high)}, but {outside.sum()} of {len(values)} training "
                f"rows lie outside it (they reach from {told(feature, values.min())} to "
                f"{told(feature, values.max())}); correct the range, or infer the schema from the "
                "training rows."
            )


def read_present(
    column: pd.Series,
    name: str,
    *,
    date: bool,
    written: str | None = None,
    error: type[RocourseError] = DataError,
) -> Floats:
    """The finite numbers of a column, NaN where it has gaps.

    Args:
        column: Any column.
        name: Its name, for the error sentence.
        date: Whether it holds dates.
        written: How it writes numbers, where they are text.
        error: Raised if the column does not hold numbers or dates (infinite ones are a `DataError`
            always).
    """
    values = _numbers(column, name, error, date=date, written=written)
    if (infinite := np.isinf(values)).any():
        _refuse(Fault.INFINITE, infinite, values, column, name)
    return values


def read_raw(column: pd.Series, feature: Continuous) -> Floats:
    """The numbers of a column that was encoded, with gaps read by the feature's fill."""
    values = _numbers(column, feature.name, DataError, date=feature.date, written=feature.written)
    if (gaps := np.isnan(values)).any():
        # Encoded they were, so there is one.
        assert feature.fill is not None
        values = np.where(gaps, feature.fill, values)
    return values


def read_values(
    column: pd.Series, rule: NumberRule, error: type[RocourseError] = DataError
) -> tuple[Floats, Mask]:
    """The numbers of a column that keeps the rule of its feature, gaps read by its fill.

    Args:
        column: Any column.
        rule: The rule, for columns.
        error: Raised if the column does not hold numbers, or fractions of an integer feature
            (missing and infinite values and those beyond the bounds are a `DataError` always).

    Returns:
        The numbers, and which of them lie outside the range of the training rows.
    """
    feature = rule.feature
    values = _numbers(column, rule.name, error, date=feature.date, written=feature.written)
    outside: Mask = np.zeros(len(values), dtype=bool)
    if rule.sound(values).all():
        return values, outside
    if rule.fill is not None:
        values = np.where(np.isnan(values), rule.fill, values)
    for fault, broken in rule.faults(values):
        if fault is Fault.OUTSIDE_RANGE:
            outside = broken
        elif broken.any():
            _refuse(fault, broken, values, column, rule.name, feature, error)
    return values, outside


def _numbers(
    column: pd.Series, name: str, error: type[RocourseError], *, date: bool, written: str | None
) -> Floats:
    found = None if date else to_floats(column)
    if date or (found is None and written is not None):
        what = "dates such as 2020-01-31" if written is None else f"numbers such as {written}"
        values, strangers = read_days(column) if date else read_written(column, str(written))
        if strangers.any():
            value = plain(column.iloc[int(strangers.argmax())])
            raise error(
                f"Column {name!r} must hold {what}, but {_rows_hold(strangers)} "
                f"other values (first {show(value)} in row {_label(column, strangers)}); correct "
                "them, or make the feature categorical."
            )
        return values
    if found is None:
        _refuse_non_numbers(column, name, error)
    return found


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
    if all(map(is_gap, column)):
        # Whatever its type is: there is no value to be of it.
        return np.full(len(column), np.nan)
    if dtype != np.dtype(object):
        return None
    column = column.mask(column.isin(GAP_WORDS), np.nan)
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
    strangers = np.array([not (_is_number(value) or is_gap(value)) for value in column])
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
    if (broken := fractions(values)).any():
        _refuse(Fault.FRACTION, broken, values, column, name, error=error)


def _refuse(
    fault: Fault,
    broken: Mask,
    values: Floats,
    column: pd.Series,
    name: str,
    feature: Continuous | None = None,
    error: type[RocourseError] = DataError,
) -> Never:
    """Tells what is wrong with some of a column's numbers."""
    if fault is Fault.MISSING:
        refuse_missing(column, name, broken, feature)
    if fault is Fault.INFINITE:
        first = values[broken.argmax()]
        raise DataError(
            f"Column {name!r} must hold finite numbers, but {_rows_hold(broken)} infinity "
            f"({first}, first in row {_label(column, broken)}); replace or drop them."
        )
    if fault is Fault.FRACTION:
        raise error(
            f"Column {name!r} must hold whole numbers, but {_rows_hold(broken)} fractions "
            f"(first {_first(values, broken)} in row {_label(column, broken)}); round them, "
            "or declare the feature with integer=False."
        )
    assert feature is not None  # who else has bounds?
    least, most = (None if bound is None else told(feature, bound) for bound in feature.bounds)
    limit = f"at least {least}" if fault is Fault.BELOW_BOUNDS else f"at most {most}"
    first = told(feature, float(values[broken.argmax()]))
    raise DataError(
        f"Column {name!r} must be {limit} by its bounds, but {_rows_hold(broken)} other values "
        f"(first {first} in row {_label(column, broken)}); correct them or widen the bounds."
    )


def read_codes(
    column: pd.Series, feature: Categorical, error: type[RocourseError] = DataError
) -> npt.NDArray[np.int64]:
    """The category index of each value of a column, that of its fill or of gaps for gaps.

    Args:
        column: Any column.
        feature: The feature that lists the categories.
        error: Raised if a value is none of them (missing ones are a `DataError` always).
    """
    indices, values = factorize(column, feature.name)
    rule = CategoryRule(feature, COLUMN)
    gap = _GAP if rule.gap is None else rule.gap
    # One look-up per distinct value, not per row; the last one is that of gaps, whose index is -1.
    known = [
        code if (code := rule.code(value)) is not None else gap if is_gap(value) else _UNSEEN
        for value in values
    ]
    table = np.array([*known, gap], dtype=np.int64)
    codes: npt.NDArray[np.int64] = table[indices]
    if (missing := codes == _GAP).any():
        refuse_missing(column, feature.name, missing, feature)
    if (unseen := codes == _UNSEEN).any():
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


def refuse_missing(
    column: pd.Series, name: str, missing: Mask, feature: Feature | None = None
) -> Never:
    """Refuses gaps, and says what would settle them."""
    remedy = "fill or drop them, or give the feature missing='impute'"
    if feature is not None and feature.missing == "drop":
        remedy = "fill them or leave such rows out, as was done in training"
    elif feature is not None and feature.missing == "impute":
        remedy = "fit the model, or state the feature's fill"
    raise DataError(
        f"Column {name!r} must not have missing values, but {_rows_hold(missing)} NaN (first in "
        f"row {_label(column, missing)}); {remedy}."
    )


def told(feature: Continuous, value: float) -> str:
    """A number or date as messages show it."""
    return feature.word(float(value)) if feature.date else _brief(float(value))


def _rows_hold(mask: Mask) -> str:
    count = int(mask.sum())
    return f"{counted(count, 'row')} {'holds' if count == 1 else 'hold'}"


def _label(column: pd.Series, mask: Mask) -> str:
    return show(column.index[int(mask.argmax())])


def _first(values: Floats, mask: Mask) -> str:
    return _brief(float(values[mask.argmax()]))


def _brief(value: float | None) -> str:
    return "None" if value is None else f"{value:.10g}"
