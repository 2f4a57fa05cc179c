"""From probabilities to verdicts: the one place where it is decided which class a row is given."""

import math
from typing import NamedTuple

import numpy as np

# Nearer to 0 and 1 than this, log-odds of float32 say nothing.
_LEAST = 1e-6


class CutOff(NamedTuple):
    """From which probability on a lender grants the favourable class of two."""

    threshold: float
    """The least probability of the favourable class that is enough."""
    favourable: int
    """The index of that class, 0 or 1."""

    @property
    def shift(self) -> float:
        """What to add to the log-odds of the second class: above zero, it is the one given."""
        enough = self.threshold if self.favourable == 1 else 1.0 - self.threshold
        return math.log1p(-enough) - math.log(enough)

    def moved(self, probabilities: np.ndarray) -> np.ndarray:
        """Probabilities `[..., 2]` with their log-odds shifted: the greater one is the verdict."""
        odds = np.exp(np.array([0.0, self.shift], probabilities.dtype)) * probabilities
        shares: np.ndarray = odds / odds.sum(axis=-1, keepdims=True)
        return shares


def verdicts(probabilities: np.ndarray, cut_off: CutOff | None) -> np.ndarray:
    """The index of the class that is given, `[...]`, for probabilities `[..., n_classes]`.

    Without a cut-off it is the most probable class.
    """
    if cut_off is None:
        most: np.ndarray = np.argmax(probabilities, axis=-1)
        return most
    # As models give them, in float32: a wider number must not be judged otherwise.
    likely = probabilities[..., cut_off.favourable].astype(np.float32)
    granted = likely >= np.float32(cut_off.threshold)
    return np.where(granted, cut_off.favourable, 1 - cut_off.favourable)


def threshold_of_rate(likely: np.ndarray, rate: float) -> float:
    """The threshold that grants the favourable class to a share of rows, more only by ties.

    Args:
        likely: The probability of that class of each row, `[n]`.
        rate: The share of the rows, of which at least one is granted it.
    """
    ranked = np.sort(likely.astype(np.float32))[::-1]
    count = min(max(round(rate * len(ranked)), 1), len(ranked))
    last = float(ranked[count - 1])
    first_refused = float(ranked[count]) if count < len(ranked) else 0.0
    between = 0.5 * (last + first_refused)
    # Of neighbouring float32 numbers the middle is one of them.
    threshold = between if np.float32(between) > np.float32(first_refused) else last
    return min(max(threshold, _LEAST), 1.0 - _LEAST)
