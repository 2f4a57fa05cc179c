"""What to lock next: changes of candidates that a row is to do without."""

from typing import NamedTuple

import numpy as np

from rocourse.recourse._candidates import Candidates, counted, group_starts
from rocourse.schema import Layout, Rows


class Trial(NamedTuple):
    """What to lock next: of some candidates a change, or the category that it leads to."""

    owner: np.ndarray
    """The place of the row that each is for, `[t]`."""
    feature: np.ndarray
    """The feature that it concerns, numbers first, `[t]`."""
    closed: np.ndarray
    """What is locked then, bool `[t, width]`."""
    known: Rows
    """What was found without the lock."""

    @classmethod
    def of(
        cls, pool: Candidates, place: np.ndarray, feature: np.ndarray, closed: np.ndarray
    ) -> "Trial":
        """What candidates change, to be done without."""
        return cls(pool.owner[place], feature, closed, pool.attempts.take(place))

    def take(self, places: np.ndarray) -> "Trial":
        """Those at some places."""
        owner, feature, closed = (part[places] for part in self[:3])
        return Trial(owner, feature, closed, self.known.take(places))

    def joined(self, more: "Trial") -> "Trial":
        """These and more."""
        pairs = zip(self[:3], more[:3], strict=True)
        owner, feature, closed = (np.concatenate(pair) for pair in pairs)
        return Trial(owner, feature, closed, Rows.concatenate([self.known, more.known]))


def swappable(pool: Candidates, most: int, fixed: np.ndarray, layout: Layout) -> Trial:
    """Changes to put others in the place of, the best advice first, and of it the greatest change.

    Args:
        pool: What was found.
        most: How many of each row.
        fixed: Features of each row that cannot be done without, `[n, features]`.
        layout: Of the rows.
    """
    place, feature = np.nonzero(pool.changed & pool.advised[:, None] & ~fixed[pool.owner])
    owner = pool.owner[place]
    order = np.lexsort((-pool.costs[place, feature], pool.cost[place], pool.rank[place], owner))
    # What is asked for instead depends on the rest, but not by much: once for each feature.
    _, first = np.unique(owner[order] * fixed.shape[1] + feature[order], return_index=True)
    order = order[np.sort(first)]
    order = order[counted(owner[order]) < most]
    place, feature = place[order], feature[order]
    closed = pool.closed[place]
    closed[np.arange(len(place)), _reached(pool, place, feature, layout)] = True
    return Trial.of(pool, place, feature, closed)


def trials(
    pool: Candidates, wanted: np.ndarray, tried: list[np.ndarray], fixed: np.ndarray, layout: Layout
) -> Trial:
    """Which changes to do without next, the best advice first, and of it the greatest change.

    Args:
        pool: What was found.
        wanted: How many trials each row is to have, `[n]`.
        tried: Keys of earlier trials; those of these are added.
        fixed: Features of each row that cannot be done without, `[n, features]`.
        layout: Of the rows.
    """
    open_ = pool.changed & (pool.advised & (wanted[pool.owner] > 0))[:, None]
    place, feature = np.nonzero(open_ & ~fixed[pool.owner])
    cut = layout.n_continuous
    # A category can be locked, or only the way to it.
    grouped = np.flatnonzero(feature >= cut)
    wholly = np.arange(len(place) + len(grouped)) < len(place)
    place, feature = np.r_[place, place[grouped]], np.r_[feature, feature[grouped]]
    owner, closed = pool.owner[place], pool.closed[place] | owned(layout)[feature]
    column = _reached(pool, place[~wholly], feature[~wholly], layout)
    closed[~wholly] = pool.closed[place[~wholly]]
    closed[np.flatnonzero(~wholly), column] = True

    whose = owner.astype(np.int64)[:, None].view(np.uint8)
    keys = np.concatenate([whose, np.packbits(closed, axis=1)], axis=1)
    keys = np.ascontiguousarray(keys).view(f"V{keys.shape[1]}").ravel()
    cost = pool.cost[place]
    order = np.lexsort((-pool.costs[place, feature], ~wholly, cost, pool.rank[place], owner))
    _, first = np.unique(keys[order], return_index=True)
    order = order[np.sort(first)]
    for before in tried:
        order = order[~np.isin(keys[order], before)]
    order = order[counted(owner[order]) < wanted[owner[order]]]
    tried.append(keys[order])
    return Trial.of(pool, place[order], feature[order], closed[order])


def _reached(
    pool: Candidates, place: np.ndarray, feature: np.ndarray, layout: Layout
) -> np.ndarray:
    """The encoded column that a change of each of some candidates leads to, `[t]`."""
    group = feature - layout.n_continuous
    grouped = np.flatnonzero(group >= 0)
    column = feature.copy()
    codes = pool.attempts.categories[place[grouped], group[grouped]]
    column[grouped] = group_starts(layout)[group[grouped]] + codes
    return column


def differing(some: Rows, others: Rows, feature: np.ndarray) -> np.ndarray:
    """Which rows differ in a feature of each, numbers first, bool `[n]`."""
    numbers = some.continuous != others.continuous
    apart = np.concatenate([numbers, some.categories != others.categories], axis=1)
    differ: np.ndarray = apart[np.arange(len(feature)), feature]
    return differ


def staying(closed: np.ndarray, rows: Rows, changed: Rows, layout: Layout) -> Rows:
    """Changed rows, but as the rows are where that is closed, bool `[n, width]`."""
    cut = layout.n_continuous
    codes = np.clip(changed.categories, 0, np.array(layout.group_sizes, int) - 1)
    shut = np.take_along_axis(closed, group_starts(layout) + codes, axis=1)
    return Rows(
        np.where(closed[:, :cut], rows.continuous, changed.continuous),
        np.where(shut, rows.categories, changed.categories),
    )


def closing(features: np.ndarray, layout: Layout) -> np.ndarray:
    """The columns of features, bool `[..., features]`, as bool `[..., width]`."""
    return np.repeat(features, _sizes(layout), axis=-1)


def owned(layout: Layout) -> np.ndarray:
    """Which columns are a feature's, bool `[features, width]`."""
    return closing(np.eye(len(_sizes(layout)), dtype=bool), layout)


def _sizes(layout: Layout) -> tuple[int, ...]:
    return (1,) * layout.n_continuous + tuple(layout.group_sizes)
