"""Tables that are read batch by batch."""

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import pandas as pd


class TableBatches(Protocol):
    """A table in a file, to be read batch by batch; every batch has the types of the whole.

    Attributes:
        columns: Names of the columns.
        rows: How many rows there are.
    """

    columns: pd.Index
    rows: int

    def read(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """The rows in their order, with these columns only."""
        ...


def even_size(rows: int, most: int) -> int:
    """The size of equal batches of at most `most` rows.

    A short last batch would be of another shape, for which code would have to be compiled.
    """
    return math.ceil(rows / max(1, math.ceil(rows / most)))
