"""How files of rows are refused."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Never

from rocourse.errors import DataError


def refuse_table(path: Path, received: str, remedy: str = "check the file") -> Never:
    """Says what a file is instead of a table."""
    raise DataError(
        f"Data file {str(path)!r} must be a table with column names and rows, but got {received}; "
        f"{remedy}."
    )


def check_unique(path: Path, names: Iterable[str]) -> None:
    """Refuses a table that has a column name twice."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"Column names of {str(path)!r} must be unique, but got {repeated[0]!r} more than "
            "once; rename or remove one."
        )
