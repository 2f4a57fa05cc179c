"""Whether a model honours the promises that were made before it.

Promises come page by page, and only counts and the worst of them are kept: a million take no more
memory than a thousand.
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from rocourse.errors import ConfigError, DataError
from rocourse.evaluation._audit_reading import PromiseReader
from rocourse.evaluation._audit_report import AGES, AuditCounts, AuditReport, BrokenPromise
from rocourse.evaluation._model import Model
from rocourse.schema import ClippedWarning, CutOff, verdicts

# For its record alone: the ledger needs SQLAlchemy, which an evaluation without one does not.
if TYPE_CHECKING:
    from rocourse.ledger import Promise

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


class _Verdict(NamedTuple):
    honoured: bool
    probability: float | None = None
    margin: float | None = None
    reason: str | None = None


@dataclass(slots=True)
class _Count:
    """A tally while it is counted."""

    promises: int = 0
    honoured: int = 0
    unreadable: int = 0

    def tally(self) -> AuditCounts:
        return AuditCounts(self.promises, self.honoured, self.unreadable)


def audit(
    pages: "Iterable[Sequence[Promise]]",
    model: Model,
    *,
    digest: str,
    at: datetime,
    name: str | None = None,
    worst: int = WORST,
) -> AuditReport:
    """Judges promises by a model.

    Args:
        pages: The promises, as `Ledger.open_promises` gives them.
        model: The model that is to honour them.
        digest: Its digest.
        at: The moment for which ages are counted, with a time zone.
        name: What to call the model; its digest, unless given.
        worst: How many broken promises to list.
    """
    auditor = Auditor(model, digest=digest, at=at, name=name, worst=worst)
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
        self._limit = worst
        self.name = digest if name is None else name
        self._reader = PromiseReader(model)
        self._total = _Count()
        self._by_age = {age: _Count() for age in AGES}
        self._by_issuer: dict[str, _Count] = {}
        self._reasons: dict[str, int] = {}
        self._worst: list[BrokenPromise] = []

    def add(self, page: "Sequence[Promise]") -> list[BrokenPromise]:
        """Judges some more promises.

        Returns:
            Those that the model does not honour or cannot read, in the order of the page.

        Raises:
            DataError: The model gives something else than probabilities.
        """
        failed = []
        for promise, verdict in zip(page, self._judge(page), strict=True):
            # Clocks differ by a little, and an audit may be of a day in the past.
            age = max((self._at - promise.issued_at).days, 0)
            self._count(promise.model, _bucket(age), verdict)
            if not verdict.honoured:
                failed.append(_record(promise, age, verdict))
        self._keep(found for found in failed if found.reason is None)
        return failed

    def report(self) -> AuditReport:
        """What was found so far, whatever the pages and the order of the promises."""
        self._trim()
        issuers = sorted(self._by_issuer.items(), key=lambda item: (-item[1].promises, item[0]))
        return AuditReport(
            name=self.name,
            model=self._digest,
            at=self._at,
            total=self._total.tally(),
            by_age={age: count.tally() for age, count in self._by_age.items()},
            by_issuer={issuer: count.tally() for issuer, count in issuers},
            unreadable=dict(sorted(self._reasons.items(), key=lambda item: (-item[1], item[0]))),
            worst=tuple(self._worst),
        )

    def _count(self, issuer: str, age: str, verdict: _Verdict) -> None:
        issued = self._by_issuer.setdefault(_bounded(issuer, self._by_issuer), _Count())
        for count in (self._total, self._by_age[age], issued):
            count.promises += 1
            count.honoured += verdict.honoured
            count.unreadable += verdict.reason is not None
        if verdict.reason is not None:
            reason = _bounded(verdict.reason, self._reasons)
            self._reasons[reason] = self._reasons.get(reason, 0) + 1

    def _keep(self, broken: Iterable[BrokenPromise]) -> None:
        for found in broken:
            self._worst.append(found)
            # Sorted now and then, which costs less than keeping a heap in order.
            if len(self._worst) > 2 * self._limit + 100:
                self._trim()

    def _trim(self) -> None:
        self._worst.sort(key=lambda found: (found.margin, found.id))
        del self._worst[self._limit :]

    def _judge(self, page: "Sequence[Promise]") -> list[_Verdict]:
        reader = self._reader
        reasons = [reader.fault(promise.recourse, promise.desired) for promise in page]
        readable = [
            promise for promise, reason in zip(page, reasons, strict=True) if reason is None
        ]
        rows = [promise.recourse for promise in readable]
        wanted = np.array([reader.place(promise.desired) for promise in readable], dtype=int)
        judged = iter(_verdicts(self._probabilities(rows), wanted, self._cut_off))
        return [
            next(judged) if reason is None else _Verdict(False, reason=reason) for reason in reasons
        ]

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
) -> list[_Verdict]:
    rows = np.arange(len(wanted))
    promised = probabilities[rows, wanted]
    # From where the verdict turns.
    others = probabilities.copy() if cut_off is None else cut_off.moved(probabilities)
    leading = others[rows, wanted]
    others[rows, wanted] = -np.inf
    margins = np.log(np.maximum(leading, _LEAST)) - np.log(np.maximum(others.max(1), _LEAST))
    # Not by the sign of the margin: of two equal ones, the first class is given.
    honoured = verdicts(probabilities, cut_off) == wanted
    return [
        _Verdict(False, reason=_REFUSED)
        if math.isnan(probability)
        else _Verdict(kept, probability, margin)
        for kept, probability, margin in zip(
            honoured.tolist(), promised.tolist(), margins.tolist(), strict=True
        )
    ]


def _bucket(age: int) -> str:
    return next(name for name, last in AGES.items() if last is None or age <= last)


def _bounded(key: str, counts: Mapping[str, object]) -> str:
    return key if key in counts or len(counts) < _MOST_KINDS else _OTHERS


def _record(promise: "Promise", age: int, verdict: _Verdict) -> BrokenPromise:
    return BrokenPromise(
        id=promise.id,
        subject=promise.subject,
        issuer=promise.model,
        issued_at=promise.issued_at,
        age_days=age,
        desired=promise.desired,
        promised=promise.probability_after,
        probability=verdict.probability,
        margin=verdict.margin,
        reason=verdict.reason,
    )
