"""Rows of CSV files, whole or batch by batch."""

import csv
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from rocourse.schema import GAP_WORDS
from rocourse.tables._batches import even_size
from rocourse.tables._refusals import check_unique, refuse_table

# `utf-8-sig` drops the mark that spreadsheets put before the first column name. Without
# `index_col=False`, the first column would be taken for row labels where rows have more fields than
# the header.
_OPTIONS: Any = {"encoding": "utf-8-sig", "index_col": False, "low_memory": False}
# "None" is a category that people want, of other debts, say, unless all else are numbers.
_WORDS_OPTIONS: Any = {
    **_OPTIONS,
    "dtype": "str",
    "keep_default_na": False,
    "na_values": sorted(GAP_WORDS),
}
_TEXT_OPTIONS: Any = {**_OPTIONS, "dtype": "str", "keep_default_na": False, "na_values": [""]}

_FLAGS = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}


def read_csv(path: Path, text: Collection[str]) -> pd.DataFrame:
    """All rows; the columns of `text` are read as text whatever they look like."""
    with _refusing_malformed(path):
        as_text = [name for name in _column_names(path) if name in text]
        frame: pd.DataFrame = pd.read_csv(path, **_OPTIONS)
        if as_text:
            frame[as_text] = pd.read_csv(path, usecols=as_text, **_TEXT_OPTIONS)[as_text]
        words = [
            name
            for name in frame.columns.difference(as_text)
            if frame[name].dtype == "str" and frame[name].hasnans
        ]
        if words:
            frame[words] = pd.read_csv(path, usecols=words, **_WORDS_OPTIONS)[words]
    return frame


class CsvBatches:
    """A CSV file, batch by batch, with the types that it has as a whole.

    Only its values tell what a column holds, and a single fraction makes decimals of all of them.
    So the file is read twice: first for the types and for whatever is malformed.

    Attributes:
        columns: Names of the columns.
        rows: How many rows there are.
    """

    columns: pd.Index
    rows: int

    def __init__(self, path: Path, text: Collection[str], size: int) -> None:
        self._path, self._size = path, size
        with _refusing_malformed(path):
            self._text = [name for name in _column_names(path) if name in text]
            self.columns = pd.read_csv(path, nrows=0, **_OPTIONS).columns
        seen: dict[str, set[str]] = {name: set() for name in self.columns.difference(self._text)}
        self.rows = 0
        for batch in self._batches(**_OPTIONS):
            self.rows += len(batch)
            for name, types in seen.items():
                types.add(str(batch[name].dtype))
        self._types = {name: _common_type(types) for name, types in seen.items()}
        self._size = even_size(self.rows, size)

    def read(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """The rows, with these columns."""
        text = [name for name in columns if name in self._text]
        others = [name for name in columns if name not in text]
        parts = []
        # Without any column, there would be no telling how many rows there are.
        if others or not text:
            types = {name: kind for name in others if (kind := self._types[name])}
            wanted = others or [self.columns[0]]
            parts.append(self._batches(usecols=wanted, dtype=types, **_OPTIONS))
        if text:
            parts.append(self._batches(usecols=text, **_TEXT_OPTIONS))
        for pieces in zip(*parts, strict=True):
            batch = pd.concat(pieces, axis=1)[list(columns)]
            for name in others:
                if batch[name].dtype == "str":
                    batch[name] = _one_by_one(batch[name])
            yield batch

    def _batches(self, **options: Any) -> Iterator[pd.DataFrame]:
        with _refusing_malformed(self._path):
            reader = pd.read_csv(self._path, chunksize=self._size, **options)
        with reader:
            while True:
                with _refusing_malformed(self._path):
                    batch = next(reader, None)
                if batch is None:
                    return
                yield batch


def _common_type(types: set[str]) -> str | None:
    """The type of a whole column, from those of its batches.

    None leaves each batch as it comes: a column of numbers or flags in which there is anything else
    is refused at the first odd value.
    """
    if types <= {"int64"}:
        return "int64"
    return "float64" if "float64" in types and types <= {"int64", "uint64", "float64"} else None


def _one_by_one(column: pd.Series) -> pd.Series:
    """Each value as it would be read alone; one odd value makes text of all others."""
    numbers = pd.to_numeric(column, errors="coerce")
    flags = column.map(_FLAGS)
    mixed = column.astype(object).where(numbers.isna(), numbers).where(flags.isna(), flags)
    is_odd = numbers.isna() & flags.isna() & column.notna()
    return mixed if is_odd.any() else column


def _column_names(path: Path) -> list[str]:
    """The column names as they stand in the file; pandas would rename repeated ones."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        names = next((record for record in csv.reader(file) if record), [])
    check_unique(path, names)
    return names


@contextmanager
def _refusing_malformed(path: Path) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            # Fields beyond the header would be dropped with a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except pd.errors.EmptyDataError:
        refuse_table(path, "an empty file", "export it again")
    except (pd.errors.ParserError, csv.Error) as error:
        reason = str(error).rpartition("C error: ")[2].strip()
        refuse_table(path, f"a malformed one ({reason})", "correct the file")
    except pd.errors.ParserWarning:
        refuse_table(path, "rows with more fields than the header", "correct the file")
    except UnicodeDecodeError:
        refuse_table(path, "bytes that are no UTF-8 text", "export it again as UTF-8")
    except OSError as error:
        refuse_table(path, error.strerror or str(error))
