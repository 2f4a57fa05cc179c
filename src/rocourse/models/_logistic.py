"""Logistic regressions of encoded rows."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

# Enough for columns that are scaled to [0, 1], as all encoded ones are.
_STEPS = 300


def fit_logistic(x: np.ndarray, labels: np.ndarray) -> "LogisticRegression":
    """A logistic regression of encoded rows `[n, width]` and class indices `[n]`."""
    # Imported by what fits alone: a stored model is loaded and asked without it.
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=_STEPS).fit(x, labels)
