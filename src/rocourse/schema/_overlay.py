"""New values laid over a caller's column without disturbing the rest of it."""

from typing import Any, Literal

import numpy as np
import pandas as pd

from rocourse.schema._dates import is_arrow_date, read_days, to_iso, zone_of
from rocourse.schema._encoding import decode_column
from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._layout import Positions
from rocourse.schema._validation import to_floats
from rocourse.schema._written import style

_LATER: Literal["shift_forward"] = "shift_forward"


def overlay(
    column: pd.Series, feature: Feature, where: Positions, fresh: pd.Series, *, stable: bool
) -> pd.Series:
    """The column with the changed cells replaced.

    Args:
        column: The caller's column; it is not modified.
        feature: What the column holds.
        where: Positions of the cells to replace.
        fresh: Their new values.
        stable: Whether the dtype must hold whatever value a recourse could give, not these alone.

    Returns:
        A new column with the same index. Its dtype is the caller's if that holds the new values
        exactly, for a rounded value could step over a bound; otherwise one that does.
    """
    fresh = in_form_of(column, feature, fresh)
    if stable:
        result = column.astype(_stable_dtype(column, feature))
    elif len(where):
        result = column.astype(_dtype_for(column, feature, fresh))
    else:
        return column.copy()
    result.iloc[where] = fresh.astype(result.dtype).array
    return result


def in_form_of(column: pd.Series, feature: Feature, fresh: pd.Series) -> pd.Series:
    """New values in the form that a caller's column has them: texts, or dates with a zone.

    Args:
        column: The caller's column.
        feature: What it holds.
        fresh: New values, as `decode` gives them.
    """
    if not isinstance(feature, Continuous):
        return fresh
    if feature.written is not None and to_floats(column) is None:
        texts = [style(feature.written).write(number) for number in fresh.tolist()]
        return pd.Series(texts, dtype="str")
    if not feature.date:
        return fresh
    dtype = column.dtype
    if is_arrow_date(column) or pd.api.types.infer_dtype(column, skipna=True) == "date":
        return pd.Series([stamp.date() for stamp in fresh], dtype=dtype)
    if (zone := zone_of(column)) is not None:
        # A time that clocks skip becomes the next one, and one that they show twice the first.
        first = np.ones(len(fresh), dtype=bool)
        local: pd.Series = fresh.dt.tz_localize(zone, ambiguous=first, nonexistent=_LATER)
        return local
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return fresh
    days = read_days(fresh)[0].tolist()
    return pd.Series([to_iso(day, whole=feature.integer) for day in days], dtype="str")


def _stable_dtype(column: pd.Series, feature: Feature) -> Any:
    if feature.immutable:
        return column.dtype
    hardest = in_form_of(column, feature, _hardest_values(feature))
    return _dtype_for(column.iloc[:0], feature, hardest)


def _hardest_values(feature: Feature) -> pd.Series:
    """Values of which a dtype that holds them all holds every value a recourse could give."""
    if isinstance(feature, Categorical):
        return decode_column(np.arange(len(feature.categories)), feature)
    if feature.date:
        return decode_column(np.array([0.0, 1 / 3]), feature)
    if feature.integer:
        least, most = feature.limits
        # A narrow float may hold the limits and miss every second number before them.
        return pd.Series([least, least + 1, most - 1, most], dtype=np.int64)
    return pd.Series([1 / 3])


def _dtype_for(column: pd.Series, feature: Feature, fresh: pd.Series) -> Any:
    if isinstance(column.dtype, pd.CategoricalDtype):
        if isinstance(feature, Categorical):
            return _widened(column.dtype, feature, fresh)
        column = pd.Series(np.asarray(column))
    for dtype in (column.dtype, fresh.dtype):
        if _holds(dtype, fresh) and _holds(dtype, column):
            return dtype
    return np.float64 if pd.api.types.is_numeric_dtype(fresh.dtype) else object


def _widened(
    dtype: pd.CategoricalDtype, feature: Categorical, fresh: pd.Series
) -> pd.CategoricalDtype:
    known = dtype.categories
    if fresh.isin(known).all():
        return dtype
    # In schema order, because the dtype may be ordered; what only the caller declared comes last.
    categories = pd.Index(list(feature.categories))
    extra = known[~known.isin(categories)]
    return pd.CategoricalDtype(categories.append(extra), ordered=dtype.ordered)


def _holds(dtype: Any, values: pd.Series) -> bool:
    try:
        cast = values.astype(dtype)
        gaps = values.isna()
        if not cast.isna().equals(gaps):
            return False
        if gaps.any():
            cast, values = cast[~gaps], values[~gaps]
        # Equality alone misses whole numbers beyond 2**53, and the way back alone misses negative
        # numbers that wrap around in an unsigned type.
        return _equal(cast, values) and _equal(cast.astype(values.dtype), values)
    except (TypeError, ValueError, OverflowError):
        return False


def _equal(cast: pd.Series, values: pd.Series) -> bool:
    try:
        return bool((cast == values).all())
    except NotImplementedError:
        # pandas 2 does not compare Arrow's times with its own; the way back tells.
        return True
