"""Rows to train on, with their schema."""

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rocourse._wording import listed, show
from rocourse.console._columns import ColumnOptions
from rocourse.console._table_look import TableLook, look_over
from rocourse.errors import DataError, SchemaError
from rocourse.schema import Schema, Target
from rocourse.tables import read_rows, select_features, take_target


class TrainingTable(NamedTuple):
    """What a model is trained on."""

    schema: Schema
    X: pd.DataFrame
    y: "pd.Series[Any]"
    periods: "pd.Series[Any] | None"
    look: TableLook | None
    """What a look at the table found, where its schema was inferred."""


def read_training_rows(
    data: Path,
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
        frame, periods = take_period(read_rows(data, schema=None, drop=drop), period)
        look = look_over(data, frame, target, columns, fix=fix)
        look.require_no_errors()
        frame = frame.drop(columns=look.added)
        schema = look.columns.infer(frame, target)
    else:
        schema = columns.apply(known)
        if schema.target is not None and schema.target.name != target:
            raise SchemaError(
                f"The target must be that of the schema, {schema.target.name!r}, but --target is "
                f"{target!r}; change one of them."
            )
        frame, periods = take_period(read_rows(data, schema=schema, drop=drop), period)
    X, y = take_target(frame, target)
    if schema.target is None and y.notna().all():
        _require_clear(target, y)
    return TrainingTable(schema, select_features(X, schema), y, periods, look)


def _require_clear(name: str, labels: "pd.Series[Any]") -> None:
    """Refuses classes of which it is not known what people want, and cannot be said."""
    classes = tuple(labels.unique().tolist())
    if len(classes) > 1 and Target(name, classes).favourable is None:
        raise SchemaError(
            f"The schema must say which class of {name!r} people want, but it has no target, and "
            f"the rows have {listed(classes)}; infer it anew with --target and --favourable."
        )


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
