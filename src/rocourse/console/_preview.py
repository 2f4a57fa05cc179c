"""The first rows of a table that comes batch by batch, for the screen."""

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from rich.console import RenderableType


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
