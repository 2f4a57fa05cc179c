"""Advice by wishes, and several options of it: every proposer, asked under narrower constraints.

A wish or a further option is a narrower question: the same rows, with features that must stay or
must end in a range. Wherever the answer comes from, it is settled, held to the wishes in raw units
and judged by the model, as any other.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rocourse._wording import show
from rocourse.errors import ConfigError
from rocourse.recourse._candidates import (
    Candidates,
    Trial,
    changes,
    chosen,
    closing,
    counted,
    staying,
    trials,
)
from rocourse.recourse._keeping import kept, kept_by_wishes
from rocourse.recourse._proposer import Context
from rocourse.schema import (
    EachWishes,
    Narrowing,
    OutOfRange,
    Recourse,
    Rows,
    Start,
    Wishes,
    wishes_of_rows,
)

if TYPE_CHECKING:
    from rocourse.recourse.answer import Advisor

# What is found under a lock may be nothing new. So there is a second round for rows that lack more
# than one option, in which so many locks are tried besides.
_FURTHER_TRIALS = 4
# Changes of a row that single others are tried for, and how many of these.
_SWAPS = 5
_SWAPS_EACH = 6
# Changes of other features that are tried to do without where some are preferred.
_TRIALS_FOR_PREFERRED = 3


def choices(
    advisor: "Advisor",
    frame: pd.DataFrame,
    desired: Any,
    out_of_range: OutOfRange,
    wishes: EachWishes,
    options: int,
) -> Recourse:
    """The record of a table with options, by the wishes of each row.

    Args:
        advisor: A fitted model and its proposer.
        frame: The rows.
        desired: The class asked for; see `Advisor.targets`.
        out_of_range: What is done about values that training rows do not have.
        wishes: Of all rows, or of each.
        options: The most options for a row.
    """
    if isinstance(options, bool) or not isinstance(options, int) or options < 1:
        raise ConfigError(
            f"options must be a whole number of at least 1, but got {show(options)}; write, say, "
            "options=3."
        )
    context, schema = advisor.context, advisor.context.schema
    rows = schema.encode(frame, out_of_range=out_of_range)
    frame = frame[list(schema.names)]
    shares = context.predict(rows)
    predicted = context.verdicts(shares)
    target = advisor.targets(desired, predicted)
    asked = wishes_of_rows(wishes, len(frame))
    likely = shares[np.arange(len(shares)), target].astype(float)
    robust = advisor.robustness(rows, target)
    before = robust if advisor.proposer.promises else None
    sheets = [_Sheet.of(rows, likely, robust) for _ in range(options)]
    reasons = np.full(len(frame), "", object)
    groups: dict[Wishes | None, list[int]] = {}
    for place, one in enumerate(asked):
        groups.setdefault(one, []).append(place)
    for one, places in groups.items():
        where = np.array(places)
        narrowed = context if one is None else advisor.narrowed(one)
        narrowing = narrowed.narrowing or Narrowing.of(None, schema)
        start = _start(one, narrowing, frame, rows, where)
        reasons[where] = start.reasons
        free = start.reasons == ""
        needed = (target[where] != predicted[where]) | start.moved.any(axis=1) | ~free
        for sheet in sheets:
            sheet.status[where[~needed]] = "not_needed"
        own = needed & free
        if own.any():
            group = _Group(
                advisor,
                narrowed,
                narrowing,
                frame.iloc[where[own]],
                rows.take(where[own]),
                target[where[own]],
                start.of(own),
                None if before is None else before[where[own]],
            )
            group.answer(options, sheets, where[own])
    first, *others = [
        Recourse(
            schema=schema,
            original=frame,
            original_rows=rows,
            attempts=Rows(sheet.continuous, sheet.categories),
            status=sheet.status,
            predicted=advisor.classes[predicted],
            desired=advisor.classes[target],
            probability=sheet.probability,
            method=advisor.method,
            robustness=sheet.robustness,
        )
        for sheet in sheets
    ]
    reasons[reasons == ""] = None
    told = None if wishes is None else reasons
    wished = None if wishes is None else tuple(asked)
    return replace(first, reasons=told, others=tuple(others), wishes=wished)


def _start(
    wishes: Wishes | None, narrowing: Narrowing, frame: pd.DataFrame, rows: Rows, where: np.ndarray
) -> Start:
    if wishes is not None and wishes.ranges:
        return narrowing.start(frame.iloc[where], rows.take(where))
    nothing = np.zeros((len(where), len(narrowing.locked)), bool)
    return Start(rows.take(where), nothing, np.full(len(where), "", object))


@dataclass(frozen=True, eq=False)
class _Sheet:
    """One option of every row, written row by row; what is not written stays as the row is."""

    continuous: np.ndarray
    categories: np.ndarray
    status: np.ndarray
    probability: np.ndarray
    robustness: np.ndarray | None

    @classmethod
    def of(cls, rows: Rows, probability: np.ndarray, robustness: np.ndarray | None) -> "_Sheet":
        return cls(
            rows.continuous.copy(),
            rows.categories.copy(),
            np.full(len(rows), "not_found", "U16"),
            probability.copy(),
            None if robustness is None else robustness.copy(),
        )

    def write(self, where: np.ndarray, found: Candidates) -> None:
        self.continuous[where] = found.attempts.continuous
        self.categories[where] = found.attempts.categories
        self.status[where] = found.status
        self.probability[where] = found.probability
        if self.robustness is not None and found.robustness is not None:
            self.robustness[where] = found.robustness


@dataclass(frozen=True, eq=False)
class _Group:
    """Rows that need a change, of the same wishes."""

    advisor: "Advisor"
    context: Context
    narrowing: Narrowing
    frame: pd.DataFrame
    rows: Rows
    target: np.ndarray
    start: Start
    before: np.ndarray | None

    def answer(self, options: int, sheets: list[_Sheet], where: np.ndarray) -> None:
        """Writes the options of each row to the sheets, at its place."""
        pool = self._first()
        preferred = self.narrowing.preferred
        if preferred.any():
            pool = self._preferring(pool, preferred)
        if options > 1:
            pool = self._varied(pool, options)
        # What was tried first stands for rows without advice.
        sheets[0].write(where, pool.take(np.arange(len(where))))
        picked = pool.take(self._chosen(pool, options))
        number = counted(picked.owner)
        for k, sheet in enumerate(sheets):
            own = picked.take(np.flatnonzero(number == k))
            sheet.write(where[own.owner], own)

    def _chosen(self, pool: Candidates, options: int) -> np.ndarray:
        layout, preferred = self.context.schema.layout, self.narrowing.preferred
        return chosen(pool, options, preferred, layout, promises=self.advisor.proposer.promises)

    def _first(self) -> Candidates:
        """What is proposed for each row, and where that will not do, the start itself."""
        everyone = np.arange(len(self.rows))
        none = np.zeros((len(everyone), self.context.schema.layout.width), bool)
        proposed = self.advisor.proposer.propose(
            self.advisor.state, self.context, self.start.rows, self.target
        )
        pool = self._judged(everyone, proposed, none)
        left = np.flatnonzero(self.start.moved.any(axis=1) & (pool.status == "not_found"))
        if len(left):
            pool = pool.joined(self._judged(left, self.start.rows.take(left), none[left]))
        return pool

    def _preferring(self, pool: Candidates, preferred: np.ndarray) -> Candidates:
        """The pool with what preferred features can do alone, or with fewer others."""
        layout, everyone = self.context.schema.layout, np.arange(len(self.rows))
        others = np.broadcast_to(closing(~preferred, layout), (len(everyone), layout.width))
        pool = pool.joined(self._under_locks(everyone, others, self.start.rows))
        wanted = np.full(len(everyone), _TRIALS_FOR_PREFERRED)
        fixed = self.start.moved | preferred
        return self._tried(pool, trials(pool.take(everyone), wanted, [], fixed, layout))

    def _varied(self, pool: Candidates, options: int) -> Candidates:
        """The pool with as many options as there are to be found, by locking what was changed."""
        layout, n = self.context.schema.layout, len(self.rows)
        fixed = self.start.moved
        swapped = trials(pool, np.full(n, _SWAPS), [], fixed, layout)
        pool = self._swapped(pool, swapped)
        tried: list[np.ndarray] = []
        missing = self._missing(pool, options, np.ones(n, bool))
        for enough, further in ((0, 0), (1, _FURTHER_TRIALS)):
            wanted = np.where(missing > enough, missing + further, 0)
            next_ = trials(pool, wanted, tried, fixed, layout)
            if not len(next_.place):
                break
            pool = self._tried(pool, next_)
            missing = self._missing(pool, options, missing > 0)
        return pool

    def _missing(self, pool: Candidates, options: int, rows: np.ndarray) -> np.ndarray:
        """How many options some rows lack; of all others, none."""
        some = pool.take(np.flatnonzero(rows[pool.owner]))
        offered = some.owner[self._chosen(some, options)]
        there = np.bincount(offered, minlength=len(rows))
        return np.where(rows, options - there, 0)

    def _swapped(self, pool: Candidates, trial: Trial) -> Candidates:
        """The pool with what single changes can put in the place of others."""
        if not len(trial.place):
            return pool
        base = pool.take(trial.place)
        layout, own = self.context.schema.layout, self.start.rows.take(base.owner)
        swaps = self.advisor.proposer.swap(
            self.advisor.state,
            self.context,
            own,
            self.target[base.owner],
            closed=trial.closed,
            starts=staying(trial.closed, own, base.attempts, layout),
        )
        if not swaps:
            return pool
        places, proposed = zip(*swaps[:_SWAPS_EACH], strict=True)
        where = np.concatenate(places)
        found = Rows.concatenate(proposed)
        return pool.joined(self._judged(base.owner[where], found, trial.closed[where]))

    def _tried(self, pool: Candidates, trial: Trial) -> Candidates:
        """The pool with what is found when more is locked."""
        if not len(trial.place):
            return pool
        base = pool.take(trial.place)
        return pool.joined(self._under_locks(base.owner, trial.closed, base.attempts))

    def _under_locks(self, owner: np.ndarray, closed: np.ndarray, known: Rows) -> Candidates:
        """What is found for rows under locks, from what was found without."""
        layout, own = self.context.schema.layout, self.start.rows.take(owner)
        proposed = self.advisor.proposer.vary(
            self.advisor.state,
            self.context,
            own,
            self.target[owner],
            closed=closed,
            starts=staying(closed, own, known, layout),
        )
        return self._judged(owner, staying(closed, own, proposed, layout), closed)

    def _judged(self, owner: np.ndarray, proposed: Rows, closed: np.ndarray) -> Candidates:
        """Proposals as they will be carried out, held to the wishes and judged."""
        frame, rows = self.frame.iloc[owner], self.rows.take(owner)
        context, schema, target = self.context, self.context.schema, self.target[owner]
        if context.narrowing is None:
            attempts = kept(context, frame, rows, proposed, target)
        else:
            start = self.start.rows.take(owner)
            attempts = kept_by_wishes(context, self.narrowing, frame, rows, proposed, target, start)
        broken = None
        if schema.actions.limited:
            # Nothing that breaks a limit is ever advised, whatever became of it on the way.
            broken = schema.actions.breaches(schema.actions.numbers(frame), rows, attempts)
        before = None if self.before is None else self.before[owner]
        said = self.advisor.judged(attempts, target, before, broken)
        return Candidates(
            owner,
            attempts,
            said.status,
            said.probability,
            said.robustness,
            *changes(schema, rows, attempts),
            closed,
        )
