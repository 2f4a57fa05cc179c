"""What is not offered, because too many people would be told to reach what hardly anybody has."""

from collections.abc import Callable

import numpy as np

from rocourse.recourse.search import Edits
from rocourse.schema import NEGLIGIBLE_CHANGE, Layout, Rows, one_hot

# A value that fewer rows of the class have is not to be what a larger share of people are told.
_USUAL_SHARE = 0.15
_MOST_TOLD = 0.28
# Numbers between these quantiles can always be asked for: what decides is often one number.
_MIDDLE = (0.2, 0.8)
_ROUNDS = 10


def clearing_prices(
    search: Callable[[np.ndarray], Rows],
    edits: Edits,
    rows: Rows,
    accepted: Rows,
    layout: Layout,
) -> np.ndarray:
    """What edits cost besides the change: nothing, or more than anybody pays, `[edits]`.

    A search takes the same value for everybody, such as a number's least: what hardly anybody of
    the class has is then asked of all. Such values go, the outermost of a number first, until
    people are told what is usual, or not all the same.

    Args:
        search: Recourses for the rows at given prices.
        edits: What may be done.
        rows: Rows without the class.
        accepted: Rows of the class.
        layout: Of the rows.
    """
    prices = np.zeros(len(np.asarray(edits.value)), np.float32)
    if not len(accepted):
        return prices
    before = one_hot(rows, layout)[:, edits.column]
    have = one_hot(accepted, layout)[:, edits.column]
    low, high = np.quantile(have, _MIDDLE, axis=0)
    middle = (low <= edits.value) & (edits.value <= high)
    is_number = np.asarray(edits.feature) < layout.n_continuous
    unusual = (_has(have, edits).mean(axis=0) < _USUAL_SHARE) & ~(is_number & middle)
    for _ in range(_ROUNDS):
        after = one_hot(search(prices), layout)[:, edits.column]
        changed = np.abs(after - before) >= NEGLIGIBLE_CHANGE
        told = (changed & _has(after, edits)).mean(axis=0)
        over = unusual & (told > _MOST_TOLD)
        if not over.any():
            break
        prices[over] = np.inf
    return prices


def _has(x: np.ndarray, edits: Edits) -> np.ndarray:
    """Whether a row has the value of an edit, `[n, edits]`."""
    has: np.ndarray = np.abs(x - np.asarray(edits.value)) < NEGLIGIBLE_CHANGE
    return has
