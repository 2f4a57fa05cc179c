"""Tables that are written batch by batch, and appear when they are complete."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pandas as pd

from rocourse._files import new_file
from rocourse._lazy import optional
from rocourse._places import Place
from rocourse.errors import OutputError
from rocourse.tables._refusals import check_suffix

# What spreadsheets take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Rendered = pd.DataFrame | bytes
Write = Callable[[Rendered], None]


@contextmanager
def new_table(path: Place, *, force: bool) -> Iterator[Write]:
    """A .csv or .parquet file, which appears when the block is done, or not at all.

    Args:
        path: The file.
        force: Whether to replace a file that is there already.

    Yields:
        What writes the next rows, as they are or `rendered` elsewhere; the columns and types of all
        batches must be the same.
    """
    check_suffix(path)
    with new_file(path, force=force) as file:
        if path.suffix.lower() == ".csv":
            yield _csv_writer(file)
        else:
            with _parquet_writer(file, path) as write:
                yield write


def rendered(frame: pd.DataFrame, suffix: str, *, first: bool) -> Rendered:
    """Rows as `new_table` takes them with the least to do: the text of a CSV file, or the rows.

    Args:
        frame: The rows.
        suffix: Of the file.
        first: Whether they are the first: the names of the columns stand before them.
    """
    return _csv_text(frame, header=first) if suffix.lower() == ".csv" else frame


def spreadsheet_safe(text: str) -> str:
    """Text that no spreadsheet takes for a formula; numbers stay as they are.

    What begins with one of =, +, -, @, a tab or a carriage return would be computed when the file
    is opened, and may start programs. After an apostrophe it is shown.
    """
    if not text.startswith(_FORMULA) or _is_number_text(text):
        return text
    return f"'{text}"


def _is_number_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _safe(frame: pd.DataFrame) -> pd.DataFrame:
    changed = {}
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            continue
        # Few texts stand in many rows.
        texts = {value for value in column.unique() if isinstance(value, str)}
        moved = {text: shown for text in texts if (shown := spreadsheet_safe(text)) != text}
        if moved:
            changed[name] = column.astype(object).map(lambda value, by=moved: by.get(value, value))
    safe: pd.DataFrame = frame.assign(**changed) if changed else frame
    return safe.rename(columns=spreadsheet_safe)


def _csv_text(frame: pd.DataFrame, *, header: bool) -> bytes:
    return bytes(_safe(frame).to_csv(index=False, header=header, lineterminator="\n").encode())


def _csv_writer(file: BinaryIO) -> Write:
    is_first = True

    def write(rows: Rendered) -> None:
        nonlocal is_first
        file.write(rows if isinstance(rows, bytes) else _csv_text(rows, header=is_first))
        is_first = False

    return write


@contextmanager
def _parquet_writer(file: BinaryIO, path: Place) -> Iterator[Write]:
    pq = optional("pyarrow.parquet", "parquet")
    writer: Any = None

    def write(rows: Rendered) -> None:
        nonlocal writer
        assert isinstance(rows, pd.DataFrame)
        table = arrow_table(rows, path, None if writer is None else writer.schema)
        if writer is None:
            writer = pq.ParquetWriter(file, table.schema, use_dictionary=_texts(table))
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def arrow_table(frame: pd.DataFrame, path: Place, schema: Any = None) -> Any:
    """Rows for a Parquet file.

    Args:
        frame: The rows.
        path: The file, for the error sentence.
        schema: Of the rows before them, if there are some.

    Raises:
        OutputError: A column has values of several types, or of another than before.
    """
    pa = optional("pyarrow", "parquet")
    try:
        return pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
    except (pa.ArrowException, OverflowError) as error:
        raise OutputError(
            f"Output path {str(path)!r} must take columns of one type, but got other values "
            f"({str(error).splitlines()[0]}); write a .csv file."
        ) from error


def write_parquet(table: Any, path: Place) -> None:
    """Writes a whole Parquet file, in the place of one that is there."""
    with new_file(path, force=True) as file:
        optional("pyarrow.parquet", "parquet").write_table(
            table, file, use_dictionary=_texts(table)
        )


def _texts(table: Any) -> list[str]:
    """The columns to look up: numbers that are hardly ever the same take longer than to write."""
    types = optional("pyarrow", "parquet").types
    return [
        field.name
        for field in table.schema
        if not (types.is_integer(field.type) or types.is_floating(field.type))
    ]
