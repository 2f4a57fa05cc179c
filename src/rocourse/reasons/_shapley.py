"""Interventional Shapley values: what each feature of a row does to a score.

Of a row x and a background row b, the worth of a set S of features is the score of b with the
values of x in S. The Shapley value of a feature is the mean of what it adds, over all orders in
which features are taken from x (Lundberg and Lee, 2017; interventional: Janzing et al., 2020). The
values of a row are the means over background rows, and add up to its score less the mean score of
the background.
"""

from collections.abc import Callable, Iterator
from math import comb
from typing import NamedTuple

import numpy as np

from rocourse.schema import Categorical, Rows, Schema

Score = Callable[[Rows], np.ndarray]
"""A number for each encoded row, `[n]`."""

MOST_EXACT = 10
"""Features of which all 2ᴹ sets are asked about; of more, orders are drawn."""

# Orders that are drawn for each background row, each with its reverse.
_PAIRS = 8
# Rows that are asked about at once: what they take in memory stays small.
_AT_ONCE = 1 << 18
# Nobody is the more refused beyond: 0 and 1, which trees may say, would drown all else.
_LEAST = 1e-3


class Explained(NamedTuple):
    """What features do to the scores of rows."""

    values: np.ndarray
    """float64 `[n, features]`, in the schema's order; each row sums up to `score - base`."""
    errors: np.ndarray
    """Standard errors of the values: 0 where all sets were asked about, `[n, features]`."""
    score: np.ndarray
    """Of the rows, float64 `[n]`."""
    base: np.ndarray
    """The mean score of the background, float64 `[n]`: the same for all rows."""


def log_odds(probability: np.ndarray) -> np.ndarray:
    """Log-odds of probabilities, which count as within .001 and .999; float64."""
    held = np.clip(probability.astype(np.float64), _LEAST, 1.0 - _LEAST)
    odds: np.ndarray = np.log(held) - np.log1p(-held)
    return odds


def shapley_values(
    score: Score,
    rows: Rows,
    background: Rows,
    weights: np.ndarray,
    *,
    schema: Schema,
    seed: int,
) -> Explained:
    """What each feature of each row does to its score, beside background rows.

    Args:
        score: What is explained.
        rows: The rows, n of them.
        background: What they are compared with, k rows.
        weights: Of the background rows, `[k]`, which sum up to 1.
        schema: Whose features the rows have.
        seed: Decides which orders are drawn; the same for all rows, so that the answer for a row
            does not depend on its company.
    """
    names = [isinstance(feature, Categorical) for feature in schema.features]
    kinds = np.array(names, dtype=bool)
    exact = len(kinds) <= MOST_EXACT
    draw = np.random.default_rng(seed)
    chains = None if exact else _drawn(draw, len(background), len(kinds))
    masks = _all_sets(len(kinds)) if chains is None else _taken(chains)
    parts = []
    for some in _parts(len(rows), masks.shape[-2] * len(background)):
        worth = _worth(score, rows[some], background, masks, kinds)
        if chains is None:
            parts.append(_of_sets(worth, masks, weights))
        else:
            parts.append(_of_chains(worth, chains, weights))
    return Explained(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _parts(n: int, questions: int) -> Iterator[slice]:
    size = max(1, _AT_ONCE // questions)
    for start in range(0, max(n, 1), size):
        yield slice(start, min(start + size, n))


def _worth(
    score: Score, rows: Rows, background: Rows, masks: np.ndarray, kinds: np.ndarray
) -> np.ndarray:
    """The score of every mixture, `[n, k, sets]`, of sets as masks `[k or 1, sets, features]`."""
    chosen = np.broadcast_to(masks, (len(background), *masks.shape[-2:]))

    def mixed(own: np.ndarray, others: np.ndarray, which: np.ndarray) -> np.ndarray:
        where = chosen[:, :, which]
        mixture = np.where(where, own[:, None, None, :], others[None, :, None, :])
        return mixture.reshape(len(rows) * chosen[:, :, 0].size, own.shape[1])

    mixtures = Rows(
        mixed(rows.continuous, background.continuous, ~kinds),
        mixed(rows.categories, background.categories, kinds),
    )
    told = np.asarray(score(mixtures), dtype=np.float64)
    return told.reshape(len(rows), *chosen.shape[:2])


def _all_sets(m: int) -> np.ndarray:
    """Every set of m features, bool `[1, 2ᵐ, m]`; the empty one first, all features last."""
    return (np.arange(2**m)[:, None] >> np.arange(m) & 1).astype(bool)[None]


def _of_sets(worth: np.ndarray, masks: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """By the definition: the sum over sets S without i of |S|!(m-|S|-1)!/m! (v(S+i) - v(S))."""
    (members,) = masks
    m, sizes = members.shape[1], members.sum(axis=1)
    share = np.array([1.0 / (m * comb(m - 1, size)) for size in range(m)])
    with_it = share[np.maximum(sizes - 1, 0)]
    without = share[np.minimum(sizes, m - 1)]
    factors = np.where(members, with_it[:, None], -without[:, None])
    mean = np.einsum("nks,k->ns", worth, weights)
    values = mean @ factors
    return values, np.zeros_like(values), mean[:, -1], mean[:, 0]


def _drawn(draw: np.random.Generator, k: int, m: int) -> np.ndarray:
    """Orders of m features for k background rows, int `[k, pairs, 2, m]`: each with its reverse."""
    orders = draw.permuted(np.broadcast_to(np.arange(m), (k, _PAIRS, m)), axis=-1)
    return np.stack([orders, orders[..., ::-1]], axis=2)


def _taken(orders: np.ndarray) -> np.ndarray:
    """The sets that orders pass through, from none to all, bool `[k, pairs · 2 · (m + 1), m]`."""
    m = orders.shape[-1]
    places = np.argsort(orders, axis=-1)
    sets = places[..., None, :] < np.arange(m + 1)[:, None]
    return sets.reshape(len(orders), -1, m)


def _of_chains(
    worth: np.ndarray, orders: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Means of what features add along drawn orders: each order by itself sums up as it should."""
    k, pairs, _, m = orders.shape
    along = worth.reshape(len(worth), k, pairs, 2, m + 1)
    steps = np.diff(along, axis=-1)
    places = np.broadcast_to(np.argsort(orders, axis=-1), steps.shape)
    each = np.take_along_axis(steps, places, axis=-1).mean(axis=3)
    values = np.einsum("nkpm,k->nm", each, weights / pairs)
    spread = each.var(axis=2, ddof=1) / pairs
    errors = np.sqrt(np.einsum("nkm,k->nm", spread, weights**2))
    ends = np.einsum("nkpts,k->ns", along[..., [0, -1]], weights / (2 * pairs))
    return values, errors, ends[:, 1], ends[:, 0]
