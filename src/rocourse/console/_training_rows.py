"""Rows to train on, with their schema."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rocourse._places import Place
from rocourse._wording import listed, show
from rocourse.console._columns import ColumnOptions
from rocourse.console._gap_lines import gap_lines
from rocourse.console._table_look import TableLook, look_over
from rocourse.errors import DataError, SchemaError
from rocourse.schema import Schema, Target
from rocourse.tables import (
    names_to_drop,
    read_rows,
    rows_with_class,
    select_training_features,
    take_target,
)


class TrainingTable(NamedTuple):
    """What a model is trained on."""

    schema: Schema
    X: pd.DataFrame
    y: "pd.Series[Any]"
    periods: "pd.Series[Any] | None"
    look: TableLook | None
    """What a look at the table found, where its schema was inferred."""
    notes: list[str]
    """What was done about missing values."""


def read_training_rows(
    data: Place,
    target: str,
    schema_file: Path | None,
    drop: list[str] | None,
    columns: ColumnOptions,
    *,
    period: str | None = None,
    known: Schema | None = None,
    fix: bool = False,
) -> TrainingTable:
    """The schema, known, stored or inferred, with features, labels and periods of rows.

    Where the schema is inferred, the table is looked at first; what is wrong with it is refused.
    """
    look = None
    if schema_file is not None:
        known = Schema.load(schema_file)
    if known is None:
        frame, periods = take_period(columns.read(data, target), period)
        dropped = names_to_drop(frame.columns, drop, data)
        rows = frame.drop(columns=dropped)
        look = look_over(data, rows, target, columns, fix=fix, gaps_told=True)
        look.require_no_errors()
        schema = look.columns.infer(frame, target, [*dropped, *look.added])
    else:
        schema = columns.apply(known)
        if schema.target is not None and schema.target.name != target:
            raise SchemaError(
                f"The target must be that of the schema, {schema.target.name!r}, but --target is "
                f"{target!r}; change one of them."
            )
        frame, periods = take_period(read_rows(data, schema=schema, drop=None), period)
        dropped = names_to_drop(frame.columns, drop, data)
        schema = replace(schema, ignored=tuple(dict.fromkeys((*schema.ignored, *dropped))))
    X, y = take_target(frame, target)
    if schema.target is None:
        _require_clear(target, y.dropna())
    return _usable(schema, select_training_features(X, schema), y, periods, look)


def _require_clear(name: str, labels: "pd.Series[Any]") -> None:
    """Refuses classes of which it is not known what people want, and cannot be said."""
    classes = tuple(labels.unique().tolist())
    if len(classes) > 1 and Target(name, classes).favourable is None:
        raise SchemaError(
            f"The schema must say which class of {name!r} people want, but it has no target, and "
            f"the rows have {listed(classes)}; infer it anew with --target and --favourable."
        )


def _usable(
    schema: Schema,
    X: pd.DataFrame,
    y: "pd.Series[Any]",
    periods: "pd.Series[Any] | None",
    look: TableLook | None,
) -> TrainingTable:
    """The rows that have a class, and no gaps where the schema will have none."""
    if not set(schema.names) <= set(X.columns):
        # The schema says which column is missing when it is asked to read them.
        return TrainingTable(schema, X, y, periods, look, [])
    kept, notes = rows_with_class(y, schema.target)
    notes += gap_lines(schema, X[kept])
    kept = kept & schema.usable(X)
    if not kept.all():
        X, y, periods = X[kept], y[kept], None if periods is None else periods[kept]
    return TrainingTable(schema, X, y, periods, look, notes)


def take_period(
    frame: pd.DataFrame, period: str | None
) -> tuple[pd.DataFrame, "pd.Series[Any] | None"]:
    """The rows without the column of `--period`, and that column, if there is to be one."""
    if period is None:
        return frame, None
    if period not in frame.columns:
        raise DataError(
            f"--period must name a column of the rows, but got {show(period)}; it is one of "
            f"{listed(frame.columns)}."
        )
    return frame.drop(columns=period), frame[period]
