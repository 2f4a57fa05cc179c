"""How plausible recourses are: whether they lie where people of the desired class do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from rocourse.errors import ConfigError
from rocourse.evaluation._model import Scalar, as_labels, to_plain
from rocourse.schema import NEGLIGIBLE_CHANGE, Recourse, Schema, one_hot

NEIGHBOURS = 5
"""How many of the nearest training rows the distance is the mean of."""

MAX_REFERENCE_ROWS = 2000
"""Training rows of one class that are compared with; of more, a seeded draw."""

OUTLYING_SHARE = 0.05
"""The share of a class's training rows that are outliers.

With scikit-learn's own threshold (`"auto"`, a factor of 1.5) wide one-hot rows are all inliers,
even when every column has been shuffled by itself. A share of the training rows is a measure that
has the same meaning for every schema.
"""

_OUTLIER_NEIGHBOURS = 20

# Percentiles between which a number is usual.
_USUAL = (0.01, 0.99)
# Encoded values are float32: a percentile decoded and encoded again need not be the same number.
_ROUNDING = 1e-6

Encoded = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class _ClassReference:
    """The training rows of one class; None where there are too few to measure by."""

    neighbours: NearestNeighbors | None
    outliers: LocalOutlierFactor | None


class Plausibility:
    """Training rows by class, for attempts to be compared with.

    Two measures, both by L1 in the encoded space, as proximity: the mean distance of an attempt
    from its `neighbours` nearest training rows of the desired class; and whether it is an inlier
    among them, that is, its local outlier factor (20 neighbours, repeated rows counted once) is no
    higher than that of 95% of these training rows. About 95% of other real rows of the class are
    inliers, and what is advised should not be far below. A third asks of each changed number
    whether it is usual: between the 1st and the 99th percentile of its column.

    Make one with `fit`.
    """

    def __init__(
        self,
        schema: Schema,
        references: Mapping[Scalar, _ClassReference],
        usual: tuple[Encoded, Encoded],
    ) -> None:
        self._schema, self._references = schema, references
        self._low, self._high = usual

    @classmethod
    def fit(
        cls,
        schema: Schema,
        X: pd.DataFrame,
        y: Any,
        *,
        neighbours: int = NEIGHBOURS,
        max_rows: int = MAX_REFERENCE_ROWS,
        outlying: float | Literal["auto"] = OUTLYING_SHARE,
        seed: int = 0,
    ) -> Self:
        """Keeps the training rows of each class.

        Args:
            schema: That of the recourses to come.
            X: Training rows, raw.
            y: Their classes.
            neighbours: How many rows the distance is a mean of; a class with fewer than one more
                than this has no measures.
            max_rows: The most rows to keep of a class, drawn at random, so that judging stays
                quick.
            outlying: The share of a class's training rows that are outliers, at most one half, or
                "auto": scikit-learn's own threshold.
            seed: Decides the draw.
        """
        for name, value in (("neighbours", neighbours), ("max_rows", max_rows)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(
                    f"{name} must be a whole number of at least 1, but is {value!r}: use, say, 5."
                )
        share = isinstance(outlying, float) and 0.0 < outlying <= 0.5
        if not share and outlying != "auto":
            raise ConfigError(
                f"outlying must be a share above 0, at most 0.5, or 'auto', but is {outlying!r}: "
                "use, say, 0.05."
            )
        labels = as_labels(y, rows=len(X), source="y")
        rows_given = schema.encode(X)
        encoded = one_hot(rows_given, schema.layout)
        low, high = np.quantile(rows_given.continuous, _USUAL, axis=0).astype(np.float32)
        rng = np.random.default_rng(seed)
        references = {}
        for label in sorted(pd.unique(labels), key=str):
            rows = encoded[labels == label]
            if len(rows) > max_rows:
                rows = rows[np.sort(rng.choice(len(rows), max_rows, replace=False))]
            references[to_plain(label)] = _reference(rows, neighbours, outlying)
        return cls(schema, references, (low, high))

    @property
    def classes(self) -> tuple[Scalar, ...]:
        """The classes that there were training rows of."""
        return tuple(self._references)

    def distances(self, recourse: Recourse) -> npt.NDArray[np.float64]:
        """Mean L1 distance of each attempt from the nearest training rows of its desired class.

        Returns:
            float64 [n], NaN where the class has too few rows.
        """
        return self._judged(*self._attempts(recourse), _distances)

    def inliers(self, recourse: Recourse) -> npt.NDArray[np.float64]:
        """Whether each attempt is an inlier among the training rows of its desired class.

        Returns:
            float64 [n] of zeros and ones, NaN where the class has too few rows.
        """
        return self._judged(*self._attempts(recourse), _inliers)

    def inlying_rows(self, X: pd.DataFrame, y: Any) -> npt.NDArray[np.float64]:
        """The same of raw rows and their own classes: what can be expected of recourses at best."""
        labels = as_labels(y, rows=len(X), source="y")
        return self._judged(one_hot(self._schema.encode(X), self._schema.layout), labels, _inliers)

    def usual(self, recourse: Recourse) -> npt.NDArray[np.float64]:
        """Whether every number that an attempt changes becomes a usual one, whatever its class.

        Returns:
            float64 [n] of zeros and ones.
        """
        changed, within = self._changed_numbers(recourse)
        return np.asarray((within | ~changed).all(axis=1), dtype=np.float64)

    def usual_numbers(self, recourse: Recourse) -> npt.NDArray[np.bool_]:
        """Whether each number that is changed becomes a usual one: bool, one a changed number."""
        changed, within = self._changed_numbers(recourse)
        return within[changed]

    def _changed_numbers(
        self, recourse: Recourse
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which numbers change, and which of all become usual ones, each `[n, numbers]`."""
        values, before = recourse.attempts.continuous, recourse.original_rows.continuous
        within = (values >= self._low - _ROUNDING) & (values <= self._high + _ROUNDING)
        return np.abs(values - before) >= NEGLIGIBLE_CHANGE, within

    def _attempts(self, recourse: Recourse) -> tuple[Encoded, npt.NDArray[Any]]:
        return one_hot(recourse.attempts, self._schema.layout), np.asarray(recourse.desired)

    def _judged(
        self,
        rows: Encoded,
        classes: npt.NDArray[Any],
        measure: Callable[[_ClassReference, Encoded], Any],
    ) -> npt.NDArray[np.float64]:
        values = np.full(len(rows), np.nan)
        for label, reference in self._references.items():
            asked = np.flatnonzero(classes == label)
            if len(asked):
                values[asked] = measure(reference, rows[asked])
        return values


def _reference(
    rows: Encoded, neighbours: int, outlying: float | Literal["auto"]
) -> _ClassReference:
    # Repeated rows lie at distance zero from each other, and beside such an infinitely dense spot
    # everything is an outlier.
    distinct = np.unique(rows, axis=0)
    nearest = outliers = None
    if len(rows) > neighbours:
        nearest = NearestNeighbors(n_neighbors=neighbours, metric="manhattan", algorithm="brute")
        nearest.fit(rows)
    if len(distinct) > neighbours:
        outliers = LocalOutlierFactor(
            n_neighbors=min(_OUTLIER_NEIGHBOURS, len(distinct) - 1),
            metric="manhattan",
            algorithm="brute",
            contamination=outlying,
            novelty=True,
        )
        outliers.fit(distinct)
    return _ClassReference(nearest, outliers)


def _distances(reference: _ClassReference, rows: Encoded) -> Any:
    if reference.neighbours is None:
        return np.nan
    return reference.neighbours.kneighbors(rows)[0].mean(axis=1)


def _inliers(reference: _ClassReference, rows: Encoded) -> Any:
    return np.nan if reference.outliers is None else reference.outliers.predict(rows) == 1
