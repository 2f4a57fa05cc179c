"""Whether a model honours the promises that were made before it.

Promises come page by page, and only counts and the worst of them are kept: a million take no more
memory than a thousand.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from rocourse.errors import ConfigError, DataError
from rocourse.evaluation._audit_reading import PromiseReader
from rocourse.evaluation._audit_report import (
    AGES,
    AuditCounts,
    AuditPart,
    AuditReport,
    BrokenPromise,
)
from rocourse.evaluation._model import Model
from rocourse.evaluation._segments import segments
from rocourse.schema import ClippedWarning, CutOff, verdicts

# For its record alone: the ledger needs SQLAlchemy, which an evaluation without one does not.
if TYPE_CHECKING:
    from rocourse.ledger import Promise, PromisedRows

WORST = 1000
"""Broken promises that a report lists, unless told otherwise."""

# A ledger has few issuing models, and rows are unreadable for few reasons. Should there be ever new
# ones, those beyond so many are counted together, so that memory stays bounded.
_MOST_KINDS = 1000
_OTHERS = "others"

# What the logarithm sees of a probability of zero, which JSON could not hold as one of infinity.
_LEAST = float(np.finfo(np.float32).tiny)

_REFUSED = "the model refuses the row, as for a number outside its training range"

Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

_NAMES = list(AGES)
_LAST_DAYS = [last for last in AGES.values() if last is not None]


class _Page(NamedTuple):
    """Promises in columns."""

    ids: Sequence[str]
    subjects: Sequence[str | None]
    models: Sequence[str]
    statuses: Sequence[str]
    issued: Sequence[datetime]
    desired: Sequence[Any]
    probabilities: Sequence[float]
    rows: Sequence[Mapping[str, Any]]


class _Verdicts(NamedTuple):
    """What a model makes of a page; reasons by the places of those that it cannot read."""

    honoured: Flags
    probabilities: Floats
    margins: Floats
    reasons: dict[int, str]


@dataclass(slots=True)
class _Count:
    """A tally while it is counted."""

    promises: int = 0
    honoured: int = 0
    unreadable: int = 0

    def tally(self) -> AuditCounts:
        return AuditCounts(self.promises, self.honoured, self.unreadable)


def audit(
    pages: "Iterable[Sequence[Promise] | PromisedRows]",
    model: Model,
    *,
    digest: str,
    at: datetime,
    name: str | None = None,
    worst: int = WORST,
    by: Sequence[str] = (),
) -> AuditReport:
    """Judges promises by a model.

    Args:
        pages: The promises, as `Ledger.promised_rows` gives them.
        model: The model that is to honour them.
        digest: Its digest.
        at: The moment for which ages are counted, with a time zone.
        name: What to call the model; its digest, unless given.
        worst: How many broken promises to list.
        by: Columns of the promised rows to tell people by, by themselves and crossed.
    """
    auditor = Auditor(model, digest=digest, at=at, name=name, worst=worst, by=by)
    for page in pages:
        auditor.add(page)
    return auditor.report()


class Auditor:
    """Judges promises by a model, page by page; for several models at a time.

    The row that was promised is judged as `model.predict` would: the most probable class is given,
    or the one that the model's cut-off (`cut_off_`, if it has one) says; a margin is the distance
    in log-odds from where the verdict turns. Numbers outside the training range are clipped to
    it, unless the model refuses them.

    Args:
        model: The model that is to honour the promises.
        digest: Its digest.
        at: The moment for which ages are counted, with a time zone.
        name: What to call the model; its digest, unless given.
        worst: How many broken promises to list.
        by: Columns of the promised rows to tell people by, by themselves and crossed.

    Attributes:
        name: What the model is called.

    Raises:
        ConfigError: `at` has no time zone, or `worst` is negative.
    """

    def __init__(
        self,
        model: Model,
        *,
        digest: str,
        at: datetime,
        name: str | None = None,
        worst: int = WORST,
        by: Sequence[str] = (),
    ) -> None:
        if at.utcoffset() is None:
            raise ConfigError(
                "at must be a time with a time zone, but got one without; give, for instance, "
                "datetime.now(UTC)."
            )
        if worst < 0:
            raise ConfigError(f"worst must be at least 0, but got {worst}; give 0 to list none.")
        self._model, self._digest, self._at = model, digest, at
        self._cut_off: CutOff | None = getattr(model, "cut_off_", None)
        self._limit, self._by = worst, tuple(by)
        # By their values: which quarter a number falls in is known at the end.
        self._by_values: Counter[tuple[Any, ...]] = Counter()
        self.name = digest if name is None else name
        self._reader = PromiseReader(model)
        self._total = _Count()
        self._by_age = {age: _Count() for age in AGES}
        self._by_issuer: dict[str, _Count] = {}
        self._by_status: dict[str, _Count] = {}
        self._reasons: dict[str, int] = {}
        self._worst: list[BrokenPromise] = []

    def add(self, page: "Sequence[Promise] | PromisedRows") -> Sequence[BrokenPromise]:
        """Judges some more promises, and takes them in.

        Returns:
            Those that the model does not honour or cannot read, in the order of the page.

        Raises:
            DataError: The model gives something else than probabilities.
        """
        part = self.judge(page)
        self.take(part)
        return part.failed

    def judge(
        self, page: "Sequence[Promise] | PromisedRows", *, all_failed: bool = True
    ) -> AuditPart:
        """Judges promises without taking them in: another auditor of the same model may do that.

        Args:
            page: The promises.
            all_failed: Whether to name all that are not honoured; else as many as are listed.

        Raises:
            DataError: The model gives something else than probabilities.
        """
        given = _columns(page)
        verdicts = self._judge(given.rows, given.desired)
        # Clocks differ by a little, and an audit may be of a day in the past.
        ages = [max((self._at - issued).days, 0) for issued in given.issued]
        buckets = [_NAMES[place] for place in np.searchsorted(_LAST_DAYS, ages).tolist()]
        honoured = verdicts.honoured.tolist()
        unread = [place in verdicts.reasons for place in range(len(honoured))]
        statuses = map(str, given.statuses)
        people = [tuple(row.get(name) for name in self._by) for row in given.rows]
        failed = [
            _record(given, place, ages[place], verdicts)
            for place in np.flatnonzero(~verdicts.honoured).tolist()
        ]
        return AuditPart(
            Counter(zip(given.models, statuses, buckets, honoured, unread, strict=True)),
            Counter(verdicts.reasons.values()),
            Counter(zip(people, honoured, unread, strict=True)) if self._by else {},
            failed if all_failed else _worst(failed, self._limit),
        )

    def take(self, part: AuditPart) -> None:
        """Takes in what was judged; parts in the order of their promises."""
        # Counted by kind, of which there are few.
        for (issuer, status, age, kept, unreadable), number in part.kinds.items():
            for count in (
                self._total,
                self._by_age[age],
                self._by_issuer.setdefault(_bounded(issuer, self._by_issuer), _Count()),
                self._by_status.setdefault(status, _Count()),
            ):
                count.promises += number
                count.honoured += number * kept
                count.unreadable += number * unreadable
        for reason, number in part.reasons.items():
            known = _bounded(reason, self._reasons)
            self._reasons[known] = self._reasons.get(known, 0) + number
        self._by_values.update(part.people)
        self._worst = _worst([*self._worst, *part.failed], self._limit)

    def resume(self, report: AuditReport) -> None:
        """Goes on from what another auditor of the same model found of promises before.

        Args:
            report: What it found, people by `by` left out.
        """
        self._total = _count(report.total)
        self._by_age = {age: _count(report.by_age[age]) for age in AGES}
        self._by_issuer = {key: _count(found) for key, found in report.by_issuer.items()}
        self._by_status = {key: _count(found) for key, found in report.by_status.items()}
        self._reasons = dict(report.unreadable)
        self._worst = list(report.worst)

    def report(self) -> AuditReport:
        """What was found so far, whatever the pages and the order of the promises."""
        issuers = sorted(self._by_issuer.items(), key=lambda item: (-item[1].promises, item[0]))
        return AuditReport(
            name=self.name,
            model=self._digest,
            at=self._at,
            total=self._total.tally(),
            by_age={age: count.tally() for age, count in self._by_age.items()},
            by_issuer={issuer: count.tally() for issuer, count in issuers},
            by_status={key: count.tally() for key, count in sorted(self._by_status.items())},
            unreadable=dict(sorted(self._reasons.items(), key=lambda item: (-item[1], item[0]))),
            worst=tuple(self._worst),
            by_segment=self._segments(),
        )

    def _segments(self) -> dict[str, AuditCounts]:
        if not self._by_values:
            return {}
        kinds, numbers = zip(*self._by_values.items(), strict=True)
        values = [
            kind[0] for kind, number in zip(kinds, numbers, strict=True) for _ in range(number)
        ]
        kept, unread = (
            np.repeat([kind[k] for kind in kinds], numbers).astype(bool) for k in (1, 2)
        )
        columns = dict(zip(self._by, zip(*values, strict=True), strict=True))
        return {
            name: AuditCounts(len(places), int(kept[places].sum()), int(unread[places].sum()))
            for name, places in segments(columns).items()
        }

    def _judge(self, rows: Sequence[Mapping[str, Any]], desired: Sequence[Any]) -> _Verdicts:
        reasons = self._reader.faults(rows, desired)
        places = np.array([k for k in range(len(rows)) if k not in reasons], dtype=int)
        readable = rows if not reasons else [rows[k] for k in places.tolist()]
        wanted = self._reader.places(desired if not reasons else [desired[k] for k in places])
        found = _Verdicts(
            np.zeros(len(rows), bool), np.full(len(rows), np.nan), np.zeros(len(rows)), reasons
        )
        probabilities = self._probabilities(readable)
        kept, found.probabilities[places], found.margins[places] = _verdicts(
            probabilities, np.array(wanted, dtype=int), self._cut_off
        )
        found.honoured[places] = kept & ~np.isnan(probabilities).any(axis=1)
        for place in places[np.isnan(probabilities).any(axis=1)].tolist():
            reasons[place] = _REFUSED
        return found

    def _probabilities(self, rows: Sequence[Mapping[str, Any]]) -> Floats:
        """Class probabilities, `[n, n_classes]`; NaN in the rows that the model refuses."""
        shape = (len(rows), len(self._model.classes_))
        if not rows:
            return np.empty(shape)
        # In the order of the schema, which is asked for where it was inferred.
        frame = pd.DataFrame({name: [row[name] for row in rows] for name in self._reader.names})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ClippedWarning)
                found = np.asarray(self._model.predict_proba(frame), dtype=np.float64)
        except DataError:
            if len(rows) == 1:
                return np.full(shape, np.nan)
            # Halved until the rows at fault stand alone: the others are still to be judged.
            half = len(rows) // 2
            return np.concatenate(
                [self._probabilities(part) for part in (rows[:half], rows[half:])]
            )
        if found.shape != shape or not np.isfinite(found).all():
            raise DataError(
                f"The model must give finite probabilities of shape {shape}, but gives others of "
                f"shape {found.shape}; train it again."
            )
        return found


def _verdicts(
    probabilities: Floats, wanted: np.ndarray[Any, np.dtype[np.int_]], cut_off: CutOff | None
) -> tuple[Flags, Floats, Floats]:
    """Whether the wanted classes are given, how probable they are, and their margins."""
    rows = np.arange(len(wanted))
    promised = probabilities[rows, wanted]
    # From where the verdict turns.
    others = probabilities.copy() if cut_off is None else cut_off.moved(probabilities)
    leading = others[rows, wanted]
    others[rows, wanted] = -np.inf
    margins = np.log(np.maximum(leading, _LEAST)) - np.log(np.maximum(others.max(1), _LEAST))
    # Not by the sign of the margin: of two equal ones, the first class is given.
    return verdicts(probabilities, cut_off) == wanted, promised, margins


def _worst(failed: Iterable[BrokenPromise], most: int) -> list[BrokenPromise]:
    """Those of broken promises that are furthest from being honoured, the worst first."""
    broken = (found for found in failed if found.reason is None)
    return sorted(broken, key=lambda found: (found.margin, found.id))[:most]


def _count(counted: AuditCounts) -> _Count:
    return _Count(counted.promises, counted.honoured, counted.unreadable)


def _bounded(key: str, counts: Mapping[str, object]) -> str:
    return key if key in counts or len(counts) < _MOST_KINDS else _OTHERS


def _record(given: _Page, place: int, age: int, found: _Verdicts) -> BrokenPromise:
    reason = found.reasons.get(place)
    return BrokenPromise(
        id=given.ids[place],
        subject=given.subjects[place],
        issuer=given.models[place],
        issued_at=given.issued[place],
        age_days=age,
        desired=given.desired[place],
        promised=given.probabilities[place],
        probability=None if reason else float(found.probabilities[place]),
        margin=None if reason else float(found.margins[place]),
        reason=reason,
    )


def _columns(page: "Sequence[Promise] | PromisedRows") -> _Page:
    if not isinstance(page, Sequence):
        return _Page(
            page.ids,
            page.subjects,
            page.models,
            page.statuses,
            page.issued,
            page.desired,
            page.probabilities,
            page.rows,
        )
    return _Page(
        [promise.id for promise in page],
        [promise.subject for promise in page],
        [promise.model for promise in page],
        [promise.status.value for promise in page],
        [promise.issued_at for promise in page],
        [promise.desired for promise in page],
        [promise.probability_after for promise in page],
        [promise.recourse for promise in page],
    )
