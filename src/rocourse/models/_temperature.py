"""Probabilities that are as sure as held-out rows allow: one factor for all logits."""

from collections.abc import Sequence

import equinox as eqx
import numpy as np
from scipy.special import log_softmax

from rocourse.networks import Predictor

# Of fewer rows a factor is mostly chance.
_LEAST_ROWS = 30
# A few held-out rows that are all told right must not make a model sure of everything.
_FACTORS = (0.1, 2.0)


def sharpness(scores: np.ndarray, labels: np.ndarray) -> float:
    """The factor by which scores say most of the labels (the inverse of the temperature).

    Args:
        scores: Of each class for rows that the model did not learn from, `[classes, n]`.
        labels: Their class indices, `[n]`.
    """
    if len(labels) < _LEAST_ROWS:
        return 1.0
    # Imported by what fits alone: a stored model is loaded and asked without it.
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(labels))

    def loss(logarithm: float) -> float:
        told = log_softmax(np.exp(logarithm) * scores.astype(np.float64), axis=0)
        return float(-told[labels, rows].mean())

    return float(np.exp(minimize_scalar(loss, bounds=np.log(_FACTORS), method="bounded").x))


def sharpened(networks: Sequence[Predictor], factor: float) -> list[Predictor]:
    """The networks with all logits times a factor; verdicts stay as they are."""
    if factor == 1.0:
        return list(networks)
    return [
        eqx.tree_at(
            lambda part: (part.output.weight, part.output.bias),
            network,
            (factor * network.output.weight, factor * network.output.bias),
        )
        for network in networks
    ]
