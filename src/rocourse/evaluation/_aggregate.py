"""Means and spreads of measurements."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Some measurements of one thing.

    Attributes:
        mean: None if nothing was measured.
        std: The sample standard deviation, None for fewer than two measurements.
        n: How many measurements there are.
    """

    mean: float | None
    std: float | None
    n: int

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Self:
        """The aggregate of the values that exist."""
        present = [value for value in values if value is not None]
        return cls(
            mean=float(np.mean(present)) if present else None,
            std=float(np.std(present, ddof=1)) if len(present) > 1 else None,
            n=len(present),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Summary:
    """Aggregates of every measure.

    Attributes:
        model: By measure of the predictor and of time; see `MODEL_METRICS`.
        protocols: By protocol, then by measure of the recourses; see `RECOURSE_METRICS`.
    """

    model: Mapping[str, Aggregate]
    protocols: Mapping[str, Mapping[str, Aggregate]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)


def mean_present(values: Iterable[float | None]) -> float | None:
    """The mean of the values that exist, None if there are none."""
    return Aggregate.of(values).mean
