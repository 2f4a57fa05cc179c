"""How files of rows are refused."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Never

from rocourse._places import Place
from rocourse.errors import DataError, OutputError

SUFFIXES = (".csv", ".parquet")


def refuse_table(path: Place, received: str, remedy: str = "check the file") -> Never:
    """Says what a file is instead of a table."""
    raise DataError(
        f"Data file {str(path)!r} must be a table with column names and rows, but got {received}; "
        f"{remedy}."
    )


def check_suffix(path: Place) -> None:
    """Refuses a file to write that is of another kind."""
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(
            f"Output path {str(path)!r} must end in .csv or .parquet, but it ends in "
            f"{path.suffix!r}; rename it."
        )


def check_unique(path: Place, names: Iterable[str]) -> None:
    """Refuses a table that has a column name twice."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"Column names of {str(path)!r} must be unique, but got {repeated[0]!r} more than "
            "once; rename or remove one."
        )


def check_same_columns(
    first: Place, columns: Sequence[str], path: Place, others: Sequence[str]
) -> None:
    """Refuses a file of a folder that has other columns than the first one, or of other types."""
    if others == columns:
        return
    pairs = zip(columns, others, strict=False)
    odd = next((pair for pair in pairs if pair[0] != pair[1]), None)
    told = (
        f"{odd[1]!r} stands where {odd[0]!r} does in {first.name!r}"
        if odd
        else f"it has {len(others)} columns and {first.name!r} has {len(columns)}"
    )
    raise DataError(
        f"Data file {str(path)!r} must have the columns of the other files of its folder, but "
        f"{told}; export it again."
    )
