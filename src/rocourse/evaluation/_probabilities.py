"""Whether probabilities are what they say: Brier score, log loss, reliability."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocourse.evaluation._metrics import mean

_BINS = 10
# What float32 can tell from nothing.
_LEAST = 1e-7


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Rows of about the same probability.

    Attributes:
        rows: How many.
        predicted: Their mean probability.
        observed: The share of them that have the class.
    """

    rows: int
    predicted: float
    observed: float


def brier_score(
    actual: Any, probabilities: Any, classes: Sequence[Any] | np.ndarray
) -> float | None:
    """The mean squared difference between probabilities and what was the case.

    Of two classes that of one of them, which is the other's too; of more, summed over classes.
    Arguments as of `auc`.
    """
    shares, truth = _arrays(actual, probabilities, classes)
    squares = np.square(shares - truth).sum(axis=1)
    return mean(0.5 * squares if len(classes) == 2 else squares)


def log_loss(actual: Any, probabilities: Any, classes: Sequence[Any] | np.ndarray) -> float | None:
    """The mean negative logarithm of the probability of the class that was the case.

    Arguments as of `auc`.
    """
    shares, truth = _arrays(actual, probabilities, classes)
    return mean(-np.log(np.clip((shares * truth).sum(axis=1), _LEAST, 1.0)))


def reliability(
    actual: Any, probabilities: Any, classes: Sequence[Any] | np.ndarray, *, bins: int = _BINS
) -> tuple[ReliabilityBin, ...]:
    """How often rows of about the same probability have the class; bins without rows are left out.

    Of two classes it is the second one's probability; of more, that of the most probable class.

    Args:
        actual: Labels, `[n]`.
        probabilities: `[n, len(classes)]`, columns in the order of `classes`.
        classes: The labels that the model knows.
        bins: Into how many equal parts probabilities from 0 to 1 are cut.
    """
    shares, truth = _arrays(actual, probabilities, classes)
    column = np.full(len(shares), 1) if len(classes) == 2 else shares.argmax(axis=1)
    rows = np.arange(len(shares))
    likely, has = shares[rows, column], truth[rows, column]
    places = np.minimum((likely * bins).astype(int), bins - 1)
    return tuple(
        ReliabilityBin(int(here.sum()), float(likely[here].mean()), float(has[here].mean()))
        for place in range(bins)
        if (here := places == place).any()
    )


def calibration_error(bins: Sequence[ReliabilityBin]) -> float | None:
    """The expected calibration error: how far bins are from what they say, weighted by rows."""
    total = sum(one.rows for one in bins)
    if not total:
        return None
    return sum(one.rows * abs(one.predicted - one.observed) for one in bins) / total


def _arrays(
    actual: Any, probabilities: Any, classes: Sequence[Any] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, and what was the case as ones among zeros, `[n, classes]`."""
    shares = np.asarray(probabilities, np.float64).reshape(-1, len(classes))
    truth = np.asarray(actual)[:, None] == np.asarray(classes)
    return shares, truth.astype(np.float64)
