"""Prices of what too many people would be told to reach."""

from collections.abc import Callable

import numpy as np

from rocourse.recourse.search import Edits
from rocourse.schema import NEGLIGIBLE_CHANGE, Layout, Rows, one_hot

# A value that fewer rows of the class have is not to be what a larger share of people are told;
# somewhat stricter than it has to be, since other people will ask.
_USUAL_SHARE = 0.15
_MOST_TOLD = 0.28
# Prices rise until that is so, or so often.
_ROUNDS = 10


def clearing_prices(
    search: Callable[[np.ndarray], Rows],
    edits: Edits,
    rows: Rows,
    accepted: Rows,
    layout: Layout,
) -> np.ndarray:
    """What edits cost besides the change, so that not everybody is told the same, `[edits]`.

    A search takes the same cheap value for everybody, such as a number's least: what hardly
    anybody of the class has is then asked of all. Its price rises until only those are told for
    whom other changes would be dearer.

    Args:
        search: Recourses for the rows at given prices.
        edits: What may be done.
        rows: Rows without the class.
        accepted: Rows of the class.
        layout: Of the rows.
    """
    before = one_hot(rows, layout)[:, edits.column]
    have = _has(one_hot(accepted, layout)[:, edits.column], edits)
    unusual = have.mean(axis=0) < _USUAL_SHARE if len(have) else np.zeros(have.shape[1], bool)
    prices = np.zeros(len(unusual), np.float32)
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
