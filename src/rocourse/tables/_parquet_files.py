"""Rows of Parquet files, whole or batch by batch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rocourse._places import ObjectPath, Place, readable
from rocourse.tables._batches import even_size
from rocourse.tables._refusals import check_same_columns, check_unique, refuse_table

Conversion = Callable[[pa.ChunkedArray], pa.ChunkedArray]

# How much of a column is read ahead; by default it would be all of a row group.
_BUFFER_BYTES = 1 << 20


def read_parquet(path: Place) -> pd.DataFrame:
    """All rows, labelled as they are stored."""
    with _refusing_damaged(path):
        with readable(path, whole=False) as file:
            check_unique(path, pq.read_schema(file).names)
        with readable(path, whole=False) as file:
            frame = pd.read_parquet(file)
    if isinstance(frame.index, pd.MultiIndex):
        # Labels of several levels fit in no single column of the output.
        return frame.reset_index(drop=True)
    return frame


class ParquetBatches:
    """Parquet files as one table, batch by batch, with the types that it has as a whole.

    Attributes:
        columns: Names of the columns.
        rows: How many rows there are.
    """

    columns: pd.Index
    rows: int

    def __init__(self, paths: Sequence[Place], size: int) -> None:
        self._files = [(path, _opened(path)) for path in paths]
        path, first = self._files[0]
        self._schema = first.schema_arrow
        check_unique(path, self._schema.names)
        for other, file in self._files:
            check_same_columns(path, _told(self._schema), other, _told(file.schema_arrow))
        self.columns = self._schema.empty_table().to_pandas().columns
        names = [name for name in self._schema.names if name not in self._told_labels()]
        # Names that are no text in pandas are text in the file.
        self._stored_names = dict(zip(self.columns, names, strict=True))
        self.rows = sum(file.metadata.num_rows for _, file in self._files)
        self._size = even_size(self.rows, size)

    def read(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """The rows, with these columns and their labels."""
        names = [self._stored_names[column] for column in columns]
        numbers, labels = self._row_numbers(), self._stored_labels()
        # Without any column, there would be no telling how many rows there are.
        wanted = [*names, *labels] or self._schema.names[:1]
        conversions = self._conversions(wanted, labels)
        done = 0
        for table in _regrouped(self._pieces(wanted), self._size):
            for name, convert in conversions.items():
                where = table.schema.get_field_index(name)
                table = table.set_column(where, name, convert(table.column(where)))
            batch = table.to_pandas()[list(columns)]
            if numbers is not None:
                batch.index = numbers[done : done + len(batch)]
            done += len(batch)
            yield batch

    def _conversions(self, names: list[str], labels: list[str]) -> dict[str, Conversion]:
        """What gives columns the type of the whole, of which a batch may show less."""
        conversions: dict[str, Conversion] = {}
        for name in names:
            arrow_type = self._schema.field(name).type
            if pa.types.is_dictionary(arrow_type):
                # Each row group knows its own categories only.
                known = pa.concat_arrays([p.column(0).dictionary for p in self._pieces([name])])
                conversions[name] = partial(_with_categories, categories=known.unique())
            elif name in labels and pa.types.is_integer(arrow_type):
                # Whole numbers are decimals in pandas where some are missing.
                if any(piece.column(0).null_count for piece in self._pieces([name])):
                    conversions[name] = partial(pa.ChunkedArray.cast, target_type=pa.float64())
        return conversions

    def _row_numbers(self) -> pd.RangeIndex | None:
        """The labels, where they are numbers that are not stored one by one."""
        if self._stored_labels():
            return None
        told = self._told_labels()
        if len(told) == 1 and isinstance(told[0], dict):
            numbers = pd.RangeIndex(told[0]["start"], told[0]["stop"], told[0]["step"])
            # Whoever cut the file may have left this as it was.
            if len(numbers) == self.rows:
                return numbers
        return pd.RangeIndex(self.rows)

    def _stored_labels(self) -> list[str]:
        """The column of labels, if there is one; labels of several levels are left out."""
        told = self._told_labels()
        return [name for name in self._schema.names if told == [name]]

    def _told_labels(self) -> list[Any]:
        """Where pandas put the labels: in columns by name, or in start, stop and step."""
        metadata = self._schema.pandas_metadata or {"index_columns": []}
        labels: list[Any] = metadata["index_columns"]
        return labels

    def _pieces(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        for path, file in self._files:
            pieces = file.iter_batches(self._size, columns=names)
            done = 0
            while True:
                with _refusing_damaged(path, after=done):
                    piece = next(pieces, None)
                if piece is None:
                    break
                done += len(piece)
                yield piece


def _opened(path: Place) -> pq.ParquetFile:
    with _refusing_damaged(path):
        file = path.opened(whole=False) if isinstance(path, ObjectPath) else path
        return pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)


def _told(schema: pa.Schema) -> list[str]:
    return [f"{field.name}: {field.type}" for field in schema]


def _regrouped(pieces: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """The same rows in tables of one size; what is read ends where a row group does."""
    held: list[pa.RecordBatch] = []
    count = 0
    for piece in pieces:
        rest = piece
        while count + len(rest) >= size:
            cut = size - count
            yield pa.Table.from_batches([*held, rest.slice(0, cut)])
            held, count, rest = [], 0, rest.slice(cut)
        held.append(rest)
        count += len(rest)
    if count:
        yield pa.Table.from_batches(held)


def _with_categories(column: pa.ChunkedArray, categories: pa.Array) -> pa.ChunkedArray:
    ordered = column.type.ordered
    codes = pc.index_in(column.cast(categories.type), categories)
    return pa.chunked_array(
        pa.DictionaryArray.from_arrays(chunk, categories, ordered=ordered) for chunk in codes.chunks
    )


@contextmanager
def _refusing_damaged(path: Place, *, after: int = 0) -> Iterator[None]:
    where = f" after {after} rows" if after else ""
    try:
        yield
    except pa.ArrowException as error:
        refuse_table(path, f"another one{where} ({_first_line(error)})", "export it again")
    except OSError as error:
        if error.strerror is not None:
            refuse_table(path, f"{error.strerror}{where}")
        # Arrow's way to tell of a page that cannot be decoded.
        refuse_table(path, f"a damaged one{where} ({_first_line(error)})", "export it again")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
