"""The columns of a table, each looked at once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.schema._favourable import words_of
from rocourse.schema._validation import to_floats
from rocourse.schema.check._traits import Traits, traits_of

Nature = Literal["empty", "number", "flag", "date", "text"]


@dataclass(frozen=True, eq=False)
class Column:
    """A column with what all checks ask of it.

    Attributes:
        name: Its name.
        values: Its cells.
        codes: The index of each cell's value among the distinct ones; -1: missing.
        distinct: The different values, in order of appearance.
        numbers: The cells as numbers with NaN for gaps; None if they are none.
    """

    name: str
    values: pd.Series
    codes: npt.NDArray[np.intp]
    distinct: list[Any]
    numbers: npt.NDArray[np.float64] | None

    @classmethod
    def of(cls, name: str, values: pd.Series) -> "Column":
        """Looks at a column."""
        plain = values
        if isinstance(values.dtype, pd.CategoricalDtype):
            plain = pd.Series(np.asarray(values), index=values.index)
        try:
            codes, distinct = pd.factorize(plain)
        except TypeError:  # Lists and their like cannot be told apart by themselves.
            codes, distinct = pd.factorize(plain.astype(str))
        return cls(name, plain, codes, list(distinct), to_floats(plain))

    @cached_property
    def nature(self) -> Nature:
        """What kind of values it holds."""
        if not self.distinct:
            return "empty"
        if pd.api.types.is_datetime64_any_dtype(self.values.dtype):
            return "date"
        if self.numbers is not None:
            return "number"
        if all(isinstance(value, (bool, np.bool_)) for value in self.distinct[:3]):
            return "flag"
        return "text"

    @cached_property
    def traits(self) -> Traits:
        """What the values turn out to be."""
        return traits_of(self)

    @cached_property
    def present(self) -> int:
        """How many cells have a value."""
        return int((self.codes >= 0).sum())

    @property
    def missing(self) -> int:
        """How many have none."""
        return len(self.codes) - self.present

    @cached_property
    def counts(self) -> npt.NDArray[np.intp]:
        """How many cells have each of the distinct values."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.distinct))

    @cached_property
    def words(self) -> list[str]:
        """The words in its name."""
        return words_of(self.name)

    @cached_property
    def texts(self) -> list[str]:
        """The distinct values as text."""
        return [str(value).strip() for value in self.distinct]

    @cached_property
    def whole(self) -> bool:
        """Whether all its numbers are whole."""
        if self.numbers is None:
            return False
        found = self.numbers[np.isfinite(self.numbers)]
        return bool((found == np.rint(found)).all())

    def labels(self, mask: npt.NDArray[np.bool_], limit: int = 5) -> tuple[Any, ...]:
        """The labels of the first rows of a mask."""
        return tuple(
            label.item() if hasattr(label, "item") else label
            for label in self.values.index[np.flatnonzero(mask)[:limit]]
        )


@dataclass(frozen=True, eq=False)
class TableColumns:
    """A table, column by column.

    Attributes:
        rows: How many rows there are.
        features: All columns but the target.
        target: The target, if it is named.
    """

    rows: int
    features: tuple[Column, ...]
    target: Column | None
