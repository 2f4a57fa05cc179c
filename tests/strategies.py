"""Random schemas, rows and proposals, and an independent reading of the constraints."""

import math
import warnings
from dataclasses import replace
from datetime import date, datetime, timedelta

import hypothesis.strategies as st
import numpy as np
import pandas as pd

from rocourse.schema import Categorical, Continuous, Rows, Schema, Target

# Few letters, but of every sort that has ever broken a reader of names: spaces, quotes, braces,
# other scripts.
ALPHABET = "ab 1'\"{%,\\é漢🙂"
NAMES = st.text(ALPHABET, min_size=1, max_size=4)
CATEGORY_VALUES = {
    "text": st.text(ALPHABET, max_size=4)
    | st.sampled_from(["1", "1.0", "True", "nan", "None", ""]),
    "integer": st.integers(-(2**40), 2**40),
    "number": st.floats(-1e6, 1e6, allow_subnormal=False),
    "flag": st.booleans(),
}
CONSTRAINTS = st.sampled_from(
    [{}, {}, {"immutable": True}, {"direction": "up"}, {"direction": "down"}]
)


@st.composite
def ranges(draw, *, integer):
    """A low and a high, from everyday ranges to ones that strain the precision of floats."""
    if integer:
        low = draw(st.integers(-100, 100) | st.integers(-(2**40), 2**40))
        return float(low), float(low + draw(st.integers(1, 100) | st.integers(1, 2**40)))
    everyday = st.tuples(st.floats(-1e4, 1e4), st.floats(1e-3, 1e4))
    straining = st.sampled_from(
        [(0.0, 1e-300), (1e9, 1e-3), (1e15, 1.0), (-8e307, 1.6e308), (0.1, 0.2), (-1e-7, 2e-7)]
    )
    low, span = draw(everyday | straining)
    return low, low + span


EPOCH = datetime(1970, 1, 1)


@st.composite
def day_ranges(draw, *, integer):
    """A first and a last moment as days since 1970, to the second."""
    low = draw(st.integers(-20_000, 30_000))
    span = draw(st.integers(1, 20_000))
    if integer:
        return float(low), float(low + span)
    low, span = 86_400 * low + draw(st.integers(0, 86_399)), 86_400 * span
    return low / 86_400, (low + span) / 86_400


@st.composite
def continuous_features(draw, name, *, messy=False):
    """A continuous feature with random constraints; its bounds always meet its range.

    Args:
        draw: Given by hypothesis.
        name: Of the feature.
        messy: Whether it may be of dates, and have gaps.
    """
    integer = draw(st.booleans())
    day = messy and draw(st.booleans())
    low, high = draw(day_ranges(integer=integer) if day else ranges(integer=integer))
    bounds = []
    for ends in ((low - (high - low) / 2, high), (low, high + (high - low) / 2)):
        bounds.append(draw(st.none() | st.floats(*ends)))
    least, most = bounds
    if least is not None and most is not None and least > most:
        least, most = most, least
    if integer:
        least = None if least is None else math.floor(least)
        most = None if most is None else math.ceil(most)
    elif day:
        least = None if least is None else math.floor(86_400 * least) / 86_400
        most = None if most is None else math.ceil(86_400 * most) / 86_400
    feature = Continuous(
        name,
        low,
        high,
        integer=integer,
        bounds=(least, most),
        unit=draw(st.sampled_from(["", "months"])),
        date=day,
        **draw(CONSTRAINTS),
    )
    if not messy or draw(st.booleans()):
        return feature
    return replace(feature, missing="impute", fill=draw(numbers(feature)))


@st.composite
def categorical_features(draw, name, *, messy=False):
    """A categorical feature of any kind, its categories in any order.

    Args:
        draw: Given by hypothesis.
        name: Of the feature.
        messy: Whether it may have gaps.
    """
    kind = draw(st.sampled_from(sorted(CATEGORY_VALUES)))
    categories = draw(st.lists(CATEGORY_VALUES[kind], min_size=2, max_size=5, unique=True))
    labels = None
    if draw(st.booleans()):
        labels = tuple(f"label {index}" for index in range(len(categories)))
    gaps = st.sampled_from(["error", "impute", "category"]) if messy else st.just("error")
    missing = draw(gaps)
    fill = draw(st.sampled_from(categories)) if missing == "impute" else None
    return Categorical(
        name, tuple(categories), labels=labels, missing=missing, fill=fill, **draw(CONSTRAINTS)
    )


