"""The values that are asked for: those that training rows have, as amounts that people use."""

from typing import NamedTuple

import numpy as np

from rocourse.recourse.search._edits import (
    FINE_QUANTILES,
    Edit,
    Edits,
    Numbers,
    category_edits,
    made_edits,
)
from rocourse.schema import Rows, Schema, usual_ends, without_codes

# Numbers that edits choose from, as quantiles of the training rows.
_QUANTILES = (0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99)
# A range has at least so many amounts.
_AMOUNTS = 50
# Encoded values are float32: an amount need not be one to the last digit.
_ROUNDING = 1e-3


class Grid(NamedTuple):
    """The values of each number that are asked for, in encoded units."""

    step: Numbers
    first: Numbers


def usual_values(rows: Rows, schema: Schema, *, min_category_share: float) -> tuple[Edits, Grid]:
    """The edits of numbers and categories, and the amounts that numbers stop at.

    Numbers stay between the first and the 99th percentile of training rows, and are never a code
    for something else. Categories are asked for that are not too rare.

    Args:
        rows: Training rows.
        schema: Theirs.
        min_category_share: The least share of the rows that a category must have.
    """
    low, high = usual_ends(rows, _QUANTILES[0])
    steps, firsts = np.ones(len(low)), np.zeros(len(low))
    edits: list[Edit] = []
    for i, feature in enumerate(schema.continuous):
        amount = _amount((high[i] - low[i]) * feature.span, whole=feature.integer)
        if feature.change is not None and (step := feature.change.step):
            amount = step * max(1.0, np.floor(amount / step))
        steps[i] = amount / feature.span
        firsts[i] = (np.ceil(feature.low / amount) * amount - feature.low) / feature.span
        choice = _QUANTILES if feature.change is None else FINE_QUANTILES
        quantiles = np.quantile(without_codes(rows.continuous[:, i]), choice)
        places = (np.array([low[i], high[i]]) - firsts[i]) / steps[i]
        within = np.ceil(places[0] - _ROUNDING), np.floor(places[1] + _ROUNDING)
        if within[0] > within[1]:
            # No amount lies between the percentiles, which are next to each other.
            continue
        amounts = firsts[i] + steps[i] * np.clip(
            np.round((quantiles - firsts[i]) / steps[i]), *within
        )
        edits += [(i, i, float(value)) for value in np.unique(amounts.astype(np.float32))]
    edits += category_edits(rows, schema.layout, min_category_share)
    slack = _ROUNDING * steps
    # A table whose columns have one value each leaves nothing to edit but the first of them.
    made = made_edits(edits or [(0, 0, 0.0)], low - slack, high + slack)
    # As precise as they are: the amounts between are reckoned from them.
    return made, Grid(steps, firsts)


def _amount(spread: float, *, whole: bool) -> float:
    """The greatest of 1, 5, 10, 50, ... and of 0.5, 0.1, ... that a range has many of."""
    finest = spread / _AMOUNTS
    if not finest > 0.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(finest))
    amount = 5.0 * power if finest >= 5.0 * power else power
    return max(amount, 1.0) if whole else float(amount)
