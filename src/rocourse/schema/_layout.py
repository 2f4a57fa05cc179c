"""Encoded rows and the shape of the vectors they expand to."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from rocourse.errors import DataError

Positions = npt.NDArray[np.intp]
Selection = slice | npt.NDArray[Any] | Sequence[int] | Sequence[bool]


@dataclass(frozen=True, slots=True)
class Layout:
    """Shape of the encoded vector: all continuous features first, then one one-hot group per
    categorical feature.

    Hashable, so that it can be a static argument of compiled functions.

    Attributes:
        n_continuous: Number of continuous features.
        group_sizes: Number of categories of each categorical feature.
    """

    n_continuous: int
    group_sizes: tuple[int, ...]

    @property
    def n_categorical(self) -> int:
        """Number of categorical features."""
        return len(self.group_sizes)

    @property
    def width(self) -> int:
        """Length of the encoded vector."""
        return self.n_continuous + sum(self.group_sizes)

    @property
    def group_slices(self) -> tuple[slice, ...]:
        """Where each one-hot group stands in the encoded vector."""
        ends = list(accumulate(self.group_sizes, initial=self.n_continuous))
        return tuple(slice(start, end) for start, end in zip(ends[:-1], ends[1:], strict=True))

    @property
    def category_dtype(self) -> np.dtype[Any]:
        """Smallest integer type that holds every category index."""
        return np.dtype(np.int32 if max(self.group_sizes, default=0) > 32767 else np.int16)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Encoded rows, kept compact: one-hot vectors are only made where they are used.

    The arrays are read-only.

    Attributes:
        continuous: float32 [n, C], scaled to [0, 1].
        categories: int16 or int32 [n, K], index into the categories of each feature.
    """

    continuous: npt.NDArray[np.float32]
    categories: npt.NDArray[Any]

    def __post_init__(self) -> None:
        continuous = np.asarray(self.continuous, dtype=np.float32).view()
        categories = np.asarray(self.categories).view()
        if categories.dtype.kind not in "iu":
            raise DataError(
                f"Category codes must be whole numbers, but got an array of {categories.dtype}; "
                "convert it."
            )
        if continuous.ndim != 2 or categories.ndim != 2 or len(continuous) != len(categories):
            raise DataError(
                "Encoded rows must be two matrices of equal length, but got the shapes "
                f"{continuous.shape} and {categories.shape}; reshape them to [rows, features]."
            )
        continuous.flags.writeable = False
        categories.flags.writeable = False
        object.__setattr__(self, "continuous", continuous)
        object.__setattr__(self, "categories", categories)

    def __len__(self) -> int:
        return len(self.continuous)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        return np.array_equal(self.continuous, other.continuous) and np.array_equal(
            self.categories, other.categories
        )

    def __getitem__(self, selection: Selection) -> "Rows":
        return Rows(self.continuous[selection], self.categories[selection])

    def take(self, indices: npt.ArrayLike) -> "Rows":
        """The rows at these positions, in this order."""
        where = np.asarray(indices, dtype=np.intp)
        return Rows(self.continuous.take(where, axis=0), self.categories.take(where, axis=0))

    @classmethod
    def concatenate(cls, parts: Sequence["Rows"]) -> "Rows":
        """All rows of the parts, one part after the other."""
        return cls(
            np.concatenate([part.continuous for part in parts]),
            np.concatenate([part.categories for part in parts]),
        )


def one_hot(rows: Rows, layout: Layout) -> npt.NDArray[np.float32]:
    """Expands encoded rows to vectors.

    Args:
        rows: n encoded rows.
        layout: Shape of their schema.

    Returns:
        float32 [n, layout.width].
    """
    check_layout(rows, layout)
    encoded = np.zeros((len(rows), layout.width), dtype=np.float32)
    encoded[:, : layout.n_continuous] = rows.continuous
    starts = np.array([group.start for group in layout.group_slices], dtype=np.intp)
    np.put_along_axis(encoded, rows.categories + starts, 1.0, axis=1)
    return encoded


def compact(x: npt.NDArray[np.float32], layout: Layout) -> Rows:
    """The rows that vectors stand for, the inverse of `one_hot`: the likeliest category of each.

    Args:
        x: Encoded rows, `[n, layout.width]`; categories may be soft.
        layout: Shape of their schema.
    """
    codes = np.zeros((len(x), layout.n_categorical), layout.category_dtype)
    for k, group in enumerate(layout.group_slices):
        codes[:, k] = x[:, group].argmax(axis=1)
    return Rows(x[:, : layout.n_continuous], codes)


def check_layout(rows: Rows, layout: Layout) -> None:
    """Refuses rows that were encoded by another schema."""
    shape = (rows.continuous.shape[1], rows.categories.shape[1])
    if shape != (layout.n_continuous, layout.n_categorical):
        raise DataError(
            f"Encoded rows must have {layout.n_continuous} continuous and {layout.n_categorical} "
            f"categorical features, but got {shape[0]} and {shape[1]}; encode them with the same "
            "schema."
        )
