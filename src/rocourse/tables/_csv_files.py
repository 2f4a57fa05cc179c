"""Rows of CSV files, whole or batch by batch."""

import csv
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any

import pandas as pd

from rocourse._places import Place, readable, text_of
from rocourse.schema import GAP_WORDS
from rocourse.tables._batches import even_size
from rocourse.tables._refusals import check_same_columns, check_unique, refuse_table

# `utf-8-sig` drops the mark that spreadsheets put before the first column name. Without
# `index_col=False`, the first column would be taken for row labels where rows have more fields than
# the header.
_OPTIONS: Any = {"encoding": "utf-8-sig", "index_col": False, "low_memory": False}
if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
    # What is written is read as it was; later releases need not be asked.
    _OPTIONS["float_precision"] = "round_trip"
# "None" is a category that people want, of other debts, say, unless all else are numbers.
_WORDS_OPTIONS: Any = {
    **_OPTIONS,
    "dtype": "str",
    "keep_default_na": False,
    "na_values": sorted(GAP_WORDS),
}
_TEXT_OPTIONS: Any = {**_OPTIONS, "dtype": "str", "keep_default_na": False, "na_values": [""]}

# Spreadsheets of countries with decimal commas separate fields by semicolons.
_SEPARATORS = (",", ";", "\t")
_COMMA, _POINT = (re.compile(rf"[-+]?\d+{sign}\d+\s*") for sign in (",", r"\."))
_LOOKED_AT = 1000

_FLAGS = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}


def read_csv(path: Place, text: Collection[str]) -> pd.DataFrame:
    """All rows; the columns of `text` are read as text whatever they look like."""
    with _refusing_malformed(path):
        form = _form(path)
        as_text = [name for name in _column_names(path, form) if name in text]
        frame = _read(path, **_OPTIONS, **form)
        if as_text:
            frame[as_text] = _read(path, usecols=as_text, **_TEXT_OPTIONS, **form)[as_text]
        words = [
            name
            for name in frame.columns.difference(as_text)
            if _is_text(frame[name]) and frame[name].hasnans
        ]
        if words:
            frame[words] = _read(path, usecols=words, **_WORDS_OPTIONS, **form)[words]
    return frame


class CsvBatches:
    """CSV files as one table, batch by batch, with the types that it has as a whole.

    Only its values tell what a column holds, and a single fraction makes decimals of all of them.
    So files are read twice: first for the types and for whatever is malformed.

    Attributes:
        columns: Names of the columns.
        rows: How many rows there are.
    """

    columns: pd.Index
    rows: int

    def __init__(self, paths: Sequence[Place], text: Collection[str], size: int) -> None:
        self._size = size
        self._forms: dict[Place, dict[str, Any]] = {}
        for path in paths:
            with _refusing_malformed(path):
                self._forms[path] = form = _form(path)
                names = _column_names(path, form)
                if path == paths[0]:
                    first = names
                    self._text = [name for name in names if name in text]
                    self.columns = _read(path, nrows=0, **_OPTIONS, **form).columns
            check_same_columns(paths[0], first, path, names)
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
                if _is_text(batch[name]):
                    batch[name] = _one_by_one(batch[name])
            yield batch

    def _batches(self, **options: Any) -> Iterator[pd.DataFrame]:
        before = 0
        for path, form in self._forms.items():
            rows = 0
            with ExitStack() as stack:
                with _refusing_malformed(path):
                    file = stack.enter_context(readable(path))
                    reader = pd.read_csv(file, chunksize=self._size, **options, **form)
                    stack.enter_context(reader)
                while True:
                    with _refusing_malformed(path):
                        batch = next(reader, None)
                    if batch is None:
                        break
                    rows += len(batch)
                    # Rows are counted on from the file before.
                    batch.index += before
                    if len(batch):
                        yield batch
            before += rows


def _read(path: Place, **options: Any) -> pd.DataFrame:
    with readable(path) as file:
        frame: pd.DataFrame = pd.read_csv(file, **options)
    return frame


def _is_text(column: pd.Series) -> bool:
    # pandas 2 has texts as objects, and flags with gaps as well.
    return column.dtype == "str" or (
        column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) == "string"
    )


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


def _form(path: Place) -> dict[str, Any]:
    """How the fields of a file are separated, and its decimals written, by its first rows."""
    with text_of(path) as file:
        head = list(islice(file, _LOOKED_AT))
    header = next((line for line in head if line.strip()), "")
    separator = max(_SEPARATORS, key=lambda sign: len(next(csv.reader([header], delimiter=sign))))
    if separator == ",":
        return {}
    cells = [cell for record in csv.reader(head, delimiter=separator) for cell in record]
    commas = any(map(_COMMA.fullmatch, cells)) and not any(map(_POINT.fullmatch, cells))
    return {"sep": separator, "decimal": "," if commas else "."}


def _column_names(path: Place, form: dict[str, Any]) -> list[str]:
    """The column names as they stand in the file; pandas would rename repeated ones."""
    with text_of(path) as file:
        records = csv.reader(file, delimiter=form.get("sep", ","))
        names = next((record for record in records if record), [])
    check_unique(path, names)
    return names


@contextmanager
def _refusing_malformed(path: Place) -> Iterator[None]:
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
