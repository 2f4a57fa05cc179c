"""Moves between categories as tables, `[before, after]`."""

import numpy as np
import numpy.typing as npt

from rocourse.schema._features import Categorical


def may_follow(feature: Categorical) -> npt.NDArray[np.bool_]:
    """Whether a category may follow another by what is said of moves; each may stay.

    A gap that is a category of its own, the last one, is never entered. Nothing is said of what may
    follow it, so that it may be left for any category, but not where there is a direction: nobody
    knows which way that would be.
    """
    size, place = feature.size, feature.categories.index
    table = np.ones((size, size), dtype=bool)
    if feature.gap is not None:
        table[:, feature.gap] = False
        table[feature.gap, :] = feature.direction is None
    if feature.moves is not None:
        for before, after in feature.moves.allowed:
            table[place(before)] = False
            table[place(before), [place(one) for one in after]] = True
        for before, after in feature.moves.forbidden:
            table[place(before), [place(one) for one in after]] = False
    np.fill_diagonal(table, True)
    return table


def move_prices(feature: Categorical) -> npt.NDArray[np.float64]:
    """What each move costs; nothing for staying."""
    size, place = feature.size, feature.categories.index
    weight = 1.0 if feature.moves is None else feature.moves.weight
    table = np.full((size, size), 2.0 * weight)
    if feature.moves is not None:
        for before, row in feature.moves.cost:
            for after, price in row:
                table[place(before), place(after)] = price
    np.fill_diagonal(table, 0.0)
    return table
