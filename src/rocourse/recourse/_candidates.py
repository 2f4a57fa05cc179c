"""Candidates for advice: what each changes, costs and is worth, and which of them to offer."""

from typing import NamedTuple

import numpy as np

from rocourse.schema import Layout, Rows, Schema

# Statuses of advice, the better one first.
_RANKS = ("found", "found_unsure")
# What a change of other features counts for where some are preferred.
_UNWANTED = 3.0


class Candidates(NamedTuple):
    """Settled attempts, several of a row, as the model and the method judge them.

    The first ones are what was proposed for each row without a lock, in the order of the rows.
    """

    owner: np.ndarray
    """The place of the row that each is for, `[m]`."""
    attempts: Rows
    status: np.ndarray
    """`[m]`."""
    probability: np.ndarray
    """`[m]`."""
    robustness: np.ndarray | None
    changed: np.ndarray
    """Which features change by themselves, numbers first, bool `[m, features]`."""
    costs: np.ndarray
    """What the change of each costs by the schema, `[m, features]`."""
    closed: np.ndarray
    """What was locked when it was found: numbers, and categories to go to, bool `[m, width]`."""

    @property
    def rank(self) -> np.ndarray:
        """How good the status is, the best 0; 2 for what is no advice."""
        return np.select([self.status == status for status in _RANKS], range(2), len(_RANKS))

    @property
    def advised(self) -> np.ndarray:
        """Which are advice."""
        return self.rank < len(_RANKS)

    @property
    def certainty(self) -> np.ndarray:
        """The chance to be honoured by the next model; else the probability by this one."""
        return self.probability if self.robustness is None else self.robustness

    @property
    def cost(self) -> np.ndarray:
        """What each costs by the schema, `[m]`."""
        return np.asarray(self.costs.sum(axis=1))

    def take(self, places: np.ndarray) -> "Candidates":
        """Those at some places."""
        return Candidates(
            self.owner[places],
            self.attempts.take(places),
            self.status[places],
            self.probability[places],
            None if self.robustness is None else self.robustness[places],
            self.changed[places],
            self.costs[places],
            self.closed[places],
        )

    def joined(self, more: "Candidates") -> "Candidates":
        """These and more."""
        robustness = None
        if self.robustness is not None and more.robustness is not None:
            robustness = np.concatenate([self.robustness, more.robustness])
        return Candidates(
            np.concatenate([self.owner, more.owner]),
            Rows.concatenate([self.attempts, more.attempts]),
            np.concatenate([self.status, more.status]),
            np.concatenate([self.probability, more.probability]),
            robustness,
            np.concatenate([self.changed, more.changed]),
            np.concatenate([self.costs, more.costs]),
            np.concatenate([self.closed, more.closed]),
        )