@st.composite
def schemas(draw, *, max_features=5, target=None, messy=False):
    """A schema of one to `max_features` features with random constraints.

    Args:
        draw: Given by hypothesis.
        max_features: Most features to draw.
        target: Whether it has a target; either way if None.
        messy: Whether there may be dates, and gaps.
    """
    names = draw(st.lists(NAMES, min_size=2, max_size=max_features + 1, unique=True))
    features = [
        draw(
            st.one_of(
                continuous_features(name, messy=messy), categorical_features(name, messy=messy)
            )
        )
        for name in names[:-1]
    ]
    if target is None:
        target = draw(st.booleans())
    kind = draw(st.sampled_from(sorted(CATEGORY_VALUES)))
    classes = draw(st.lists(CATEGORY_VALUES[kind], min_size=2, max_size=3, unique=True))
    return Schema(
        tuple(features),
        Target(names[-1], tuple(classes), draw(st.sampled_from(classes))) if target else None,
    )


@st.composite
def frames(draw, schema, *, min_rows=1, max_rows=6, outside=False):
    """Rows that a schema accepts, in any dtype that a reader of files may give them.

    Args:
        draw: Given by hypothesis.
        schema: The schema.
        min_rows: Fewest rows.
        max_rows: Most rows.
        outside: Whether numbers may lie outside the range (never outside the bounds).

    Where a feature reads gaps, there are some.
    """
    n = draw(st.integers(min_rows, max_rows))
    columns = {}
    for feature in schema.features:
        if isinstance(feature, Categorical):
            values = draw(st.lists(st.sampled_from(feature.categories), min_size=n, max_size=n))
            column = draw(category_columns(values, feature))
        else:
            values = draw(st.lists(numbers(feature, outside=outside), min_size=n, max_size=n))
            column = draw((day_columns if feature.date else number_columns)(values, feature))
        if feature.missing != "error":
            column = draw(with_gaps(column))
        columns[feature.name] = column
    labels = draw(st.sampled_from(["range", "text", "duplicated"]))
    index = {
        "range": pd.RangeIndex(n),
        "text": pd.Index([f"row {k}" for k in range(n)]),
        "duplicated": pd.Index([7] * n),
    }[labels]
    return pd.DataFrame({name: column.set_axis(index) for name, column in columns.items()})


@st.composite
def with_gaps(draw, column):
    """The column with some of its cells empty, in a dtype that holds such."""
    gaps = draw(st.lists(st.booleans(), min_size=len(column), max_size=len(column)))
    if not any(gaps):
        return column
    if column.dtype == "int64":
        # Decimals hold not all of them.
        narrow = bool((column.abs() < 2**53).all())
        column = column.astype(draw(st.sampled_from(["Int64", "float64"] if narrow else ["Int64"])))
    elif column.dtype == "bool":
        column = column.astype(draw(st.sampled_from(["boolean", "object"])))
    return column.mask(np.array(gaps), None)


def numbers(feature, *, outside=False):
    """Raw values of a continuous feature, its ends and bounds among them."""
    slack = min(feature.high - feature.low, 1e300) if outside else 0.0
    least, most = feature.bounds
    first = feature.low - slack if least is None else max(feature.low - slack, least)
    last = feature.high + slack if most is None else min(feature.high + slack, most)
    if feature.integer:
        return st.integers(math.ceil(first), math.floor(last))
    if feature.date:
        moments = st.integers(round(86_400 * first), round(86_400 * last))
        return moments.map(lambda moment: moment / 86_400)
    # Without the sign of zero, which is no number to hypothesis where both ends are zero.
    first, last = first + 0.0, last + 0.0
    return st.floats(first, last) | st.sampled_from([first, last])


def moment_of(day):
    """The time that a number of days since 1970 is, to the second."""
    return EPOCH + timedelta(seconds=round(86_400 * day))


def day_columns(values, feature):
    """The days as a column of any dtype that dates come in."""
    times = pd.Series([moment_of(value) for value in values], dtype="datetime64[us]")
    whole = [time.date() for time in times] if feature.integer else list(times)
    texts = pd.Series([value.isoformat() for value in whole], dtype="str")
    choices = [times, texts, texts.astype(object), times.dt.tz_localize("UTC")]
    if feature.integer:
        choices.append(pd.Series(whole, dtype=object))
    return st.sampled_from(choices)


