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
        self._left = rows
        self._first: list[pd.DataFrame] = []

    def add(self, first: pd.DataFrame) -> None:
        """Takes in the first of the next rows."""
        if self._left > 0:
            self._first.append(first.head(self._left))
            self._left -= len(self._first[-1])

    def renderables(self, title: str, total: int) -> list["RenderableType"]:
        """A table of the first rows, and how many more there are of so many."""
        from rich.markup import escape
        from rich.table import Table

        table = pd.concat(self._first)
        shown = Table(*map(escape, table.columns), title=title, title_justify="left")
        for values in table.itertuples(index=False):
            shown.add_row(*(_cell(value) for value in values))
        left = total - len(table)
        more = [f"… and {left} more rows: write all of them with --out"] if left else []
        return [shown, *more]


def _cell(value: object) -> str:
    from rich.markup import escape

    return f"{value:.3f}" if isinstance(value, float) else escape(str(value))
