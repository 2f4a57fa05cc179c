"""Tables of results, for files, machines and people."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from rocourse.schema import Recourse

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rocourse.methods import RecourseClassifier


def recourse_table(recourse: Recourse, *, stable: bool = False) -> pd.DataFrame:
    """One line per row: what came of it, the advised values, and the changes in words.

    Rows for which nothing was found keep their own values; proximity and the number of features
    changed are then those of the attempt.

    Args:
        recourse: The advice for a batch of rows.
        stable: Whether the types must be those of any other batch too.
    """
    features = recourse.frame(stable=stable)
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
    columns[_free_name("changes", features)] = recourse.summaries()
    return pd.DataFrame(columns)


def prediction_table(model: "RecourseClassifier", rows: pd.DataFrame) -> pd.DataFrame:
    """One line per row: its class, and the probability of each class."""
    probabilities = model.predict_proba(rows)
    return pd.DataFrame(
        {
            "row": rows.index,
            "predicted": model.classes_[probabilities.argmax(axis=1)],
            **{
                f"probability_{label}": probabilities[:, k].astype(float)
                for k, label in enumerate(model.classes_)
            },
        }
    )


def as_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """One JSON-able object per row."""
    columns = {name: table[name].tolist() for name in table.columns}
    return [
        {name: values[position] for name, values in columns.items()}
        for position in range(len(table))
    ]


class Preview:
    """The first rows of a table that comes batch by batch, for people.

    Args:
        rows: How many rows to show.
    """

    def __init__(self, rows: int) -> None:
        self._rows, self._total = rows, 0
        self._first: list[pd.DataFrame] = []

    def add(self, batch: pd.DataFrame) -> None:
        """Takes in the next rows."""
        if self._total < self._rows:
            self._first.append(batch.head(self._rows - self._total))
        self._total += len(batch)

    def renderables(self, title: str) -> list["RenderableType"]:
        """A table of the first rows, and how many more there are."""
        from rich.markup import escape
        from rich.table import Table

        table = pd.concat(self._first)
        shown = Table(*map(escape, table.columns), title=title, title_justify="left")
        for values in table.itertuples(index=False):
            shown.add_row(*(_cell(value) for value in values))
        left = self._total - len(table)
        more = [f"… and {left} more rows: write all of them with --out"] if left else []
        return [shown, *more]


def _cell(value: object) -> str:
    from rich.markup import escape

    return f"{value:.3f}" if isinstance(value, float) else escape(str(value))


def _free_name(name: str, features: pd.DataFrame) -> str:
    """The name, or one like it that no feature has."""
    while name in features.columns:
        name = f"{name}_"
    return name
