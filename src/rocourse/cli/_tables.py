"""Tables in and out of files, by suffix."""

import csv
import io
import warnings
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Never

import pandas as pd

from rocourse.artifacts import check_file_path, write_file
from rocourse.errors import DataError, OutputError

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
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(
            f"Data file {str(path)!r} must end in .csv or .parquet, but it ends in "
            f"{path.suffix!r}; convert or rename it."
        )
    if not path.is_file():
        what = "it is a directory" if path.is_dir() else "there is none"
        raise DataError(f"Data file {str(path)!r} must be a file, but {what}; check the path.")
    try:
        frame = _read_csv(path, text) if path.suffix.lower() == ".csv" else _read_parquet(path)
    except OSError as error:
        _refuse(path, error.strerror or str(error))
    if len(frame) == 0:
        _refuse(path, "no rows below the column names", "add rows")
    return frame


def check_table_path(path: Path, *, force: bool) -> None:
    """Refuses an output path that `write_table` would refuse."""
    if path.suffix.lower() not in SUFFIXES:
        raise OutputError(
            f"Output path {str(path)!r} must end in .csv or .parquet, but it ends in "
            f"{path.suffix!r}; rename it."
        )
    check_file_path(path, force=force)


def write_table(frame: pd.DataFrame, path: Path, *, force: bool) -> None:
    """Writes rows to a .csv or .parquet file, complete or not at all."""
    check_table_path(path, force=force)
    if path.suffix.lower() == ".csv":
        content = frame.to_csv(index=False, lineterminator="\n").encode()
    else:
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        content = buffer.getvalue()
    write_file(path, content, force=force)


def _read_csv(path: Path, text: Collection[str]) -> pd.DataFrame:
    try:
        names = _csv_names(path)
        with warnings.catch_warnings():
            # Fields beyond the header would be dropped with a warning (and, without
            # `index_col=False`, the first column would be taken for row labels).
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # `utf-8-sig` drops the mark that spreadsheets put before the first column name.
            frame = pd.read_csv(path, encoding="utf-8-sig", index_col=False, low_memory=False)
        as_text = [name for name in names if name in text]
        if as_text:
            frame[as_text] = pd.read_csv(
                path,
                encoding="utf-8-sig",
                index_col=False,
                usecols=as_text,
                dtype="str",
                keep_default_na=False,
                na_values=[""],
            )[as_text]
    except pd.errors.EmptyDataError:
        _refuse(path, "an empty file", "export it again")
    except (pd.errors.ParserError, csv.Error) as error:
        reason = str(error).rpartition("C error: ")[2].strip()
        _refuse(path, f"a malformed one ({reason})", "correct the file")
    except pd.errors.ParserWarning:
        _refuse(path, "rows with more fields than the header", "correct the file")
    except UnicodeDecodeError:
        _refuse(path, "bytes that are no UTF-8 text", "export it again as UTF-8")
    return frame


def _csv_names(path: Path) -> list[str]:
    """The column names as they stand in the file; pandas would rename repeated ones."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        names = next((record for record in csv.reader(file) if record), [])
    _check_unique(path, names)
    return names


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow
    import pyarrow.parquet

    try:
        _check_unique(path, pyarrow.parquet.read_schema(path).names)
        frame = pd.read_parquet(path)
    except pyarrow.ArrowException as error:
        _refuse(path, f"another one ({str(error).splitlines()[0]})", "export it again")
    if isinstance(frame.index, pd.MultiIndex):
        # Labels of several levels fit in no single column of the output.
        return frame.reset_index(drop=True)
    return frame


def _check_unique(path: Path, names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"Column names of {str(path)!r} must be unique, but got {repeated[0]!r} more than "
            "once; rename or remove one."
        )


def _refuse(path: Path, received: str, remedy: str = "check the file") -> Never:
    raise DataError(
        f"Data file {str(path)!r} must be a table with column names and rows, but got {received}; "
        f"{remedy}."
    )
