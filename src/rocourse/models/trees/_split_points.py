"""The values of a feature that make a difference to trees."""

from collections.abc import Callable

import numpy as np

from rocourse.errors import ConfigError
from rocourse.models.trees._ensemble import TreeEnsemble

Settle = Callable[[np.ndarray, bool], np.ndarray]
"""From numbers, and whether to go upwards, to the nearest values there that a feature can have."""


def split_points(
    ensemble: TreeEnsemble,
    feature: int,
    *,
    step: float | None = None,
    first: float = 0.0,
    settle: Settle | None = None,
) -> np.ndarray:
    """The values on either side of each threshold that are nearest to it, in ascending order.

    Trees say the same of all values between two thresholds, so that these are all that a search
    has to try: from wherever it starts, the smallest change that crosses a threshold is among them.

    Args:
        ensemble: The trees.
        feature: The input column.
        step: The distance between the values that a number can have, 1 of whole ones; None: it can
            have any, of which those are given that a float32 holds where the library rounds to it.
        first: One of these values.
        settle: Where they are no grid: takes numbers, and whether to go upwards, and gives the
            nearest values there that the feature can have, NaN where there are none.

    Returns:
        float64 `[values]`; of a category its codes. Of a feature that no node looks at, nothing.
    """
    if settle is not None and step is not None or (step is not None and not step > 0.0):
        raise ConfigError(
            f"step must be a number above 0, or None where settle is given, but got {step!r}; say "
            "in one way which values the feature can have."
        )
    at = ensemble.feature == feature
    if not at.any():
        return np.empty(0)
    if ensemble.categorical[feature]:
        return _codes(ensemble, feature, at)
    thresholds = np.unique(ensemble.threshold[at])
    last, next_ = _sides(ensemble, thresholds, step or settle)
    # Where zero is a range, its ends are what a threshold within it comes to.
    zero = ensemble.zero
    ends = np.array([[np.nextafter(-zero, -np.inf), zero], [-zero, np.nextafter(zero, np.inf)]])
    within = (np.abs(thresholds) <= zero) & (zero > 0.0)
    falls = thresholds > 0.0 if ensemble.strict else thresholds >= 0.0
    last[within], next_[within] = ends[:, falls[within].astype(int)]
    if ensemble.missing[feature] == "zero":
        # It stands for a missing value, whatever the thresholds.
        last, next_ = np.append(last, ends[0]), np.append(next_, ends[1])
    if step is not None:
        last, next_ = _down(last, step, first), -_down(-next_, step, -first)
    elif settle is not None:
        last, next_ = settle(last, False), settle(next_, True)
    values = np.concatenate([last, next_])
    return np.unique(values[np.isfinite(values)])


def _codes(ensemble: TreeEnsemble, feature: int, at: np.ndarray) -> np.ndarray:
    known = ensemble.categories[feature]
    if known is not None:
        return np.arange(float(len(known)))
    # Codes that are never told from unknown ones may not exist.
    left = ensemble.left_codes[ensemble.code_set[at]]
    return np.flatnonzero((left[:, :-1] != left[:, -1:]).any(axis=0)).astype(np.float64)


def _sides(
    ensemble: TreeEnsemble, threshold: np.ndarray, settled: object
) -> tuple[np.ndarray, np.ndarray]:
    """The greatest values that go to the left of thresholds, and the least that go to the right."""
    down, up = -np.inf, np.inf
    if not ensemble.single:
        if ensemble.strict:
            return np.nextafter(threshold, down), threshold
        return threshold, np.nextafter(threshold, up)
    rounded = threshold.astype(np.float32)
    goes_left = rounded < threshold if ensemble.strict else rounded <= threshold
    low = np.where(goes_left, rounded, np.nextafter(rounded, np.float32(down)))
    high = np.where(goes_left, np.nextafter(rounded, np.float32(up)), rounded)
    if settled is None:
        return low.astype(np.float64), high.astype(np.float64)
    # Values that are no float32 are rounded to the nearer one of the two.
    middle = 0.5 * (low.astype(np.float64) + high)
    falls = middle.astype(np.float32) == low
    return (
        np.where(falls, middle, np.nextafter(middle, down)),
        np.where(falls, np.nextafter(middle, up), middle),
    )


def _down(values: np.ndarray, step: float, first: float) -> np.ndarray:
    """The greatest values of a grid that are not above the values."""
    places = np.floor((values - first) / step)
    # The division may have been rounded to the next place, either way.
    tried = first + step * (places + np.array([[1.0], [0.0], [-1.0]]))
    nearest: np.ndarray = np.where(tried <= values, tried, -np.inf).max(axis=0)
    return nearest
