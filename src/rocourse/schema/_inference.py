"""A schema read off a DataFrame."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np
import pandas as pd

from rocourse._wording import did_you_mean, listed, show
from rocourse.errors import SchemaError
from rocourse.schema._constrain import Bounds, column_names, constrain
from rocourse.schema._dates import holds_dates
from rocourse.schema._favourable import refuse_unclear
from rocourse.schema._features import Categorical, Continuous, Feature, Target
from rocourse.schema._filling import filled
from rocourse.schema._gaps import Missing, MissingWords
from rocourse.schema._rules import COLUMN, NumberRule
from rocourse.schema._validation import (
    check_frame,
    check_whole,
    factorize,
    read_present,
    read_values,
    refuse_missing,
    to_floats,
)
from rocourse.schema._values import Scalar, plain
from rocourse.schema._written import how_written, style


@dataclass(frozen=True, slots=True)
class Kinds:
    """What the caller states about the columns themselves, each name one of theirs."""

    categorical: frozenset[str]
    continuous: frozenset[str]
    integer: frozenset[str]
    units: Mapping[str, str]
    missing: Mapping[str, Missing | None]
    """What becomes of gaps; None for what suits the column."""
    by_table: bool
    """Whether that was said of the whole table."""
    gappy: frozenset[str]
    """Those that have gaps, also in rows that are left out for them."""


def infer(
    df: pd.DataFrame,
    *,
    target: str | None,
    favourable: Scalar | None,
    categorical: Iterable[str],
    continuous: Iterable[str],
    immutable: Iterable[str],
    increase_only: Iterable[str],
    decrease_only: Iterable[str],
    integer: Iterable[str],
    bounds: Mapping[str, Bounds],
    units: Mapping[str, str],
    missing: MissingWords,
) -> tuple[tuple[Feature, ...], Target | None]:
    """Features and target of a table; see `Schema.infer`."""
    df = check_frame(df)
    for column in df.columns:
        if not isinstance(column, str):
            raise SchemaError(
                f"Column names must be text, but got {show(column)}; rename with df.columns = "
                "df.columns.astype(str)."
            )
    if target is None and favourable is not None:
        raise SchemaError(
            f"favourable must come with a target, but got {show(favourable)} alone; name the "
            "target."
        )
    if target is not None and target not in df.columns:
        raise SchemaError(
            "target must be a column of the rows, but got "
            f"{show(target)}{did_you_mean(target, df.columns)}, and they have "
            f"{listed(df.columns)}; name one of these."
        )
    names = [column for column in df.columns if column != target]
    if not names:
        raise SchemaError(
            "A schema must have at least one feature, but got no column besides the target; add "
            "one."
        )

    def checked(option: str, named: Iterable[str]) -> frozenset[str]:
        return _checked_names(option, named, names, target)

    kinds = Kinds(
        categorical=checked("categorical", categorical),
        continuous=checked("continuous", continuous),
        integer=checked("integer", integer),
        units={name: units[name] for name in checked("units", units)},
        missing=_missing_words(missing, names, target),
        by_table=not isinstance(missing, Mapping),
        gappy=frozenset(name for name in names if df[name].hasnans),
    )
    whole = [name for name, word in kinds.missing.items() if word == "drop"]
    df = _training_rows(df, target, whole)
    fixed = checked("immutable", immutable)
    rising = checked("increase_only", increase_only)
    falling = checked("decrease_only", decrease_only)
    bounded = {name: bounds[name] for name in checked("bounds", bounds)}
    features = constrain(
        [_infer_feature(df[name], name, kinds) for name in names],
        immutable=fixed,
        increase_only=rising,
        decrease_only=falling,
        bounds=bounded,
    )
    for feature in features:
        _check_constraints(feature, df[feature.name])
    features = tuple(filled(feature, df[feature.name]) for feature in features)
    return features, None if target is None else _infer_target(df[target], target, favourable)


def _missing_words(
    missing: MissingWords, names: list[str], target: str | None
) -> dict[str, Missing | None]:
    """The word of each column, None where none is said."""
    if isinstance(missing, Mapping):
        named = {name: missing[name] for name in _checked_names("missing", missing, names, target)}
        words: dict[str, Missing | None] = dict.fromkeys(names) | named
    else:
        words = dict.fromkeys(names, missing)
    for word in words.values():
        if word is not None and word not in get_args(Missing):
            raise SchemaError(
                f"missing must be one of {listed(get_args(Missing))}, or map columns to these, but "
                f"got {show(word)}; choose one of them."
            )
    return words


def _training_rows(df: pd.DataFrame, target: str | None, whole: list[str]) -> pd.DataFrame:
    """The rows that have a class, and no gaps in columns that must have none."""
    needed = whole if target is None else [*whole, target]
    kept = df[~df[needed].isna().any(axis=1)] if needed else df
    if len(kept) == 0:
        raise SchemaError(
            f"The rows must be some without missing values in {listed(needed)}, but all {len(df)} "
            "have one there; fill them, or drop the columns that are mostly empty."
        )
    return kept


def _checked_names(
    option: str, named: Iterable[str], names: Collection[str], target: str | None
) -> frozenset[str]:
    wanted = column_names(option, named, target)
    for name in wanted:
        if name not in names:
            raise SchemaError(
                f"{option} must name columns of the rows, but got "
                f"{show(name)}{did_you_mean(name, names)}, and they have {listed(names)}; name one "
                "of these."
            )
    return frozenset(wanted)


def _check_constraints(feature: Feature, column: pd.Series) -> None:
    """Refuses limits that the rows cannot have."""
    if isinstance(feature, Continuous):
        if feature.bounds != (None, None):
            read_values(column.dropna(), NumberRule(feature, COLUMN))
        return
    ordered = isinstance(column.dtype, pd.CategoricalDtype) and bool(column.cat.ordered)
    if feature.direction is not None and feature.kind == "text" and not ordered:
        raise SchemaError(
            f"Feature {feature.name!r} is limited to one direction, so its categories must have an "
            f"order, but got unordered text: {listed(feature.categories)}; convert the column to "
            "pd.Categorical(..., ordered=True), or list the categories in order in a schema of "
            "your own."
        )


def _infer_feature(column: pd.Series, name: str, kinds: Kinds) -> Feature:
    if name in kinds.categorical and name in kinds.continuous:
        raise SchemaError(
            f"Feature {name!r} must be categorical or continuous, but got it in both; keep one."
        )
    if name in kinds.categorical or (name not in kinds.continuous and not _looks_numeric(column)):
        return _infer_categorical(column, name, kinds)
    return _infer_continuous(column, name, kinds)


def _looks_numeric(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype) or column.isna().all():
        return False
    return to_floats(column) is not None or holds_dates(column) or how_written(column) is not None


def _infer_continuous(column: pd.Series, name: str, kinds: Kinds) -> Continuous:
    date = holds_dates(column)
    written = None if date else how_written(column)
    values = read_present(column, name, date=date, written=written, error=SchemaError)
    gaps = np.isnan(values)
    if gaps.all():
        _refuse_constant(True, name, None)
    word = kinds.missing[name] or "impute"
    if word == "category" and not kinds.by_table:
        raise SchemaError(
            f"missing must be 'impute', 'drop' or 'error' for numbers, but got 'category' for "
            f"{name!r}; choose one of them, or name it in categorical."
        )
    if word == "error" and gaps.any():
        refuse_missing(column, name, gaps)
    present = values[~gaps]
    low, high = float(present.min()), float(present.max())
    _refuse_constant(low == high, name, low if low == high else None)
    integer = name in kinds.integer
    if integer:
        check_whole(present, column[~gaps], name, SchemaError)
    else:
        integer = bool((present == np.floor(present)).all()) and (
            date
            or written is not None
            # pandas has whole numbers as decimals where some are missing.
            or (name in kinds.gappy and max(-low, high) <= 2**53)
            or pd.api.types.is_integer_dtype(column.dtype)
            or pd.api.types.infer_dtype(column) == "integer"
        )
    return Continuous(
        name,
        low,
        high,
        integer=integer,
        unit=kinds.units.get(name, "days" if date else style(written).unit if written else ""),
        date=date,
        written=written,
        missing="impute" if word == "category" else word,
    )


def _infer_categorical(column: pd.Series, name: str, kinds: Kinds) -> Categorical:
    for option, named in (("integer", kinds.integer), ("units", kinds.units)):
        if name in named:
            raise SchemaError(
                f"{option} must name continuous features, but {name!r} is categorical; leave it "
                "out, or convert the column to numbers."
            )
    gaps = column.isna().to_numpy(dtype=bool)
    word = kinds.missing[name]
    if word == "error" and gaps.any():
        refuse_missing(column, name, gaps)
    if word == "category" and not gaps.any() and not kinds.by_table:
        raise SchemaError(
            f"missing must not be 'category' for {name!r}, in which no training row has a gap to "
            "learn from; use 'impute'."
        )
    if word in (None, "category"):
        word = "category" if gaps.any() else "impute"
    least = 1 if word == "category" else 2
    return Categorical(name, _categories(column, name, least=least), missing=word)


def _infer_target(column: pd.Series, name: str, favourable: Scalar | None) -> Target:
    classes = _observed(column, name)
    if len(classes) == 1:
        raise SchemaError(
            f"Target {name!r} must have at least two classes, but all rows are of one class only: "
            f"{show(classes[0])}; add rows of another class."
        )
    target = Target(name, classes, favourable)
    if target.favourable is None:
        found = column.value_counts()
        refuse_unclear(name, {label: int(found[label]) for label in classes})
    return target


def _categories(column: pd.Series, name: str, *, least: int) -> tuple[Scalar, ...]:
    """The categories of a column: declared ones in their order, others sorted."""
    observed = _observed(column, name)
    _refuse_constant(len(observed) < least, name, observed[0] if observed else None)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return tuple(plain(value) for value in column.cat.categories)  # type: ignore[misc]
    return observed


def _observed(column: pd.Series, name: str) -> tuple[Scalar, ...]:
    """The distinct values of a column, sorted; gaps are none."""
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        raise SchemaError(
            f"Column {name!r} must hold numbers, dates or categories, but got lengths of time "
            f"({column.dtype}); convert it to a number, such as days."
        )
    _, distinct = factorize(column, name)
    values = [plain(value) for value in distinct]
    try:
        return tuple(sorted(values))  # type: ignore[arg-type]
    except TypeError:
        # Not comparable, so of several kinds: the feature says so in its own words.
        return tuple(values)  # type: ignore[arg-type]


def _refuse_constant(constant: bool, name: str, value: object) -> None:
    if constant and value is None:
        raise SchemaError(f"Column {name!r} must vary, but it is empty in all rows; drop it.")
    if constant:
        raise SchemaError(
            f"Column {name!r} must vary, but it is constant (always {show(value)}); drop it."
        )
