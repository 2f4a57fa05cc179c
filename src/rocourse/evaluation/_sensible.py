"""Whether advice is sensible: usual numbers, inliers, and not one value for everybody."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from rocourse.evaluation._metrics import mean
from rocourse.evaluation._model import Scalar, to_plain
from rocourse.evaluation._plausibility import Plausibility
from rocourse.schema import Recourse

# Of values that fewer people are told to reach, nothing is to be known.
_LEAST_SHARE = 0.2
# Encoded values are float32: decoded, an amount is what it was to about so many digits.
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class FrequentValue:
    """A value that many people are told to reach.

    Attributes:
        feature: Which feature is to have it.
        value: The value.
        told: To how many people it is told.
        accepted: The share of accepted training rows that have it.
    """

    feature: str
    value: Scalar
    told: int
    accepted: float


@dataclass(frozen=True, slots=True)
class SensibleScores:
    """How sensible advice is.

    Attributes:
        people: To how many people something is told.
        numbers: How many numbers they are told to change, all together.
        usual_numbers: How many of those are to lie between the 1st and the 99th percentile of the
            training rows.
        inliers: The share of people who would be inliers; see `Plausibility`. None without any.
        frequent: Of each feature the most frequent value, if a fifth of the people are told it.
    """

    people: int
    numbers: int
    usual_numbers: int
    inliers: float | None
    frequent: tuple[FrequentValue, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)


def score_sense(
    advice: Recourse, reference: Plausibility, accepted: pd.DataFrame
) -> SensibleScores:
    """How sensible recourses are that all are told to people.

    Args:
        advice: The recourses.
        reference: The rows that their model was trained on.
        accepted: Those of them that have the favourable class, raw.
    """
    usual = reference.usual_numbers(advice)
    inliers = reference.inliers(advice)
    return SensibleScores(
        people=len(advice),
        numbers=len(usual),
        usual_numbers=int(usual.sum()),
        inliers=mean(inliers[~np.isnan(inliers)]),
        frequent=_frequent(advice, accepted),
    )


def _frequent(advice: Recourse, accepted: pd.DataFrame) -> tuple[FrequentValue, ...]:
    found = []
    for feature, values in advice.changes().groupby("feature", sort=False)["to"]:
        counts = values.map(_rounded).value_counts()
        value, told = to_plain(counts.index[0]), int(counts.iloc[0])
        if told >= _LEAST_SHARE * len(advice):
            has = accepted[str(feature)].map(_rounded) == value
            found.append(FrequentValue(str(feature), value, told, float(has.mean())))
    return tuple(found)


def _rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
