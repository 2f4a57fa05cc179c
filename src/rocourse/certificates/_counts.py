"""What can be said by counting: exact bounds of shares, and how many draws they take."""

import math

import numpy as np


def lower_bound(honoured: np.ndarray, count: int, confidence: float) -> np.ndarray:
    """The exact lower bound (Clopper–Pearson) of the share of models that honour a row, `[n]`.

    If all of n do, it is (1 − confidence)^(1/n).

    Args:
        honoured: By how many of the models each row is, `[n]`.
        count: How many models there are, drawn independently of the rows.
        confidence: How often the bound is to be right.
    """
    from scipy.special import betaincinv

    honoured = np.asarray(honoured)
    bound = betaincinv(np.maximum(honoured, 1), count - honoured + 1.0, 1.0 - confidence)
    return np.asarray(np.where(honoured > 0, bound, 0.0))


def draws_for(share: float, confidence: float) -> int:
    """How many draws show a share if all of them agree: the least n with share^n ≤ 1 − confidence.

    Args:
        share: Below 1.
        confidence: Below 1.
    """
    # A hair less, so that a whole number is not raised by rounding.
    return max(1, math.ceil(math.log1p(-confidence) / math.log(share) - 1e-9))


def more_for(honoured: np.ndarray, count: int, share: float, confidence: float) -> np.ndarray:
    """How many more models it would take to show a share if all of these honour the row, `[n]`.

    Args:
        honoured: By how many of the models each row is, `[n]`.
        count: How many models there are.
        share: What is to be shown.
        confidence: How surely.
    """
    broken = count - np.asarray(honoured)
    needed = {k: _least_count(k, share, confidence) for k in np.unique(broken).tolist()}
    wanted = np.array([needed[k] for k in broken.tolist()], int)
    return np.asarray(np.maximum(wanted - count, 0))


def _least_count(broken: int, share: float, confidence: float) -> int:
    """The fewest models that show a share where so many of them break the row."""
    low, high = broken, broken + draws_for(share, confidence)
    while lower_bound(np.array([high - broken]), high, confidence)[0] < share:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = lower_bound(np.array([middle - broken]), middle, confidence)[0] >= share
        low, high = (low, middle) if enough else (middle, high)
    return high
