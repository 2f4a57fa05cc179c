"""What an audit found: counts, shares with their uncertainty, and the promises to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import sqrt
from typing import Any, Self

from rocourse._lazy import above
from rocourse.evaluation._results import check_format

FORMAT = "rocourse-audit"
VERSION = 1

AGES: Mapping[str, int | None] = {
    "0-30": 30,
    "31-90": 90,
    "91-180": 180,
    "181-365": 365,
    ">365": None,
}
"""Days since issue: the last day of each bucket, by its name."""

# The 97.5% quantile of the normal distribution: 95% lie between it and its negative.
_Z = 1.959963984540054


def wilson_interval(honoured: int, promises: int) -> tuple[float, float] | None:
    """The 95% confidence interval of a share, by Wilson's score; None of no promises.

    Unlike the usual `p ± 1.96 s`, it stays between 0 and 1 and does not shrink to a point where all
    promises were kept, which is the case that matters most here.
    """
    if promises == 0:
        return None
    share, spread = honoured / promises, _Z**2 / promises
    centre = share + spread / 2
    reach = _Z * sqrt((share * (1 - share) + spread / 4) / promises)
    # At the ends the formula is exact, but rounding is not.
    low = 0.0 if honoured == 0 else (centre - reach) / (1 + spread)
    high = 1.0 if honoured == promises else (centre + reach) / (1 + spread)
    return low, high


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """Some promises, counted by what a model makes of them.

    Attributes:
        promises: All of them.
        honoured: Those whose promised row the model gives the promised class.
        unreadable: Those that the model cannot read; they are not honoured either.
    """

    promises: int = 0
    honoured: int = 0
    unreadable: int = 0

    @property
    def broken(self) -> int:
        """Those that the model reads, and gives another class."""
        return self.promises - self.honoured - self.unreadable

    @property
    def share(self) -> float | None:
        """The share honoured; None of no promises."""
        return self.honoured / self.promises if self.promises else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% confidence interval of the share."""
        return wilson_interval(self.honoured, self.promises)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values, with what follows from the counts."""
        interval = self.interval
        return {
            **asdict(self),
            "broken": self.broken,
            "share": self.share,
            "interval": None if interval is None else list(interval),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls(record["promises"], record["honoured"], record["unreadable"])


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenPromise:
    """One promise that the audited model does not honour.

    It names the promise and the subject, and holds nothing of the row.

    Attributes:
        id: Of the promise, in the ledger.
        subject: The reference that it was issued with.
        issuer: Digest of the model that issued it.
        issued_at: When.
        age_days: Whole days since then.
        desired: The class that was promised.
        promised: The probability of that class by the model that issued it.
        probability: The same by the audited model; None if it cannot read the row.
        margin: Log-odds of that class against the best other one by the audited model: the further
            below zero, the further from being honoured. None if it cannot read the row.
        reason: Why it cannot read the row; None if it can.
    """

    id: str
    subject: str | None
    issuer: str
    issued_at: datetime
    age_days: int
    desired: Any
    promised: float
    probability: float | None
    margin: float | None
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {**asdict(self), "issued_at": self.issued_at.isoformat()}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls(**{**record, "issued_at": datetime.fromisoformat(record["issued_at"])})


_Kind = tuple[str, str, str, bool, bool]
"""Issuer, status, age, whether it is honoured, and whether it cannot be read."""


@dataclass(frozen=True, slots=True)
class AuditPart:
    """What a model makes of some promises, to be taken in by an `Auditor` after those before them.

    Attributes:
        kinds: How many there are of each kind, in the order in which they were met.
        reasons: How many cannot be read, by reason, likewise.
        people: How many there are by what people are told by, kept or not, unread or not.
        failed: Those that are not honoured, in their order; or the worst of them.
    """

    kinds: Mapping[_Kind, int]
    reasons: Mapping[str, int]
    people: Mapping[tuple[Any, ...], int]
    failed: Sequence[BrokenPromise]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What one model makes of the promises that are owed.

    Attributes:
        name: What the model is called: a path, a year.
        model: Its digest.
        at: The moment for which ages were counted.
        total: All promises.
        by_age: The same by days since issue, keys `AGES`.
        by_issuer: The same by digest of the model that issued them, those with most promises first.
        by_status: The same by what is recorded of them: open, or broken by an earlier model.
        unreadable: Number of promises that the model cannot read, by reason, the largest first.
        by_segment: The same by segment of people, where it was asked for.
        worst: The broken promises furthest from being honoured, the worst first; not all of them
            where there are many.
    """

    name: str
    model: str
    at: datetime
    total: AuditCounts
    by_age: Mapping[str, AuditCounts]
    by_issuer: Mapping[str, AuditCounts]
    by_status: Mapping[str, AuditCounts]
    unreadable: Mapping[str, int]
    worst: tuple[BrokenPromise, ...]
    by_segment: Mapping[str, AuditCounts] = field(default_factory=dict)

    _repr_html_ = above("rocourse.reports", "audit_html", "plots")

    def __repr__(self) -> str:
        total = self.total
        return f"<AuditReport of {self.name}: {total.honoured} of {total.promises} honoured>"

    def meets(self, required: float) -> bool:
        """Whether at least this share is honoured; of no promises, it is."""
        return self.total.share is None or self.total.share >= required

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "model": self.model,
            "at": self.at.isoformat(),
            "total": self.total.to_dict(),
            "by_age": {age: tally.to_dict() for age, tally in self.by_age.items()},
            "by_issuer": {issuer: tally.to_dict() for issuer, tally in self.by_issuer.items()},
            "by_status": {status: tally.to_dict() for status, tally in self.by_status.items()},
            "by_segment": {name: tally.to_dict() for name, tally in self.by_segment.items()},
            "unreadable": dict(self.unreadable),
            "worst": [promise.to_dict() for promise in self.worst],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`.

        Raises:
            ArtifactError: The record is none of an audit, or of another version.
        """
        remedy = "audit again with this release of rocourse"
        check_format(record, FORMAT, VERSION, what="An audit", remedy=remedy)
        return cls(
            name=record["name"],
            model=record["model"],
            at=datetime.fromisoformat(record["at"]),
            total=AuditCounts.from_dict(record["total"]),
            by_age={age: AuditCounts.from_dict(found) for age, found in record["by_age"].items()},
            by_issuer={
                key: AuditCounts.from_dict(found) for key, found in record["by_issuer"].items()
            },
            # Audits of before judged open promises only, and said nothing of it.
            by_status={
                key: AuditCounts.from_dict(found)
                for key, found in record.get("by_status", {"open": record["total"]}).items()
            },
            by_segment={
                key: AuditCounts.from_dict(found)
                for key, found in record.get("by_segment", {}).items()
            },
            unreadable=dict(record["unreadable"]),
            worst=tuple(BrokenPromise.from_dict(found) for found in record["worst"]),
        )
