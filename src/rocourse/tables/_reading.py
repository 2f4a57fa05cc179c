"""Tables of files, by suffix."""

from collections.abc import Collection
from typing import Any, Never

import pandas as pd

from rocourse._files import check_file_path
from rocourse._lazy import optional
from rocourse._places import Place
from rocourse.errors import DataError
from rocourse.tables._batches import TableBatches
from rocourse.tables._csv_files import CsvBatches, read_csv
from rocourse.tables._parts import check_folder, is_folder
from rocourse.tables._refusals import SUFFIXES, check_suffix, refuse_table

# Of a folder that is read at once.
_FOLDER_ROWS = 1 << 18


def read_table(path: Place, *, text: Collection[str] = ()) -> pd.DataFrame:
    """Reads rows from a .csv or .parquet file, or a folder of such files.

    Args:
        path: The file, or the folder.
        text: Columns whose values are text even where they look like something else: in a CSV file
            nothing tells a category "1" from a number, or "None" from a missing value.

    Raises:
        DataError: The file is missing, empty, malformed or of another kind.
    """
    files = table_files(path)
    if path.is_dir():
        table = open_table(path, text=text, size=_FOLDER_ROWS)
        return pd.concat(list(table.read(list(table.columns))))
    frame = read_csv(path, text) if _is_csv(files[0]) else _parquet().read_parquet(path)
    if len(frame) == 0:
        _refuse_no_rows(path)
    return frame


def open_table(path: Place, *, text: Collection[str] = (), size: int) -> TableBatches:
    """Opens a .csv or .parquet file, or a folder of such, to read its rows in batches of one size.

    Args:
        path: The file, or the folder, whose files are read in the order of their names.
        text: As for `read_table`.
        size: Rows a batch; the last one, and the last of each CSV file, may have fewer.

    Raises:
        DataError: As in `read_table`.
    """
    files = table_files(path)
    batches: TableBatches
    batches = (
        CsvBatches(files, text, size)
        if _is_csv(files[0])
        else _parquet().ParquetBatches(files, size)
    )
    if batches.rows == 0:
        _refuse_no_rows(path)
    return batches


def check_table_path(path: Place, *, force: bool) -> None:
    """Refuses an output path that cannot be written: a file's, or that of a folder of parts."""
    if is_folder(path):
        check_folder(path)
        return
    check_suffix(path)
    check_file_path(path, force=force)


def table_files(path: Place) -> list[Place]:
    """The file of a table, or those of a folder in the order of their names.

    In a folder, files whose names begin with `_` or `.` are no part of the table.

    Raises:
        DataError: There are none, or they are of another kind, or of two.
    """
    if not path.is_dir():
        _check_data_path(path)
        return [path]
    files = [file for file in path.iterdir() if not file.name.startswith(("_", "."))]
    files.sort(key=lambda file: file.name)
    if not files:
        raise DataError(
            f"Data folder {str(path)!r} must hold .csv or .parquet files, but it holds none; check "
            "the path."
        )
    for file in files:
        _check_data_path(file)
    if len({_is_csv(file) for file in files}) > 1:
        raise DataError(
            f"Data folder {str(path)!r} must hold files of one kind, but it holds both .csv and "
            ".parquet; move one kind away."
        )
    return files


def _check_data_path(path: Place) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(
            f"Data file {str(path)!r} must end in .csv or .parquet, but it ends in "
            f"{path.suffix!r}; convert or rename it."
        )
    if not path.is_file():
        what = "it is a directory" if path.is_dir() else "there is none"
        raise DataError(f"Data file {str(path)!r} must be a file, but {what}; check the path.")


def _parquet() -> Any:
    return optional("rocourse.tables._parquet_files", "parquet")


def _is_csv(path: Place) -> bool:
    return path.suffix.lower() == ".csv"


def _refuse_no_rows(path: Place) -> Never:
    refuse_table(path, "no rows below the column names", "add rows")
