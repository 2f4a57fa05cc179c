"""Values that stand for missing ones, such as -999, "?" or "unknown": read as gaps."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from rocourse._wording import did_you_mean, listed, show
from rocourse.errors import SchemaError
from rocourse.schema._features import Categorical, Feature
from rocourse.schema._values import find, plain

MissingCodes = Mapping[str, Iterable[object]]
"""The codes of each column that has some: texts, or numbers."""

Codes = dict[str, tuple[str, ...]]


def as_codes(given: MissingCodes) -> Codes:
    """Codes as text, by column."""
    if not isinstance(given, Mapping):
        raise SchemaError(
            f"missing_codes must map columns to values, but got {show(given)}; write, say, "
            "{'years': [-999]}."
        )
    codes: Codes = {}
    for name, values in given.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise SchemaError(
                f"missing_codes must map columns to lists, but got {show(values)} for {name!r}; "
                "write a list."
            )
        codes[name] = tuple(dict.fromkeys(_text(value, name) for value in values))
    return codes


def check_codes(codes: Codes, features: Collection[Feature]) -> None:
    """Refuses codes of what is no feature, and those that are categories as well."""
    by_name = {feature.name: feature for feature in features}
    for name, texts in codes.items():
        if name not in by_name:
            raise SchemaError(
                f"missing_codes must name features, but got {show(name)}"
                f"{did_you_mean(name, by_name)}, and they are {listed(by_name)}; name one of these."
            )
        feature = by_name[name]
        categories = feature.categories if isinstance(feature, Categorical) else ()
        for value in _values(texts):
            if find(value, categories) is not None:
                raise SchemaError(
                    f"Feature {name!r}: {show(value)} must be a category or stand for a missing "
                    "value, but it does both; leave one of the two out."
                )


def codes_as_gaps(df: pd.DataFrame, codes: MissingCodes) -> pd.DataFrame:
    """The rows with gaps in the place of codes.

    Whole numbers become decimals, whether these rows have a code or not.
    """
    changed = {}
    texts = as_codes(codes)
    for name in texts.keys() & set(df.columns):
        column = df[name]
        if column.dtype.kind in "iu" and isinstance(column.dtype, np.dtype):
            column = column.astype(np.float64)
        coded = _stripped(column).isin(_alike(column, _values(texts[name])))
        if coded.any() or column is not df[name]:
            changed[name] = _with_gaps(column, coded)
    return df.assign(**changed) if changed else df


def codes_as_none(row: Mapping[str, Any], codes: MissingCodes) -> Mapping[str, Any]:
    """A single row with None in the place of codes."""
    texts = as_codes(codes)
    given = {name: plain(row[name]) for name in codes if name in row}
    coded = [
        name
        for name, value in given.items()
        if not isinstance(value, bool) and value in _values(texts[name])
    ]
    return {**row, **dict.fromkeys(coded)} if coded else row


def _text(code: object, name: object) -> str:
    value = plain(code)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    told = "" if isinstance(value, bool) else str(value).strip()
    if not told or not isinstance(value, (str, int, float)):
        raise SchemaError(
            f"missing_codes must be texts or numbers, but got {show(code)} for {name!r}; write, "
            "say, -999."
        )
    return told


@lru_cache(maxsize=128)
def _values(texts: tuple[str, ...]) -> tuple[str | float, ...]:
    """What codes are in a table: their texts, and numbers where they are some."""
    values: list[str | float] = []
    for text in texts:
        values.append(text)
        try:
            values.append(float(text))
        except ValueError:
            continue
    return tuple(values)


def _alike(column: pd.Series, values: Sequence[str | float]) -> Sequence[str | float]:
    """Those that a column of its type can hold."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return []
    if pd.api.types.is_numeric_dtype(column.dtype):
        return [value for value in values if isinstance(value, float)]
    mixed = column.dtype == object or isinstance(column.dtype, pd.CategoricalDtype)
    return values if mixed else [value for value in values if isinstance(value, str)]


def _stripped(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.dtype != object and not pd.api.types.is_string_dtype(column.dtype):
        return column
    return column.map(lambda value: value.strip() if isinstance(value, str) else value)


def _with_gaps(column: pd.Series, coded: "pd.Series[bool]") -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.remove_categories(list(column[coded].unique()))
    return column.mask(coded)
