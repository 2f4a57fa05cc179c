"""Tables that are written batch by batch, and appear when they are complete."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rocourse._files import new_file
from rocourse.errors import OutputError
from rocourse.tables._reading import check_table_path

Write = Callable[[pd.DataFrame], None]


@contextmanager
def new_table(path: Path, *, force: bool) -> Iterator[Write]:
    """A .csv or .parquet file, which appears when the block is done, or not at all.

    Args:
        path: The file.
        force: Whether to replace a file that is there already.

    Yields:
        What writes the next rows; the columns and types of all batches must be the same.
    """
    check_table_path(path, force=force)
    with new_file(path, force=force) as file:
        if path.suffix.lower() == ".csv":
            yield _csv_writer(file)
        else:
            with _parquet_writer(file, path) as write:
                yield write


def _csv_writer(file: BinaryIO) -> Write:
    is_first = True

    def write(frame: pd.DataFrame) -> None:
        nonlocal is_first
        file.write(frame.to_csv(index=False, header=is_first, lineterminator="\n").encode())
        is_first = False

    return write


@contextmanager
def _parquet_writer(file: BinaryIO, path: Path) -> Iterator[Write]:
    writer: pq.ParquetWriter | None = None

    def write(frame: pd.DataFrame) -> None:
        nonlocal writer
        schema = None if writer is None else writer.schema
        try:
            table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
        except (pa.ArrowException, OverflowError) as error:
            raise OutputError(
                f"Output path {str(path)!r} must take columns of one type, but got other values "
                f"({str(error).splitlines()[0]}); write a .csv file."
            ) from error
        if writer is None:
            # Numbers that are hardly ever the same take longer to look up than to write.
            texts = [field.name for field in table.schema if not _is_number(field.type)]
            writer = pq.ParquetWriter(file, table.schema, use_dictionary=texts)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def _is_number(arrow_type: Any) -> bool:
    return bool(pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type))
