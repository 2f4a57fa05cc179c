"""Rows for a model: the columns of its schema, out of a file that may have more."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rocourse._wording import did_you_mean, listed
from rocourse.errors import DataError
from rocourse.schema import Schema
from rocourse.tables._reading import open_table, read_table

# The most rows in memory at once; so many that what a batch costs besides does not count.
BATCH_ROWS = 65_536


def read_rows(path: Path, *, schema: Schema | None, drop: Iterable[str] | None) -> pd.DataFrame:
    """Reads a table and leaves out the columns to drop.

    Args:
        path: The file.
        schema: Tells which columns are text, if it is known.
        drop: Names of columns, in the form that `split_names` takes.
    """
    frame = read_table(path, text=() if schema is None else _text_columns(schema))
    return _without(frame, drop, path)


@dataclass(frozen=True)
class RowBatches:
    """The feature columns of a file, batch by batch, in the schema's order.

    Attributes:
        frames: The batches, to be gone through once.
        total: How many rows they have together.
        several: Whether there is more than one batch.
    """

    frames: Iterator[pd.DataFrame]
    total: int
    several: bool


def open_rows(path: Path, *, schema: Schema, drop: Iterable[str] | None) -> RowBatches:
    """Opens a table for a model, to read the columns that `select_features` would select.

    Args:
        path: The file.
        schema: Schema of the model.
        drop: Names of columns, in the form that `split_names` takes.
    """
    table = open_table(path, text=_text_columns(schema), size=BATCH_ROWS)
    names = _without(pd.DataFrame(columns=table.columns), drop, path)
    columns = select_features(names, schema).columns.tolist()
    return RowBatches(table.read(columns), table.rows, several=table.rows > BATCH_ROWS)


def select_features(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """The feature columns in the schema's order; the target, if it is there, is left out."""
    target = None if schema.target is None else schema.target.name
    features = frame.drop(columns=[name for name in (target,) if name in frame.columns])
    unknown = [str(name) for name in features.columns if name not in schema.names]
    if unknown and set(schema.names) <= set(features.columns):
        raise DataError(
            f"Column {unknown[0]!r} must be a feature of the model's schema, but it is unknown "
            f"there{did_you_mean(unknown[0], schema.names)}; leave it out with --drop "
            f"{','.join(unknown)}."
        )
    if not unknown and set(schema.names) == set(features.columns):
        return features[list(schema.names)]
    # A column is missing: the schema says which, and which one was perhaps meant.
    return features


def take_target(frame: pd.DataFrame, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """The rows without the target column, and the target column."""
    if target not in frame.columns:
        raise DataError(
            f"The target must be a column of the rows, but got {target!r}"
            f"{did_you_mean(target, frame.columns)}, and they have {listed(frame.columns)}; name "
            "one of these."
        )
    return frame.drop(columns=target), frame[target]


def split_names(values: Iterable[str] | None, columns: Collection[str]) -> list[str]:
    """The names of columns in texts that hold one name, or several separated by commas."""
    names: list[str] = []
    for value in values or ():
        # A column that has a comma in its own name can still be named.
        names += [value] if value in columns else [part.strip() for part in value.split(",")]
    return [name for name in names if name]


def _without(frame: pd.DataFrame, drop: Iterable[str] | None, path: Path) -> pd.DataFrame:
    names = split_names(drop, frame.columns)
    for name in names:
        if name not in frame.columns:
            raise DataError(
                f"Column {name!r} of --drop must be in {str(path)!r}, but the file has "
                f"{listed(frame.columns)}{did_you_mean(name, frame.columns)}; name one of these."
            )
    return frame.drop(columns=names)


def _text_columns(schema: Schema) -> list[str]:
    names = [feature.name for feature in schema.categorical if feature.kind == "text"]
    if schema.target is not None and isinstance(schema.target.classes[0], str):
        names.append(schema.target.name)
    return names
