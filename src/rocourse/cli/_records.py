"""Tables of results, for files, machines and people."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from rocourse.schema import Recourse

if TYPE_CHECKING:
    from rich.console import RenderableType


def recourse_table(recourse: Recourse) -> pd.DataFrame:
    """One line per row: what came of it, the advised values, and the changes in words.

    Rows for which nothing was found keep their own values; proximity and the number of features
    changed are then those of the attempt.
    """
    features = recourse.frame()
    record = {
        "row": recourse.original.index,
        "status": recourse.status,
        "predicted": recourse.predicted,
        "desired": recourse.desired,
        "probability": recourse.probability,
        "proximity": recourse.proximity,
        "features_changed": recourse.features_changed,
    }
    columns = {_free_name(name, features): values for name, values in record.items()}
    columns |= {name: features[name].array for name in features.columns}
    columns[_free_name("changes", features)] = ["; ".join(row) for row in recourse.descriptions()]
    return pd.DataFrame(columns)


def as_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """One JSON-able object per row."""
    columns = {name: table[name].tolist() for name in table.columns}
    return [
        {name: values[position] for name, values in columns.items()}
        for position in range(len(table))
    ]


def preview(table: pd.DataFrame, title: str, *, rows: int) -> list["RenderableType"]:
    """The first rows as a table for people, and how many more there are."""
    from rich.markup import escape
    from rich.table import Table

    shown = Table(*map(escape, table.columns), title=title, title_justify="left")
    for values in table.head(rows).itertuples(index=False):
        shown.add_row(*(_cell(value) for value in values))
    left = len(table) - rows
    return [shown, f"… and {left} more rows: write all of them with --out"] if left > 0 else [shown]


def _cell(value: object) -> str:
    from rich.markup import escape

    return f"{value:.3f}" if isinstance(value, float) else escape(str(value))


def _free_name(name: str, features: pd.DataFrame) -> str:
    """The name, or one like it that no feature has."""
    while name in features.columns:
        name = f"{name}_"
    return name
