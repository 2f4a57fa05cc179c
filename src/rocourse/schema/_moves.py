"""Moves between categories as tables, `[before, after]`."""

import numpy as np
import numpy.typing as npt

from rocourse.schema._features import Categorical


def may_follow(feature: Categorical) -> npt.NDArray[np.bool_]:
    """Whether a category may follow another by what is said of moves; each may stay."""
    size, place = len(feature.categories), feature.categories.index
    table = np.ones((size, size), dtype=bool)
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
    size, place = len(feature.categories), feature.categories.index
    weight = 1.0 if feature.moves is None else feature.moves.weight
    table = np.full((size, size), 2.0 * weight)
    if feature.moves is not None:
        for before, row in feature.moves.cost:
            for after, price in row:
                table[place(before), place(after)] = price
    np.fill_diagonal(table, 0.0)
    return table
