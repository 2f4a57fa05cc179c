"""Rows to train on, with their schema."""

from pathlib import Path
from typing import Any

import pandas as pd

from rocourse._wording import listed, show
from rocourse.console._columns import ColumnOptions
from rocourse.errors import DataError, SchemaError
from rocourse.schema import Schema
from rocourse.tables import read_rows, select_features, take_target


def read_training_rows(
    data: Path,
    target: str,
    schema_file: Path | None,
    drop: list[str] | None,
    columns: ColumnOptions,
    *,
    period: str | None = None,
    known: Schema | None = None,
) -> tuple[Schema, pd.DataFrame, "pd.Series[Any]", "pd.Series[Any] | None"]:
    """The schema, known, stored or inferred, with features, labels and periods of rows."""
    if schema_file is not None:
        known = Schema.load(schema_file)
    if known is None:
        frame, periods = take_period(read_rows(data, schema=None, drop=drop), period)
        schema = columns.infer(frame, target)
    else:
        schema = columns.apply(known)
        if schema.target is not None and schema.target.name != target:
            raise SchemaError(
                f"The target must be that of the schema, {schema.target.name!r}, but --target is "
                f"{target!r}; change one of them."
            )
        frame, periods = take_period(read_rows(data, schema=schema, drop=drop), period)
    X, y = take_target(frame, target)
    return schema, select_features(X, schema), y, periods


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
