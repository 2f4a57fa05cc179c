"""Tables of files, by suffix."""

from collections.abc import Collection
from pathlib import Path
from typing import Never

import pandas as pd

from rocourse._files import check_file_path
from rocourse.errors import DataError, OutputError
from rocourse.tables._batches import TableBatches
from rocourse.tables._csv_files import CsvBatches, read_csv
from rocourse.tables._parquet_files import ParquetBatches, read_parquet
from rocourse.tables._refusals import refuse_table

SUFFIXES = (".csv", ".parquet")


def read_table(path: Path, *, text: Collection[str] = ()) -> pd.DataFrame:
    """Reads rows from a .csv or .parquet file.

    Args:
        path: The file.
        text: Columns whose values are text even where they look like something else: in a CSV file
            nothing tells a category "1" from a number, or "None" from a missing value.

    Raises:
        DataError: The file is missing, empty, malformed or of another kind.
    """
    _check_data_path(path)
    frame = read_csv(path, text) if _is_csv(path) else read_parquet(path)
    if len(frame) == 0:
        _refuse_no_rows(path)
    return frame


def open_table(path: Path, *, text: Collection[str] = (), size: int) -> TableBatches:
    """Opens a .csv or .parquet file to read its rows in batches of one size.

    Args:
        path: The file.
        text: As for `read_table`.
        size: Rows a batch; the last one may have fewer.

    Raises:
        DataError: As in `read_table`.
    """
    _check_data_path(path)
    batches: TableBatches
    batches = CsvBatches(path, text, size) if _is_csv(path) else ParquetBatches(path, size)
    if batches.rows == 0:
        _refuse_no_rows(path)
    return batches


def check_table_path(path: Path, *, force: bool) -> None:
    """Refuses an output path that `new_table` would refuse."""
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(
            f"Output path {str(path)!r} must end in .csv or .parquet, but it ends in "
            f"{path.suffix!r}; rename it."
        )
    check_file_path(path, force=force)


def _check_data_path(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(
            f"Data file {str(path)!r} must end in .csv or .parquet, but it ends in "
            f"{path.suffix!r}; convert or rename it."
        )
    if not path.is_file():
        what = "it is a directory" if path.is_dir() else "there is none"
        raise DataError(f"Data file {str(path)!r} must be a file, but {what}; check the path.")


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() == ".csv"


def _refuse_no_rows(path: Path) -> Never:
    refuse_table(path, "no rows below the column names", "add rows")
