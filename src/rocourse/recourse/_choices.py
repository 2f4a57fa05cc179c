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
from rocourse.recourse._candidates import Candidates, changes, chosen, counted, kinds
from rocourse.recourse._keeping import kept, kept_by_wishes
from rocourse.recourse._locks import (
    Trial,
    closing,
    differing,
    owned,
    staying,
    swappable,
    trials,
)
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
# Changes of a row that single others are tried for.
_SWAPS = 5
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
        pool, offered = self._varied(pool, options)
        # What was tried first stands for rows without advice.
        sheets[0].write(where, pool.take(np.arange(len(where))))
        picked = pool.take(offered)
        number = counted(picked.owner)
        for k, sheet in enumerate(sheets):
            own = picked.take(np.flatnonzero(number == k))
            sheet.write(where[own.owner], own)

    def _chosen(self, pool: Candidates, options: int) -> np.ndarray:
        layout, weights = self.context.schema.layout, self.narrowing.weights
        return chosen(pool, options, weights, layout, promises=self.advisor.proposer.promises)

    def _first(self) -> Candidates:
        """What is proposed for each row, and the start itself, which may be all that it takes."""
        everyone = np.arange(len(self.rows))
        none = np.zeros((len(everyone), self.context.schema.layout.width), bool)
        proposed = self.advisor.proposer.propose(
            self.advisor.state, self.context, self.start.rows, self.target
        )
        pool = self._judged(everyone, proposed, none, chosen=False)
        moved = np.flatnonzero(self.start.moved.any(axis=1))
        if len(moved):
            pool = pool.joined(self._judged(moved, self.start.rows.take(moved), none[moved]))
        return pool

    def _preferring(self, pool: Candidates, preferred: np.ndarray) -> Candidates:
        """The pool with what preferred features can do alone, or with fewer others."""
        layout, everyone = self.context.schema.layout, np.arange(len(self.rows))
        others = np.broadcast_to(closing(~preferred, layout), (len(everyone), layout.width))
        pool = pool.joined(self._under_locks(everyone, others, self.start.rows))
        wanted = np.full(len(everyone), _TRIALS_FOR_PREFERRED)
        fixed = self.start.moved | preferred
        return self._tried(pool, trials(pool.take(everyone), wanted, [], fixed, layout))

    def _varied(self, pool: Candidates, options: int) -> tuple[Candidates, np.ndarray]:
        """The pool with as many options as are to be found, by locking what was changed.

        Returns:
            The pool, and the places of those to offer.
        """
        if options == 1:
            return pool, self._chosen(pool, options)
        layout, n, fixed = self.context.schema.layout, len(self.rows), self.start.moved
        pool, further = self._swapped(pool, swappable(pool, _SWAPS, fixed, layout))
        offered = self._chosen(pool, options)
        tried: list[np.ndarray] = []
        for enough, more in ((0, 0), (1, _FURTHER_TRIALS)):
            missing = options - np.bincount(pool.owner[offered], minlength=n)
            wanted = np.where(missing > enough, missing + more, 0)
            next_ = trials(pool, wanted, tried, fixed, layout)
            if further is not None:
                lacking = (kinds(pool.take(offered), n) < options) & (wanted == 0)
                next_ = next_.joined(further.take(np.flatnonzero(lacking[further.owner])))
                further = None
            if not len(next_.owner):
                break
            asked = np.zeros(n, bool)
            asked[next_.owner] = True
            pool = self._tried(pool, next_)
            again = np.flatnonzero(asked[pool.owner])
            anew = again[self._chosen(pool.take(again), options)]
            offered = np.concatenate([offered[~asked[pool.owner[offered]]], anew])
        return pool, offered[np.argsort(pool.owner[offered], kind="stable")]

    def _swapped(self, pool: Candidates, trial: Trial) -> tuple[Candidates, Trial | None]:
        """The pool with what single changes can put in others' places, and what to try next."""
        if not len(trial.owner):
            return pool, None
        layout, own = self.context.schema.layout, self.start.rows.take(trial.owner)
        swaps = self.advisor.proposer.swap(
            self.advisor.state,
            self.context,
            own,
            self.target[trial.owner],
            closed=trial.closed,
            feature=trial.feature,
            starts=staying(trial.closed, own, trial.known, layout),
        )
        if swaps is None:
            return pool, None
        closed = trial.closed | closing(swaps.closed, layout)
        further = trial._replace(closed=closed, known=swaps.starts)
        further = further.take(np.flatnonzero(swaps.hopeful))
        # The greatest change is done without, of those that others might take the place of.
        further = further.take(np.flatnonzero(counted(further.owner) == 0))
        if not swaps.found:
            return pool, further
        places, proposed = zip(*swaps.found, strict=True)
        where = np.concatenate(places)
        found, tried = Rows.concatenate(proposed), trial.take(where)
        # What leaves the feature alone was found without it altogether.
        again = differing(found, own.take(where), tried.feature)[:, None]
        closed = tried.closed | (~again & owned(layout)[tried.feature])
        return pool.joined(self._judged(tried.owner, found, closed)), further

    def _tried(self, pool: Candidates, trial: Trial) -> Candidates:
        """The pool with what is found when more is locked."""
        if not len(trial.owner):
            return pool
        return pool.joined(self._under_locks(trial.owner, trial.closed, trial.known))

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

    def _judged(
        self, owner: np.ndarray, proposed: Rows, closed: np.ndarray, *, chosen: bool = True
    ) -> Candidates:
        """Proposals as they will be carried out, held to the wishes and judged."""
        frame, rows = self.frame.iloc[owner], self.rows.take(owner)
        context, schema, target = self.context, self.context.schema, self.target[owner]
        thrifty = self.advisor.thrifty
        if context.narrowing is None:
            attempts = kept(context, frame, rows, proposed, target, thrifty=thrifty)
        else:
            what = (context, self.narrowing, frame, rows, proposed, target)
            attempts = kept_by_wishes(*what, self.start.rows.take(owner), thrifty=thrifty)
        broken = None
        if schema.actions.limited:
            # Nothing that breaks a limit is ever advised, whatever became of it on the way.
            broken = schema.actions.breaches(schema.actions.numbers(frame), rows, attempts)
        before = None if self.before is None else self.before[owner]
        said = self.advisor.judged(attempts, target, before, broken, chosen=chosen)
        return Candidates(
            owner,
            attempts,
            said.status,
            said.probability,
            said.robustness,
            *changes(schema, rows, attempts),
            closed,
        )
