"""Candidates for advice: what each changes, costs and is worth, and which of them to offer."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from rocourse.schema import Layout, Rows, Schema

# Statuses of advice, the better one first.
_RANKS = ("found", "found_unsure")
# What is offered later than options that ask for other things (0) or for less or more of the same
# (1), where there are more than were asked for.
_OTHER_VALUE, _DEAR = 2, 3
# A chance that is better by no more than that is no reason to change more.
_NO_SURER = 0.01
_ROUNDING = 1e-6


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
    pool: Candidates, count: int, weights: np.ndarray, layout: Layout, *, promises: bool
) -> np.ndarray:
    """The candidates to offer: the places of at most so many of each row, in order.

    What is promised comes first, the cheapest of it before the rest; where nothing is promised,
    what would be advised alone, and then the cheapest. No two of a row change the same features,
    and none is dominated: there is no other that changes some of the same features and no more,
    costs no more and is as certain. Where there are more than so many, those that ask for other
    things are offered rather than those that ask for less or more of the same, and what costs at
    most twice as much as the first rather than what is dearer. Only where there are too few come
    others that ask for another category.

    Args:
        pool: All candidates.
        count: The most of a row.
        weights: What a change of each feature counts for, `[features]`.
        layout: Of the rows.
        promises: Whether the method promises what it found.
    """
    places = np.flatnonzero(pool.advised)
    if not len(places):
        return places
    some = pool.take(places)
    order = np.lexsort((*_order(some, weights, promises), some.owner))
    places, some = places[order], some.take(order)
    if count == 1:
        best: np.ndarray = places[counted(some.owner) == 0]
        return best
    table = _Table.of(some)
    apart = table.worthwhile(~table.dominated())
    shade = np.where(apart, table.nested(apart), _OTHER_VALUE)
    shade[table.dear()] += _DEAR
    few = np.bincount(some.owner[apart], minlength=pool.owner.max() + 1) < count
    kept = apart | few[some.owner]
    kept[kept] = ~(table.repeated(apart, layout) & ~apart)[kept]
    left = np.flatnonzero(kept)
    left = left[np.lexsort((shade[left], some.owner[left]))]
    offered: np.ndarray = places[np.sort(left[counted(some.owner[left]) < count])]
    return offered


def _order(some: Candidates, weights: np.ndarray, promises: bool) -> tuple[np.ndarray, ...]:
    """What candidates are sorted by, the last first."""
    # Without a promise, first what was searched for without a lock: others may be cheap but vain.
    alone = ~some.closed.any(axis=1) & (weights == weights[0]).all()
    vague = (some.rank == 1) | (not promises)
    first = 2 * some.rank + (vague & ~alone)
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

    @cached_property
    def _subset(self) -> np.ndarray:
        """Whether the other changes no feature that I do not, `[rows, slots, others]`."""
        return self._within(self._some.changed)

    def dominated(self) -> np.ndarray:
        """Which another one makes superfluous: of those that change the same, all but the first."""
        some = self._some
        subset = self._subset
        same = subset & subset.transpose(0, 2, 1)
        # A place without a candidate dominates none: it is dearer than all.
        cost = self._laid(some.cost, np.inf)
        certain, rank = self._laid(some.certainty, -np.inf), self._laid(some.rank, len(_RANKS))
        better = (cost[:, None] <= cost[:, :, None]) & (certain[:, None] >= certain[:, :, None])
        better &= rank[:, None] <= rank[:, :, None]
        earlier = np.tri(self._shape[1], k=-1, dtype=bool)
        by = np.where(same, earlier, subset & better) & np.isfinite(cost[:, None])
        return self._beaten(by)

    def worthwhile(self, apart: np.ndarray) -> np.ndarray:
        """Which stand apart and are not hardly surer than an earlier one that asks for less."""
        some = self._some
        cost, certain = self._laid(some.cost, np.inf), self._laid(some.certainty, -np.inf)
        rank, kept = self._laid(some.rank, len(_RANKS)), self._laid(apart, 0)
        for slot in range(1, self._shape[1]):
            here = slice(slot, slot + 1)
            as_good = (cost[:, :slot] <= cost[:, here]) & (rank[:, :slot] <= rank[:, here])
            as_good &= certain[:, :slot] >= certain[:, here] - _NO_SURER
            kept[:, slot] &= ~(self._subset[:, slot, :slot] & as_good & kept[:, :slot]).any(axis=1)
        return np.asarray(kept[self._row, self._slot])

    def nested(self, apart: np.ndarray) -> np.ndarray:
        """Which change a part of what an earlier one changes, or all of it and more: 0 or 1.

        Only those that stand apart count, and of them those that are not nested themselves.
        """
        nested = self._subset | self._subset.transpose(0, 2, 1)
        counts = self._laid(apart, 0)
        for slot in range(1, self._shape[1]):
            counts[:, slot] &= ~(nested[:, slot, :slot] & counts[:, :slot]).any(axis=1)
        return np.asarray(~counts[self._row, self._slot]).astype(int)

    def dear(self) -> np.ndarray:
        """Which cost more than twice what the first of the same row does."""
        first = self._laid(self._some.cost, np.inf)[:, 0]
        return np.asarray(self._some.cost > 2.0 * first[self._row] + _ROUNDING)

    def repeated(self, offered: np.ndarray, layout: Layout) -> np.ndarray:
        """Which ask for all that another one asks for, which stands before it or is offered.

        The same number, nearer or farther, is the same request; another category is another.
        """
        some, cut = self._some, layout.n_continuous
        asked = np.zeros((len(offered), layout.width), bool)
        asked[:, :cut] = some.changed[:, :cut]
        places, groups = np.nonzero(some.changed[:, cut:])
        asked[places, group_starts(layout)[groups] + some.attempts.categories[places, groups]] = (
            True
        )
        there, shown = self._laid(np.ones_like(offered), 0), self._laid(offered, 0)
        earlier = np.tri(self._shape[1], k=-1, dtype=bool)
        others = ~np.eye(self._shape[1], dtype=bool) & (shown[:, None] | earlier)
        return self._beaten(self._within(asked) & there[:, None] & others)


def kinds(some: Candidates, n: int) -> np.ndarray:
    """How many sets of features the candidates of each of so many rows change, `[n]`."""
    words = [some.owner, *_words(some.changed)]
    order = np.lexsort(words)
    new = np.any([word[order][1:] != word[order][:-1] for word in words], axis=0)
    return np.bincount(some.owner[order[np.r_[True, new]]], minlength=n)


def _words(flags: np.ndarray) -> list[np.ndarray]:
    """Flags, `[m, flags]`, 64 of them in a number: comparing these takes no time."""
    packed = np.packbits(flags, axis=1)
    filled = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return list(np.ascontiguousarray(filled).view(np.uint64).T)


def counted(owner: np.ndarray) -> np.ndarray:
    """How many of the same owner stand before, of owners in order."""
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]]) if len(owner) else owner
    lengths = np.diff(np.r_[starts, len(owner)])
    before: np.ndarray = np.arange(len(owner)) - np.repeat(starts, lengths)
    return before


def group_starts(layout: Layout) -> np.ndarray:
    """The first column of each group."""
    return np.array([group.start for group in layout.group_slices], int)
