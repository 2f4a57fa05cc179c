"""Rows for a model: the columns of its schema, out of a file that may have more."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from rocourse._places import Place, size_of
from rocourse._wording import did_you_mean, listed
from rocourse.errors import DataError
from rocourse.schema import MissingCodes, Schema, Target, codes_as_gaps, gaps_of
from rocourse.tables._reading import open_table, read_table, table_files

# The most rows in memory at once; so many that what a batch costs besides does not count.
BATCH_ROWS = 65_536


def read_rows(
    path: Place,
    *,
    schema: Schema | None,
    drop: Iterable[str] | None,
    codes: MissingCodes | None = None,
) -> pd.DataFrame:
    """Reads a table and leaves out the columns to drop.

    Args:
        path: The file.
        schema: Tells which columns are text, if it is known.
        drop: Names of columns, in the form that `split_names` takes.
        codes: Values that stand for missing ones; by default those of the schema.
    """
    text = () if schema is None else _text_columns(schema)
    if codes is None:
        codes = {} if schema is None else schema.missing_codes
    frame = codes_as_gaps(read_table(path, text=text), codes)
    for name in codes.keys() & set(frame.columns).difference(text):
        frame[name] = _numbers_at_last(frame[name])
    return _without(frame, drop, path)


def _numbers_at_last(column: pd.Series) -> pd.Series:
    """A column that was text only for its codes, as numbers."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column
    numbers = pd.to_numeric(column, errors="coerce")
    return column if (numbers.isna() & column.notna()).any() else numbers


@dataclass(frozen=True)
class RowBatches:
    """The feature columns of a file, batch by batch, in the schema's order.

    Attributes:
        frames: The batches, to be gone through once.
        total: How many rows they have together.
        several: Whether there is more than one batch.
        id: The column among them that tells rows apart, if there is one.
        origin: What tells the rows from others, JSON-able: names and sizes of their files, and how
            many rows they have.
    """

    frames: Iterator[pd.DataFrame]
    total: int
    several: bool
    id: str | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)


def open_rows(
    path: Place, *, schema: Schema, drop: Iterable[str] | None, id: str | None = None
) -> RowBatches:
    """Opens a table for a model, to read the columns that `select_features` would select.

    Args:
        path: The file.
        schema: Schema of the model.
        drop: Names of columns, in the form that `split_names` takes.
        id: The column that tells rows apart; by default the schema's, if it is there.
    """
    text = [*_text_columns(schema), *([] if id is None else [id])]
    table = open_table(path, text=text, size=BATCH_ROWS)
    names = _without(pd.DataFrame(columns=table.columns), drop, path)
    columns = select_features(names, schema).columns.tolist()
    if id is not None and id not in names.columns:
        raise DataError(
            f"Column {id!r} of --id must be in {str(path)!r}, but the file has "
            f"{listed(names.columns)}{did_you_mean(id, names.columns)}; name one of these."
        )
    if id is None and schema.id in names.columns:
        id = schema.id
    read = columns if id is None or id in columns else [*columns, id]
    sizes = {file.name: size_of(file) for file in table_files(path)}
    origin = {"data": str(path), "files": sizes, "rows": table.rows, "batch": BATCH_ROWS}
    frames = table.read(read)
    if schema.missing_codes:
        frames = (codes_as_gaps(frame, schema.missing_codes) for frame in frames)
    return RowBatches(frames, table.rows, table.rows > BATCH_ROWS, id, origin)


def select_features(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """The feature columns in the schema's order; all others are left out."""
    if set(schema.names) <= set(frame.columns):
        return frame[list(schema.names)]
    # A column is missing: the schema says which, and which one was perhaps meant.
    return frame


def select_training_features(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """The feature columns of training rows, of which a schema must not leave out any in silence."""
    target = None if schema.target is None else schema.target.name
    known = {*schema.names, *schema.ignored, schema.id, target}
    unknown = [str(name) for name in frame.columns if name not in known]
    if unknown and set(schema.names) <= set(frame.columns):
        raise DataError(
            f"Column {unknown[0]!r} must be a feature of the model's schema, but it is unknown "
            f"there{did_you_mean(unknown[0], schema.names)}; leave it out with --drop "
            f"{','.join(unknown)}."
        )
    return select_features(frame, schema)


def take_target(frame: pd.DataFrame, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """The rows without the target column, and the target column."""
    if target not in frame.columns:
        raise DataError(
            f"The target must be a column of the rows, but got {target!r}"
            f"{did_you_mean(target, frame.columns)}, and they have {listed(frame.columns)}; name "
            "one of these."
        )
    return frame.drop(columns=target), frame[target]


def read_labelled(
    path: Place, schema: Schema, *, target: str | None = None
) -> tuple[pd.DataFrame, "pd.Series[Any]"]:
    """Rows that a model was trained on, of those columns that it knows, with their classes.

    Args:
        path: The file.
        schema: Schema of the model.
        target: The column of classes; by default the schema's.
    """
    assert schema.target is not None  # a fitted schema has one
    name = schema.target.name if target is None else target
    frame, labels = take_target(read_rows(path, schema=schema, drop=None), name)
    known, _ = rows_with_class(labels, schema.target)
    return select_features(frame, schema)[known], labels[known]


def split_names(values: Iterable[str] | None, columns: Collection[str]) -> list[str]:
    """The names of columns in texts that hold one name, or several separated by commas."""
    names: list[str] = []
    for value in values or ():
        # A column that has a comma in its own name can still be named.
        names += [value] if value in columns else [part.strip() for part in value.split(",")]
    return [name for name in names if name]


def _without(frame: pd.DataFrame, drop: Iterable[str] | None, path: Place) -> pd.DataFrame:
    return frame.drop(columns=names_to_drop(frame.columns, drop, path))


def names_to_drop(columns: pd.Index, drop: Iterable[str] | None, path: Place) -> list[str]:
    """The columns of a file that are to be left out.

    Args:
        columns: Those that it has.
        drop: Names of columns, in the form that `split_names` takes.
        path: The file.
    """
    names = split_names(drop, columns)
    for name in names:
        if name not in columns:
            raise DataError(
                f"Column {name!r} of --drop must be in {str(path)!r}, but the file has "
                f"{listed(columns)}{did_you_mean(name, columns)}; name one of these."
            )
    return names


def rows_with_class(
    labels: "pd.Series[Any]", target: Target | None
) -> tuple["np.ndarray[Any, np.dtype[np.bool_]]", list[str]]:
    """Which rows have a class, bool [n], and a line that says how many have none, if some.

    Args:
        labels: The column of classes.
        target: What is known of them, if it is: a class may look like a gap.
    """
    known = ~gaps_of(labels, () if target is None else target.classes)
    if known.all():
        return known, []
    count = f"{len(known) - known.sum():,} of {len(known):,}"
    return known, [f"{labels.name}: {count} missing; these rows are left out"]


def _text_columns(schema: Schema) -> list[str]:
    names = [feature.name for feature in schema.categorical if feature.kind == "text"]
    names += [feature.name for feature in schema.continuous if feature.date or feature.written]
    # An id such as 007 is no number.
    names += [] if schema.id is None else [schema.id]
    if schema.target is not None and isinstance(schema.target.classes[0], str):
        names.append(schema.target.name)
    return names