def changes(schema: Schema, rows: Rows, attempts: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Which features change by themselves, and what each change costs: `[n, features]` both."""
    pricing = schema.actions.pricing
    # What follows others is changed by them.
    numbers = (attempts.continuous != rows.continuous) & pricing.actions
    groups = attempts.categories != rows.categories
    return np.concatenate([numbers, groups], axis=1), pricing.costs(rows, attempts)


def chosen(
    pool: Candidates, count: int, preferred: np.ndarray, layout: Layout, *, promises: bool
) -> np.ndarray:
    """The candidates to offer: the places of at most so many of each row, in order.

    What is promised comes first, the cheapest of it before the rest; where nothing is promised,
    what would be advised alone, and then the cheapest. No two of a row change the same features,
    and none is dominated: there is no other that changes some of the same features and no more,
    costs no more and is as certain. Only where there are too few of these come others that ask for
    another category.

    Args:
        pool: All candidates.
        count: The most of a row.
        preferred: Features that are preferred, bool `[features]`.
        layout: Of the rows.
        promises: Whether the method promises what it found.
    """
    places = np.flatnonzero(pool.advised)
    if not len(places):
        return places
    some = pool.take(places)
    order = np.lexsort((*_order(some, preferred, promises), some.owner))
    places, some = places[order], some.take(order)
    table = _Table.of(some)
    apart = ~table.dominated()
    apart[apart] = counted(some.owner[apart]) < count
    if count > 1:
        few = np.bincount(some.owner[apart], minlength=pool.owner.max() + 1) < count
        others = few[some.owner] & ~apart
        if others.any():
            others &= ~table.repeated(apart, layout)
            more = apart | others
            # Those that change other features keep their places, the rest fill up.
            order = np.flatnonzero(more)[np.lexsort((~apart[more], some.owner[more]))]
            apart[order] = counted(some.owner[order]) < count
    offered: np.ndarray = places[apart]
    return offered


def _order(some: Candidates, preferred: np.ndarray, promises: bool) -> tuple[np.ndarray, ...]:
    """What candidates are sorted by, the last first."""
    # Without a promise, first what was searched for without a lock: others may be cheap but vain.
    alone = ~some.closed.any(axis=1) & ~preferred.any()
    vague = (some.rank == 1) | (not promises)
    first = 2 * some.rank + (vague & ~alone)
    weights = np.where(preferred | ~preferred.any(), 1.0, _UNWANTED)
    return -some.certainty, some.costs @ weights, first


class _Table:
    """Candidates that are sorted by row and preference, side by side: a line a row."""

    def __init__(self, some: Candidates, row: np.ndarray, slot: np.ndarray) -> None:
        self._some, self._row, self._slot = some, row, slot
        self._shape = (row.max() + 1, slot.max() + 1)

    @classmethod
    def of(cls, some: Candidates) -> "_Table":
        _, row = np.unique(some.owner, return_inverse=True)
        return cls(some, row, counted(some.owner))

    def _laid(self, values: np.ndarray, empty: float) -> np.ndarray:
        laid = np.full((*self._shape, *values.shape[1:]), empty, values.dtype)
        laid[self._row, self._slot] = values
        return laid

    def _beaten(self, by: np.ndarray) -> np.ndarray:
        """Which candidates some other one beats, of `[rows, slots, others]`."""
        beaten = np.asarray(by.any(axis=2))
        return np.asarray(beaten[self._row, self._slot])

    def _within(self, flags: np.ndarray) -> np.ndarray:
        """Whether all flags of the other are mine too, `[rows, slots, others]`."""
        within = np.ones((*self._shape, self._shape[1]), bool)
        for word in _words(flags):
            laid = self._laid(word, 0)
            within &= (laid[:, None] & ~laid[:, :, None]) == 0
        return within

    def dominated(self) -> np.ndarray:
        """Which another one makes superfluous: of those that change the same, all but the first."""
        some = self._some
        subset = self._within(some.changed)
        same = subset & subset.transpose(0, 2, 1)
        # A place without a candidate dominates none: it is dearer than all.
        cost = self._laid(some.cost, np.inf)
        certain, rank = self._laid(some.certainty, -np.inf), self._laid(some.rank, len(_RANKS))
        better = (cost[:, None] <= cost[:, :, None]) & (certain[:, None] >= certain[:, :, None])
        better &= rank[:, None] <= rank[:, :, None]
        earlier = np.tri(self._shape[1], k=-1, dtype=bool)
        by = np.where(same, earlier, subset & better) & np.isfinite(cost[:, None])
        return self._beaten(by)

    def repeated(self, offered: np.ndarray, layout: Layout) -> np.ndarray:
        """Which ask for all that another one asks for, which stands before it or is offered.

        The same number, nearer or farther, is the same request; another category is another.
        """
        some, cut = self._some, layout.n_continuous
        asked = np.zeros((len(offered), layout.width), bool)
        asked[:, :cut] = some.changed[:, :cut]
        places, groups = np.nonzero(some.changed[:, cut:])
        asked[places, _starts(layout)[groups] + some.attempts.categories[places, groups]] = True
        there, shown = self._laid(np.ones_like(offered), 0), self._laid(offered, 0)
        earlier = np.tri(self._shape[1], k=-1, dtype=bool)
        others = ~np.eye(self._shape[1], dtype=bool) & (shown[:, None] | earlier)
        return self._beaten(self._within(asked) & there[:, None] & others)


def _words(flags: np.ndarray) -> list[np.ndarray]:
    """Flags, `[m, flags]`, 64 of them in a number: comparing these takes no time."""
    packed = np.packbits(flags, axis=1)
    filled = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return list(np.ascontiguousarray(filled).view(np.uint64).T)


class Trial(NamedTuple):
    """What to lock next: of some candidates a change, or the category that it leads to."""

    place: np.ndarray
    """The candidate that each starts from, `[t]`."""
    closed: np.ndarray
    """What is locked then, bool `[t, width]`."""


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
    owner, closed = pool.owner[place], pool.closed[place] | _owned(layout)[feature]
    group = feature[~wholly] - cut
    column = _starts(layout)[group] + pool.attempts.categories[place[~wholly], group]
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
    return Trial(place[order], closed[order])


def staying(closed: np.ndarray, rows: Rows, changed: Rows, layout: Layout) -> Rows:
    """Changed rows, but as the rows are where that is closed, bool `[n, width]`."""
    cut = layout.n_continuous
    codes = np.clip(changed.categories, 0, np.array(layout.group_sizes, int) - 1)
    shut = np.take_along_axis(closed, _starts(layout) + codes, axis=1)
    return Rows(
        np.where(closed[:, :cut], rows.continuous, changed.continuous),
        np.where(shut, rows.categories, changed.categories),
    )


def closing(features: np.ndarray, layout: Layout) -> np.ndarray:
    """The columns of features, bool `[..., features]`, as bool `[..., width]`."""
    return np.repeat(features, _sizes(layout), axis=-1)


def counted(owner: np.ndarray) -> np.ndarray:
    """How many of the same owner stand before, of owners in order."""
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]]) if len(owner) else owner
    lengths = np.diff(np.r_[starts, len(owner)])
    before: np.ndarray = np.arange(len(owner)) - np.repeat(starts, lengths)
    return before


def _owned(layout: Layout) -> np.ndarray:
    """Which columns are a feature's, bool `[features, width]`."""
    return closing(np.eye(len(_sizes(layout)), dtype=bool), layout)


def _starts(layout: Layout) -> np.ndarray:
    """The first column of each group."""
    return np.array([group.start for group in layout.group_slices], int)


def _sizes(layout: Layout) -> tuple[int, ...]:
    return (1,) * layout.n_continuous + tuple(layout.group_sizes)
