"""What is said of numbers that were pulled into the range of the training rows."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from rocourse._wording import counted
from rocourse.schema._features import Continuous


@dataclass(frozen=True, slots=True)
class Clipped:
    """The values of one feature that lie outside its range.

    Attributes:
        feature: The feature.
        rows: How many values do.
        first: The first of them.
    """

    feature: Continuous
    rows: int
    first: float

    def __str__(self) -> str:
        return (
            f"{self.feature.name!r} ({counted(self.rows, 'row')}, first {self._word(self.first)}, "
            f"range {self._word(self.feature.low)} to {self._word(self.feature.high)})"
        )

    def _word(self, value: float) -> str:
        return self.feature.word(value) if self.feature.date else f"{value:.10g}"


class ClippedWarning(UserWarning):
    """Values outside the range of the training rows were pulled into it.

    Attributes:
        clipped: Where they were; empty if the warning was not made by `about`.
    """

    clipped: tuple[Clipped, ...] = ()

    @classmethod
    def about(cls, clipped: Iterable[Clipped]) -> Self:
        """The warning that names these values."""
        where = tuple(clipped)
        warning = cls(
            "Values outside the range of the training rows were clipped in "
            f"{', '.join(map(str, where))}; refuse them with out_of_range='error'."
        )
        warning.clipped = where
        return warning

    @classmethod
    def joined(cls, parts: Iterable["ClippedWarning"]) -> Self:
        """One warning about all rows, of those about one batch of them after the other."""
        whole: dict[str, Clipped] = {}
        for part in parts:
            for clipped in part.clipped:
                known = whole.get(clipped.feature.name, replace(clipped, rows=0))
                whole[clipped.feature.name] = replace(known, rows=known.rows + clipped.rows)
        return cls.about(whole.values())
