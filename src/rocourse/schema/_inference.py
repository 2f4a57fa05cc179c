"""A schema read off a DataFrame."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from rocourse.errors import SchemaError
from rocourse.schema._features import Categorical, Continuous, Direction, Feature, Target
from rocourse.schema._validation import (
    check_bounds,
    check_frame,
    check_whole,
    factorize,
    read_numbers,
    refuse_missing,
    to_floats,
)
from rocourse.schema._values import Scalar, plain
from rocourse.schema._wording import did_you_mean, listed, show

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller states about columns, each name checked against the columns there are."""

    categorical: frozenset[str]
    continuous: frozenset[str]
    immutable: frozenset[str]
    increase_only: frozenset[str]
    decrease_only: frozenset[str]
    integer: frozenset[str]
    bounds: Mapping[str, Bounds]
    units: Mapping[str, str]

    def direction(self, name: str) -> Direction | None:
        """The direction asked for."""
        up, down = name in self.increase_only, name in self.decrease_only
        if up and down:
            raise SchemaError(
                f"Feature {name!r} must be in increase_only or in decrease_only, but got it in "
                "both; keep one, or make it immutable."
            )
        return "up" if up else "down" if down else None


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

    def checked(option: str, wished: Iterable[str]) -> frozenset[str]:
        return _checked_names(option, wished, names, target)

    wishes = Wishes(
        categorical=checked("categorical", categorical),
        continuous=checked("continuous", continuous),
        immutable=checked("immutable", immutable),
        increase_only=checked("increase_only", increase_only),
        decrease_only=checked("decrease_only", decrease_only),
        integer=checked("integer", integer),
        bounds={name: bounds[name] for name in checked("bounds", bounds)},
        units={name: units[name] for name in checked("units", units)},
    )
    features = tuple(_infer_feature(df[name], name, wishes) for name in names)
    return features, None if target is None else _infer_target(df[target], target, favourable)


def _checked_names(
    option: str, wished: Iterable[str], names: Collection[str], target: str | None
) -> frozenset[str]:
    if option in ("bounds", "units") and not isinstance(wished, Mapping):
        raise SchemaError(
            f"{option} must map column names to values, but got {show(wished)}; write a dictionary."
        )
    if isinstance(wished, str) or not isinstance(wished, Iterable):
        raise SchemaError(
            f"{option} must be a list of column names, but got {show(wished)}; write "
            f"[{show(wished)}]."
        )
    wished = list(wished)
    for name in wished:
        if name == target and name is not None:
            raise SchemaError(
                f"{option} must name features, but got the target {name!r}; leave it out."
            )
        if name not in names:
            raise SchemaError(
                f"{option} must name columns of the rows, but got "
                f"{show(name)}{did_you_mean(name, names)}, and they have {listed(names)}; name one "
                "of these."
            )
    return frozenset(wished)


def _infer_feature(column: pd.Series, name: str, wishes: Wishes) -> Feature:
    if name in wishes.categorical and name in wishes.continuous:
        raise SchemaError(
            f"Feature {name!r} must be categorical or continuous, but got it in both; keep one."
        )
    if name in wishes.categorical or (name not in wishes.continuous and not _looks_numeric(column)):
        return _infer_categorical(column, name, wishes)
    return _infer_continuous(column, name, wishes)


def _looks_numeric(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype) or column.isna().all():
        return False
    return to_floats(column) is not None


def _infer_continuous(column: pd.Series, name: str, wishes: Wishes) -> Continuous:
    values = read_numbers(column, name, SchemaError)
    low, high = float(values.min()), float(values.max())
    _refuse_constant(low == high, name, low if low == high else None)
    integer = name in wishes.integer
    if integer:
        check_whole(values, column, name, SchemaError)
    elif (
        pd.api.types.is_integer_dtype(column.dtype) or pd.api.types.infer_dtype(column) == "integer"
    ):
        integer = True
    feature = Continuous(
        name,
        low,
        high,
        integer=integer,
        immutable=name in wishes.immutable,
        direction=wishes.direction(name),
        bounds=wishes.bounds.get(name, (None, None)),
        unit=wishes.units.get(name, ""),
    )
    check_bounds(values, column, feature)
    return feature


def _infer_categorical(column: pd.Series, name: str, wishes: Wishes) -> Categorical:
    for option, named in (
        ("bounds", wishes.bounds),
        ("integer", wishes.integer),
        ("units", wishes.units),
    ):
        if name in named:
            raise SchemaError(
                f"{option} must name continuous features, but {name!r} is categorical; leave it "
                "out, or convert the column to numbers."
            )
    categories = _categories(column, name)
    direction = wishes.direction(name)
    ordered = isinstance(column.dtype, pd.CategoricalDtype) and bool(column.cat.ordered)
    if direction is not None and not ordered and isinstance(categories[0], str):
        raise SchemaError(
            f"Feature {name!r} is limited to one direction, so its categories must have an order, "
            f"but got unordered text: {listed(categories)}; convert the column to "
            "pd.Categorical(..., ordered=True), or list the categories in order in a schema of "
            "your own."
        )
    return Categorical(name, categories, immutable=name in wishes.immutable, direction=direction)


def _infer_target(column: pd.Series, name: str, favourable: Scalar | None) -> Target:
    classes = _observed(column, name)
    if len(classes) == 1:
        raise SchemaError(
            f"Target {name!r} must have at least two classes, but all rows are of one class only: "
            f"{show(classes[0])}; add rows of another class."
        )
    return Target(name, classes, favourable)  # type: ignore[arg-type]


def _categories(column: pd.Series, name: str) -> tuple[Scalar, ...]:
    """The categories of a column: declared ones in their order, others sorted."""
    observed = _observed(column, name)
    _refuse_constant(len(observed) == 1, name, observed[0])
    if isinstance(column.dtype, pd.CategoricalDtype):
        return tuple(plain(value) for value in column.cat.categories)  # type: ignore[misc]
    return observed


def _observed(column: pd.Series, name: str) -> tuple[Scalar, ...]:
    """The distinct values of a column, sorted."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(
        column.dtype
    ):
        raise SchemaError(
            f"Column {name!r} must hold numbers or categories, but got dates ({column.dtype}); "
            "convert it to a number, such as days."
        )
    indices, distinct = factorize(column, name)
    if (missing := indices < 0).any():
        refuse_missing(column, name, missing)
    values = [plain(value) for value in distinct]
    try:
        return tuple(sorted(values))  # type: ignore[arg-type]
    except TypeError:
        # Not comparable, so of several kinds: the feature says so in its own words.
        return tuple(values)  # type: ignore[arg-type]


def _refuse_constant(constant: bool, name: str, value: object) -> None:
    if constant:
        raise SchemaError(
            f"Column {name!r} must vary, but it is constant (always {show(value)}); drop it."
        )