def number_columns(values, feature):
    """The values as a column of any dtype that holds them exactly."""
    column = pd.Series(values, dtype="int64" if feature.integer else "float64")
    choices = [column, column.astype(object)]
    if feature.integer and column.abs().max() < 2**53:
        choices += [column.astype("float64"), column.astype("Int64")]
    return st.sampled_from(choices)


def category_columns(values, feature):
    """The values as a column of any dtype that holds them exactly."""
    if feature.kind == "text":
        column = pd.Series(values, dtype="str")
        choices = [column, column.astype(object), column.astype("category")]
    elif feature.kind == "flag":
        column = pd.Series(values, dtype="bool")
        choices = [column, column.astype(object), column.astype("boolean")]
    elif feature.kind == "integer":
        column = pd.Series(values, dtype="int64")
        choices = [column, column.astype("float64"), column.astype("category")]
    else:
        column = pd.Series(values, dtype="float64")
        choices = [column, column.astype("category")]
    return st.sampled_from(choices)


@st.composite
def proposals(draw, schema, n):
    """Whatever a broken generator might propose: out of range, NaN, infinite, no category."""
    sensible = st.floats(0, 1, width=32)
    broken = st.sampled_from([math.nan, math.inf, -math.inf, -0.5, 1.5, 1e30, 0.0, 1.0])
    layout = schema.layout
    continuous = draw(_cells(sensible | broken, n * layout.n_continuous))
    codes = st.integers(-1, max(layout.group_sizes, default=1)) | st.integers(-(2**31), 2**31 - 1)
    categories = draw(_cells(codes, n * layout.n_categorical))
    return Rows(
        np.array(continuous, dtype=np.float32).reshape(n, layout.n_continuous),
        np.array(categories, dtype=np.int32).reshape(n, layout.n_categorical),
    )


def _cells(values, count):
    return st.lists(values, min_size=count, max_size=count)


def encode_quietly(schema, df):
    """`schema.encode` for rows that may lie outside the range."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Values outside the range", UserWarning)
        return schema.encode(df)


def broken_constraints(schema, before, after):
    """Every constraint that a change from `before` to `after` breaks, cell by cell in raw units.

    Written apart from the library, in plain Python, so that it can disagree with it.
    """
    broken = []
    for feature in schema.features:
        for row, (old, new) in enumerate(
            zip(before[feature.name].tolist(), after[feature.name].tolist(), strict=True)
        ):
            for rule in _broken_rules(feature, old, new):
                broken.append(f"{feature.name!r} in row {row}: {rule} ({old!r} to {new!r})")
    return broken


def is_gap(value):
    """Whether a cell is empty, as far as these rows have such."""
    return value is None or value is pd.NA or value is pd.NaT or value != value


def _days(value):
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return (value.replace(tzinfo=None) - EPOCH) / timedelta(days=1)


def as_read(feature, value):
    """What a cell is read as: a number, days, a category, or None for a gap that is one itself."""
    if is_gap(value):
        return feature.fill
    return _days(value) if isinstance(feature, Continuous) and feature.date else value


def _broken_rules(feature, old, new):
    if is_gap(new):
        if not is_gap(old):
            yield "asks for a gap"
        return
    if is_gap(old):
        if feature.immutable:
            yield "immutable, but filled in"
        if feature.missing == "category":
            if feature.direction is not None:
                yield "left a gap in a direction that nobody knows"
            if new not in feature.categories:
                yield "no category"
            return
        old = feature.fill
        if feature.immutable:
            return
    elif isinstance(feature, Continuous) and feature.date:
        old = _days(old)
    if isinstance(feature, Continuous) and feature.date:
        new = _days(new)
    if feature.immutable and new != old:
        yield "immutable, but changed"
    if isinstance(feature, Categorical):
        if new not in feature.categories:
            yield "no category"
            return
        position = feature.categories.index
        rise = position(new) - position(old)
    else:
        if not math.isfinite(new):
            yield "not finite"
        rise = (new > old) - (new < old)
        least, most = feature.bounds
        if (least is not None and new < least) or (most is not None and new > most):
            yield "outside the bounds"
        if new != old and not feature.low <= new <= feature.high:
            yield "moved to outside the range"
        if feature.integer and new != int(new):
            yield "not whole"
    if feature.direction == "up" and rise < 0:
        yield "lowered"
    if feature.direction == "down" and rise > 0:
        yield "raised"
