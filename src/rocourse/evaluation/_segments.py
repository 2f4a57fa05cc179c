"""Groups of people: by any column, or by several crossed, and how far groups lie apart."""

from collections.abc import Mapping, Sequence
from math import hypot
from typing import Any

import numpy as np
import pandas as pd

from rocourse.evaluation._audit_report import AuditCounts, wilson_interval

FEW = 30
"""Groups of fewer are said to be small: what is told of them is hardly more than chance."""

# Numbers with more values than these are told by quarters.
_MOST_VALUES = 8
_MISSING = "missing"


def segments(columns: Mapping[str, Sequence[Any] | pd.Series]) -> dict[str, np.ndarray]:
    """Groups of rows by their names: `sex=female`; of several columns also those of all crossed.

    Numbers with many values are told by quarters.

    Args:
        columns: By their names.

    Returns:
        The places of each group's rows; groups of a column one after the other.
    """
    return {name: places for groups in families(columns) for name, places in groups.items()}


def families(columns: Mapping[str, Sequence[Any] | pd.Series]) -> list[dict[str, np.ndarray]]:
    """As `segments`, the groups of each column apart, and at last those of all crossed."""
    parts = [
        np.array([f"{name}={value}" for value in _values(column)], dtype=object)
        for name, column in columns.items()
    ]
    if len(parts) > 1:
        crossed = [", ".join(each) for each in zip(*parts, strict=True)]
        parts.append(np.array(crossed, dtype=object))
    return [
        {name: np.flatnonzero(part == name) for name in sorted(set(part.tolist()))}
        for part in parts
    ]


def _values(given: Sequence[Any] | pd.Series) -> list[str]:
    column = np.empty(len(given), dtype=object)
    column[:] = list(given)
    known = ~pd.isna(column)
    distinct = set(column[known].tolist())
    if len(distinct) > _MOST_VALUES and all(_is_number(value) for value in distinct):
        return _quarters(np.where(known, column, np.nan).astype(float))
    return [_text(value) if there else _MISSING for value, there in zip(column, known, strict=True)]


def _quarters(numbers: np.ndarray) -> list[str]:
    ends = np.unique(np.nanquantile(numbers, [0.0, 0.25, 0.5, 0.75, 1.0], method="inverted_cdf"))
    # A quarter begins above the end of the one before.
    place = np.clip(np.searchsorted(ends, numbers, side="left"), 1, len(ends) - 1)
    names = [
        f"{'' if k == 0 else 'over '}{_text(low)} to {_text(high)}"
        for k, (low, high) in enumerate(zip(ends[:-1], ends[1:], strict=True))
    ]
    gaps = np.isnan(numbers)
    return [_MISSING if gap else names[k - 1] for k, gap in zip(place.tolist(), gaps, strict=True)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _text(value: object) -> str:
    return f"{value:g}" if _is_number(value) else str(value)


def difference_from_others(
    total: AuditCounts, group: AuditCounts
) -> tuple[float, float, float] | None:
    """The share honoured in a group less that of all others, and its 95% interval.

    Args:
        total: Everyone.
        group: Those who are compared with everyone else.
    """
    rest = total.promises - group.promises
    kept = total.honoured - group.honoured
    interval = difference_interval(group.honoured, group.promises, kept, rest)
    return interval and (group.honoured / group.promises - kept / rest, *interval)


def difference_interval(
    honoured: int, promises: int, other: int, others: int
) -> tuple[float, float] | None:
    """The 95% interval of the difference of two shares, by Newcombe's method; None without both.

    Args:
        honoured: Of the first group.
        promises: How many they are.
        other: Of the second group.
        others: How many they are.
    """
    first, second = wilson_interval(honoured, promises), wilson_interval(other, others)
    if first is None or second is None:
        return None
    p, q = honoured / promises, other / others
    return (
        p - q - hypot(p - first[0], second[1] - q),
        p - q + hypot(first[1] - p, q - second[0]),
    )
