"""The one place where recourses are answered: statuses and records, for rows in any form.

A table, a handful of applicants and a single one are asked about in the same way: what does the
model say, which class is wanted, what is proposed, what is left of that when every constraint is
kept, and what does the model say of it. They differ in how rows are read and in what is given back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from rocourse.errors import DataError
from rocourse.models import share_of_witnesses
from rocourse.networks import Predictor
from rocourse.options import plain
from rocourse.recourse._certified import Certify, certified
from rocourse.recourse._choices import choices
from rocourse.recourse._fewer import where_rows
from rocourse.recourse._keeping import kept
from rocourse.recourse._proposer import Context, Proposer, State
from rocourse.recourse._stacking import stacked, unstacked
from rocourse.recourse._statuses import NO_IDEA, Chances, Judged, one_each, statuses
from rocourse.recourse.generator._one_row import Look, RowEngine
from rocourse.schema import (
    EachWishes,
    EncodedRow,
    Narrowing,
    OutOfRange,
    Recourse,
    RowCodec,
    RowCodes,
    Rows,
    Wishes,
    wishes_of_rows,
)

Applicant = Mapping[str, Any]
Record = dict[str, Any]

_OTHER_OF_TWO = -1
# Different wishes for which what is compiled is kept at hand.
_WISHES_KEPT = 32


@dataclass(frozen=True, eq=False)
class Advisor:
    """A fitted model and its proposer, ready to say what rows must change.

    Attributes:
        context: The model and its schema.
        proposer: How recourses are proposed.
        state: What it has learned.
        classes: The labels, sorted.
        witnesses: Models of shifted rows, to say how robust a recourse is.
        method: What made the recourses, for the record.
        certify: What has to hold of advice that is searched for until it does; None: nothing.
    """

    context: Context
    proposer: Proposer
    state: State
    classes: np.ndarray
    witnesses: Sequence[Predictor]
    method: str
    certify: Certify | None = None

    @cached_property
    def _engine(self) -> RowEngine | None:
        return self.proposer.one_row(self.state, self.context)

    @cached_property
    def thrifty(self) -> bool:
        """Whether what is proposed has to be looked through for what costs and is of no use."""
        return self.context.schema.actions.pricing.stated and not self.proposer.knows_prices

    @cached_property
    def _codec(self) -> RowCodec:
        return self.context.schema.row_codec

    @cached_property
    def _labels(self) -> list[Any]:
        return self.classes.tolist()  # type: ignore[no-any-return]

    def propose(self, rows: Rows, target: np.ndarray) -> Rows:
        """What the proposer asks of each row for its target class."""
        return self.proposer.propose(self.state, self.context, rows, target)

    def robustness(self, rows: Rows, target: np.ndarray) -> np.ndarray | None:
        """The chance that the next model gives each row its target class, if there is an idea.

        Methods that promise say so themselves; else it is the share of witnesses that do.
        """
        if promise := self.proposer.promise(self.state, self.context, rows, target):
            return promise.chance
        if not self.witnesses:
            return None
        return share_of_witnesses(list(self.witnesses), rows, target, self.context.schema.layout)

    @cached_property
    def narrowed(self) -> Callable[[Wishes], Context]:
        """The context that wishes leave; the last ones are kept, with what is compiled for them."""

        def read(wishes: Wishes) -> Context:
            return self.context.narrowed(Narrowing.of(wishes, self.context.schema))

        return lru_cache(maxsize=_WISHES_KEPT)(read)

    def judged(
        self,
        attempts: Rows,
        target: np.ndarray,
        before: np.ndarray | None,
        broken: np.ndarray | None = None,
        *,
        chosen: bool = False,
    ) -> Judged:
        """What the model and the method say of settled attempts.

        Args:
            attempts: One for each of some rows that need a change.
            target: The class index wanted for each.
            before: The chance of each row as it is; None where nothing is promised.
            broken: Which of them break a limit; None: none can.
            chosen: Whether they are there to be chosen from, for what they cost.
        """
        after = self.context.predict(attempts)
        what = (self.state, self.context, attempts, target)
        if (promise := self.proposer.promise(*what, chosen=chosen)) is None:
            chances = Chances(None, self.robustness(attempts, target), None)
        else:
            chances = Chances(promise.made, promise.chance, before)
        honoured = self.context.verdicts(after) == target
        if broken is not None:
            honoured &= ~broken
        status = statuses(np.ones(len(target), bool), honoured, chances)
        likely = after[np.arange(len(after)), target].astype(float)
        return Judged(status, likely, chances.after)

    def table(
        self,
        frame: pd.DataFrame,
        desired: Any,
        *,
        out_of_range: OutOfRange,
        wishes: EachWishes = None,
        options: int = 1,
    ) -> Recourse:
        """The record of a whole table."""
        if self.certify is not None:
            plain = replace(self, certify=None)
            asked = (desired, out_of_range, wishes, options)
            return certified(plain, self.certify, frame, *asked)
        if wishes is not None or options != 1 or options is True:
            return choices(self, frame, desired, out_of_range, wishes, options)
        schema = self.context.schema
        rows = schema.encode(frame, out_of_range=out_of_range)
        frame = frame[list(schema.names)]
        predicted = self.context.verdicts(self.context.predict(rows))
        target = self.targets(desired, predicted)
        return self.answer(frame, rows, predicted, target, self.propose(rows, target))

    def answer(
        self,
        frame: pd.DataFrame,
        rows: Rows,
        predicted: np.ndarray,
        target: np.ndarray,
        proposed: Rows,
    ) -> Recourse:
        """The record of rows, by what is proposed for each.

        Args:
            frame: The rows as they were given, columns in the order of the schema.
            rows: The same, encoded.
            predicted: The class index of each, `[n]`.
            target: The class index wanted for each, `[n]`.
            proposed: Any changes.
        """
        schema = self.context.schema
        needed = target != predicted
        proposed = where_rows(needed, proposed, rows)
        attempts = kept(self.context, frame, rows, proposed, target, thrifty=self.thrifty)
        after = self.context.predict(attempts)
        honoured = self.context.verdicts(after) == target
        if schema.actions.limited:
            # Nothing that breaks a limit is ever advised, whatever became of it on the way.
            honoured &= ~schema.actions.breaches(schema.actions.numbers(frame), rows, attempts)
        chances = self._chances(rows, attempts, target)
        return Recourse(
            schema=schema,
            original=frame,
            original_rows=rows,
            attempts=attempts,
            status=statuses(needed, honoured, chances),
            predicted=self.classes[predicted],
            desired=self.classes[target],
            probability=after[np.arange(len(after)), target].astype(float),
            method=self.method,
            robustness=chances.after,
        )

    def _chances(self, rows: Rows, attempts: Rows, target: np.ndarray) -> Chances:
        """What the next model will say, as far as the method or the witnesses have an idea."""
        context, state = self.context, self.state
        promise = self.proposer.promise(state, context, attempts, target)
        if promise is None:
            return Chances(None, self.robustness(attempts, target), None)
        before = self.proposer.promise(state, context, rows, target)
        assert before is not None  # it was not None for the attempts
        return Chances(promise.made, promise.chance, before.chance)

    def each(
        self,
        applicants: Sequence[Applicant],
        desired: Any,
        *,
        out_of_range: OutOfRange,
        wishes: EachWishes = None,
        options: int = 1,
    ) -> list[Record]:
        """The records of a handful of applicants, without a table where their rows allow it.

        A table of a few rows costs many times what the networks do: its columns are checked and
        converted one by one. Rows that are beyond doubt need none of it.
        """
        if wishes is not None or options != 1 or options is True:
            pairs = zip(applicants, wishes_of_rows(wishes, len(applicants)), strict=True)
            return [
                self._by_table(applicant, desired, out_of_range, wished, options)
                for applicant, wished in pairs
            ]
        limited = self.context.schema.max_features is not None
        if limited or self.thrifty or self.certify is not None:
            # Which changes are left, and what is proved of them, is found out for tables.
            return [self._by_table(one, desired, out_of_range) for one in applicants]
        if len(applicants) == 1 and (record := self._one(applicants[0], desired)) is not None:
            return [record]
        read = [self._codec.encode(applicant) for applicant in applicants]
        clear = [
            (applicant, row)
            for applicant, row in zip(applicants, read, strict=True)
            if row is not None
        ]
        records = iter(self._clear(clear, desired))
        return [
            self._by_table(applicant, desired, out_of_range) if row is None else next(records)
            for applicant, row in zip(applicants, read, strict=True)
        ]

    def _one(self, applicant: Applicant, desired: Any) -> Record | None:
        """The record of one row by the proposer's own engine, where both are beyond doubt."""
        engine, wanted = self._engine, self._wanted(desired)
        row = self._codec.encode(applicant)
        if engine is None or wanted is None or row is None:
            return None
        look = engine.look(row.codes, wanted)
        attempt = self._settled(row, look)
        shares = engine.probabilities(attempt)[None]
        return self._records([(applicant, row)], [attempt], [look], shares)[0]

    def _clear(self, pairs: Sequence[tuple[Applicant, EncodedRow]], desired: Any) -> list[Record]:
        """The records of rows that need no table's checks."""
        if not pairs:
            return []
        looks = self._looks([row.codes for _, row in pairs], desired)
        attempts = [self._settled(row, look) for (_, row), look in zip(pairs, looks, strict=True)]
        shares = self.context.predict(stacked(self.context.schema.layout, attempts))
        return self._records(pairs, attempts, looks, shares)

    def _settled(self, row: EncodedRow, look: Look) -> RowCodes:
        """What is left of a proposal when every constraint is kept."""
        if look.proposed is None or look.predicted == look.target:
            return row.codes
        return self._codec.settle(row, look.proposed)

    def _records(
        self,
        pairs: Sequence[tuple[Applicant, EncodedRow]],
        attempts: Sequence[RowCodes],
        looks: Sequence[Look],
        shares: np.ndarray,
    ) -> list[Record]:
        layout, codec = self.context.schema.layout, self._codec
        target = np.array([look.target for look in looks], np.int32)
        chances = NO_IDEA
        if self.witnesses or self.proposer.promises:
            rows = stacked(layout, [row.codes for _, row in pairs])
            chances = self._chances(rows, stacked(layout, attempts), target)
        honoured = self.context.verdicts(shares) == target
        honoured &= [not codec.breaks(row, a) for (_, row), a in zip(pairs, attempts, strict=True)]
        needed = np.array([look.predicted for look in looks]) != target
        status = statuses(needed, honoured, chances).tolist()
        after = [None] * len(pairs) if chances.after is None else chances.after.tolist()
        told = zip(pairs, attempts, looks, shares, status, after, strict=True)
        return [self._record(*pair, *rest) for pair, *rest in told]

    def _record(
        self,
        applicant: Applicant,
        row: EncodedRow,
        attempt: RowCodes,
        look: Look,
        shares: np.ndarray,
        status: str,
        robustness: float | None,
    ) -> Record:
        codec = self._codec
        changes = codec.changes(applicant, row.codes, attempt)
        proximity = codec.proximity(row.codes, attempt)
        return {
            "status": status,
            "predicted": self._labels[look.predicted],
            "desired": self._labels[look.target],
            "probability_before": look.before,
            "probability": float(shares[look.target]),
            "proximity": proximity,
            "features_changed": len(changes),
            "changes": changes if status in ("found", "found_unsure") else [],
            "robustness": robustness,
            "cost": codec.cost(row.codes, attempt) if codec.priced else proximity,
            "months": codec.months(row, attempt),
            "imputed": list(row.imputed),
        }

    def _looks(self, codes: Sequence[RowCodes], desired: Any) -> list[Look]:
        """What the model says of rows, and proposals for those that need one."""
        rows = stacked(self.context.schema.layout, codes)
        before = self.context.predict(rows)
        predicted = self.context.verdicts(before)
        target = self.targets(desired, predicted)
        proposed: list[RowCodes | None] = [None] * len(codes)
        needy = np.flatnonzero(target != predicted)
        if len(needy):
            found = self.propose(rows.take(needy), target[needy])
            for place, change in zip(needy.tolist(), unstacked(found), strict=True):
                proposed[place] = change
        likely = before[np.arange(len(before)), target].astype(float)
        columns = (predicted.tolist(), target.tolist(), likely.tolist(), proposed)
        return [Look(*values) for values in zip(*columns, strict=True)]

    def _by_table(
        self,
        applicant: Applicant,
        desired: Any,
        out_of_range: OutOfRange,
        wishes: Wishes | None = None,
        options: int = 1,
    ) -> Record:
        """Of a row whose values a table's checks must look at."""
        # In the order of the features, which is asked for where the schema was inferred.
        names = self.context.schema.names
        known = {name: applicant[name] for name in names if name in applicant}
        # All of them, where some are missing: a column that was perhaps meant is then named.
        table = pd.DataFrame([known if len(known) == len(names) else known | dict(applicant)])
        recourse = self.table(
            table, desired, out_of_range=out_of_range, wishes=wishes, options=options
        )
        target = np.searchsorted(self.classes, recourse.desired)
        before = self.context.predict(recourse.original_rows)
        (record,) = recourse.to_records()
        del record["index"]
        record["probability_before"] = float(before[0, target[0]])
        return record

    def targets(self, desired: Any, predicted: np.ndarray) -> np.ndarray:
        """Class indices asked for, `[n]`: by default the other of two, the favourable of many."""
        if desired is None:
            if len(self.classes) == 2:
                return 1 - predicted
            assert self.context.schema.target is not None
            desired = self.context.schema.target.wanted()
        wanted = one_each(desired, len(predicted))
        known = list(self.classes)
        unknown = [label for label in np.unique(wanted) if label not in known]
        if unknown:
            raise DataError(
                f"The desired class must be one of {[plain(c) for c in known]}: got "
                f"{plain(unknown[0])!r}; ask for a class that the model was trained on."
            )
        return np.searchsorted(self.classes, wanted)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {label: index for index, label in enumerate(self._labels)}

    def _wanted(self, desired: Any) -> int | None:
        """The class index that one row is asked for; None where that is for `targets` to say."""
        if desired is None and len(self._labels) == 2:
            return _OTHER_OF_TWO
        if desired is None:
            assert self.context.schema.target is not None
            desired = self.context.schema.target.wanted()
        try:
            return self._positions.get(desired)
        except TypeError:
            return None
