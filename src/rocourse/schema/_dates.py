"""Dates as numbers: days since 1970-01-01, to the millisecond, by the clock on the wall.

Offsets from UTC are left out: a loan that was granted on a day was granted on that day wherever it
is read.
"""

import re
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.schema._gaps import gaps_of

MOMENTS_PER_DAY = 86_400_000.0
"""The finest steps that are told apart: milliseconds."""
SECONDS_PER_DAY = 86_400.0

_EPOCH = datetime(1970, 1, 1)
_MOMENT = timedelta(milliseconds=1)
_ISO = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)\d*(?:Z|[+-]\d{2}:?\d{2})?)?"
)
# Of the cells of a column of texts that must be dates for it to be one of dates.
_NEARLY_ALL = 0.95
_LOOKED_AT = 100


def to_days(value: object) -> float | None:
    """The days of a single date, time or ISO text; None if it is none, NaN if it is not a time."""
    if isinstance(value, str):
        found = _ISO.fullmatch(value)
        if found is None:
            return None
        day, clock = found.groups()
        try:
            moment = datetime.fromisoformat(day if clock is None else f"{day}T{clock}")
        except ValueError:
            return None
        return _days(moment)
    if value is pd.NaT:
        return float("nan")
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value).to_pydatetime(warn=False)
    if isinstance(value, datetime):
        return _days(value.replace(tzinfo=None))
    return _days(datetime.combine(value, time())) if isinstance(value, date) else None


def _days(moment: datetime) -> float:
    # As a table's columns do it, so that both give one number.
    return float(round((moment - _EPOCH) / _MOMENT)) / MOMENTS_PER_DAY


def read_days(column: pd.Series) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The days of a column, NaN where it has gaps, and which cells are neither."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype) and not is_arrow_date(column):
        local = column if zone_of(column) is None else column.dt.tz_localize(None)
        stamps = local.to_numpy(dtype="datetime64[us]", na_value=np.datetime64("NaT"))
        days = np.rint(stamps.astype(np.int64) / 1000.0) / MOMENTS_PER_DAY
        days[np.isnat(stamps)] = np.nan
        return days, np.zeros(len(days), dtype=bool)
    indices, values = pd.factorize(column.astype(object))
    found = [to_days(value) for value in values]
    # The last one is that of gaps, whose index is -1.
    table = np.array([np.nan if day is None else day for day in (*found, None)])
    days = table[indices]
    return days, np.isnan(days) & ~gaps_of(column)


def holds_dates(column: pd.Series) -> bool:
    """Whether a column is of times, or of texts that are dates in nearly all cells."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return True
    if isinstance(column.dtype, pd.CategoricalDtype) or not (
        column.dtype == object or pd.api.types.is_string_dtype(column.dtype)
    ):
        return False
    present = column[~gaps_of(column)]
    few = present.iloc[:_LOOKED_AT]
    return len(few) > 0 and _share(few) > 0.5 and _share(present) >= _NEARLY_ALL


def is_arrow_date(column: pd.Series) -> bool:
    """Whether a column is of whole days as pyarrow has them."""
    return isinstance(column.dtype, pd.ArrowDtype) and column.dtype.type is date


def zone_of(column: pd.Series) -> Any:
    """The time zone of a column of times, if it has one."""
    dtype = column.dtype
    return getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None)


def _share(cells: pd.Series) -> float:
    return float(np.mean([to_days(value) is not None for value in cells]))


def to_stamps(days: npt.NDArray[np.float64]) -> pd.Series:
    """Days as times."""
    moments = np.rint(days * MOMENTS_PER_DAY).astype(np.int64)
    return pd.Series(moments.astype("datetime64[ms]"))


def to_iso(days: float, *, whole: bool) -> str:
    """Days as ISO text: a date, with the time of day unless all are whole days."""
    moment = _EPOCH + _MOMENT * round(days * MOMENTS_PER_DAY)
    return moment.date().isoformat() if whole else moment.isoformat()


def in_words(days: float, *, whole: bool) -> str:
    """Days as people read them: 2020-01-05, or 2020-01-05 13:45."""
    text = to_iso(days, whole=whole).partition(".")[0].replace("T", " ")
    return text.removesuffix(":00") if text.count(":") == 2 else text
