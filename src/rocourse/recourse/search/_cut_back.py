"""Advice for models that can only be asked is cut back: wholly, or as far as it is not missed."""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from rocourse.recourse.search._asked import ROUNDING, Asked, Families, Ways, feature_costs
from rocourse.recourse.search._edits import (
    AGREEMENT_WORTH,
    CAUTION,
    CONSENT,
    EDIT_PRICE,
    column_features,
)

# Stops that are tried in one call if rows are few, and the most parts that a way is divided into.
_TRIED, _PARTS = 64, 16


def cut_back(
    asked: Asked,
    families: Families,
    ways: Ways,
    row: np.ndarray,
    x: np.ndarray,
    target: np.ndarray,
    level: np.ndarray,
) -> np.ndarray:
    """Takes back what is not worth its price, the dearest change first; numbers in part as well.

    A change is worth the share of those who agree because of it, as in the search for networks;
    where margins are asked for, as much as it takes for them. A number stops at the smallest change
    of which the next smaller one would be missed.

    Args:
        asked: The model and its members.
        families: Who else is asked.
        ways: What may be done.
        row: The encoded rows as they were, `[n, width]`.
        x: What has been proposed, `[n, width]`.
        target: Class indices, `[n]`.
        level: How sure is sure enough, `[n]`.
    """

    def ask(x: np.ndarray, where: np.ndarray) -> np.ndarray:
        return np.vstack([asked.sureness(x, target[where]), families(x, target[where])])

    def missed(said: np.ndarray, where: np.ndarray) -> np.ndarray:
        """Where somebody who was sure would be less sure."""
        least = np.minimum(told[:, where], level[where]) - ROUNDING
        return np.asarray((said < least).any(axis=0))

    def holds(tried: np.ndarray, where: np.ndarray) -> np.ndarray:
        return ~missed(ask(tried, where), where)

    def worth(said: np.ndarray, where: np.ndarray) -> np.ndarray:
        whole: np.ndarray = AGREEMENT_WORTH * level[where] ** 2 * ndtr(CAUTION * said).mean(axis=0)
        return whole

    def is_dear(said: np.ndarray, where: np.ndarray, price: np.ndarray) -> np.ndarray:
        """Where a change costs more than it is worth, and the model agrees without it."""
        if asked.margins is not None:
            return np.zeros(len(where), bool)
        agrees = said[0] >= np.minimum(told[0, where], CONSENT) - ROUNDING
        return np.asarray(agrees & (worth(said, where) + price >= worth(told[:, where], where)))

    x, everyone = x.copy(), np.arange(len(x))
    told = ask(x, everyone)
    owners = column_features(ways.layout)[None]
    costs = feature_costs(x, row, ways.layout)
    order = np.argsort(-costs, axis=1, kind="stable")
    for feature in order[:, : int((costs > 0.0).sum(axis=1).max(initial=0))].T:
        where = everyone[costs[everyone, feature] > 0.0]
        if not len(where):
            break
        owned = owners == feature[where, None]
        back = np.where(owned, row[where], x[where])
        said = ask(back, where)
        gone = ~missed(said, where)
        gone |= is_dear(said, where, costs[where, feature[where]] + EDIT_PRICE)
        x[where[gone]], told[:, where[gone]] = back[gone], said[:, gone]
        left = where[~gone]
        numbers = left[feature[left] < ways.layout.n_continuous]
        _stop_short(holds, ways, row, x, numbers, feature[numbers])
        if asked.margins is None and len(numbers):
            told[:, numbers] = ask(x[numbers], numbers)
    return x


def _stop_short(
    holds: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ways: Ways,
    row: np.ndarray,
    x: np.ndarray,
    where: np.ndarray,
    number: np.ndarray,
) -> None:
    """Divides what lies between a stop that is missed and one that is not, until they are next.

    Into two parts; into more where rows are few, since a call costs more than what it asks.
    """
    here, far = row[where, number], x[where, number]
    up = far > here
    first, last = np.empty(len(where), int), np.empty(len(where), int)
    for k in np.unique(number):
        own = number == k
        low, high = np.minimum(here[own], far[own]), np.maximum(here[own], far[own])
        first[own] = np.searchsorted(ways.stops[k], low, side="right")
        last[own] = np.searchsorted(ways.stops[k], high, side="left")
    # Places from the row outwards: of the nearest that holds, and of the next one, which does not.
    good, bad = np.maximum(last - first, 0), np.full(len(where), -1)
    while (still := np.flatnonzero(good - bad > 1)).size:
        parts = int(np.clip(_TRIED // len(still), 2, _PARTS))
        gap = (good - bad)[still, None]
        tried = bad[still, None] + np.maximum(gap * np.arange(1, parts) // parts, 1)
        place = np.where(up[still, None], first[still, None] + tried, last[still, None] - 1 - tried)
        moved = np.repeat(x[where[still]], parts - 1, axis=0)
        owner = np.repeat(number[still], parts - 1)
        values = [ways.stops[k][at] for k, at in zip(owner, place.ravel(), strict=True)]
        moved[np.arange(len(moved)), owner] = values
        held = holds(moved, np.repeat(where[still], parts - 1)).reshape(tried.shape)
        # The nearest that holds, and the one before it.
        nearest, some = held.argmax(axis=1), held.any(axis=1)
        each = np.arange(len(still))
        before = np.where(nearest > 0, tried[each, nearest - 1], bad[still])
        bad[still] = np.where(some, before, tried[:, -1])
        good[still[some]] = tried[each, nearest][some]
        x[where[still[some]]] = moved.reshape(*tried.shape, -1)[each, nearest][some]
