"""Rows to train on, with their schema."""

from pathlib import Path
from typing import Any

import pandas as pd

from rocourse.console._columns import ColumnOptions
from rocourse.errors import SchemaError
from rocourse.schema import Schema
from rocourse.tables import read_rows, select_features, take_target


def read_training_rows(
    data: Path,
    target: str,
    schema_file: Path | None,
    drop: list[str] | None,
    columns: ColumnOptions,
    *,
    known: Schema | None = None,
) -> tuple[Schema, pd.DataFrame, "pd.Series[Any]"]:
    """The schema, known, stored or inferred, with features and labels of a file of rows."""
    if schema_file is not None:
        known = Schema.load(schema_file)
    if known is None:
        frame = read_rows(data, schema=None, drop=drop)
        schema = columns.infer(frame, target)
    else:
        schema = columns.apply(known)
        if schema.target is not None and schema.target.name != target:
            raise SchemaError(
                f"The target must be that of the schema, {schema.target.name!r}, but --target is "
                f"{target!r}; change one of them."
            )
        frame = read_rows(data, schema=schema, drop=drop)
    X, y = take_target(frame, target)
    return schema, select_features(X, schema), y
