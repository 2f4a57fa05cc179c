"""Audits: how what is owed fares before the model in service and its candidates.

An audit of many promises takes minutes, which no request may. It is a job: asked for, looked at
until it is done, and kept in the ledger, where any process of the service finds it. There is one at
a time, and who asks for what is under way already gets that one. One whose process has ended is
interrupted; who asks again has it go on from the last promises that were written down as judged.
"""

import asyncio
import json
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from threading import Event, Lock
from typing import Any, Literal, Self, cast

from rocourse.artifacts import model_digest
from rocourse.errors import LedgerError, RocourseError
from rocourse.evaluation import FEW, AuditCounts, Auditor, AuditReport
from rocourse.ledger import AuditRecord, PromisedRows, new_id
from rocourse.service._backend import Backend, iso
from rocourse.service._decider import Decider
from rocourse.service._erasures import ledgers_of
from rocourse.service._lanes import Busy, Lane
from rocourse.service._watching import drift_document, watch_promises

log = logging.getLogger("rocourse.service")

# A view, not a record: seconds old will do, and someone who reloads the page must not set the
# service to work each time.
_FRESH = timedelta(seconds=5)
_LISTED = 100
# Audits that may wait, and that are remembered here if they cannot be written down.
_MOST_WAITING, _KEPT = 16, 64
# Promises that are judged at a time; then decisions have their turn.
_PAGE = 500
_PAUSE = 0.2
# How long a database that does not answer is asked again, and how often.
_PATIENCE, _AGAIN = 60.0, 1.0
# How often it is written down how far an audit is; after what silence its process is taken to have
# ended; and how old an audit may be for another process to go on with it.
_NOTED_SECONDS, _SILENCE, _RESUMED = 5.0, timedelta(seconds=90), timedelta(days=1)
_LOOK_SECONDS = 0.01

_INTERRUPTED = (
    "The process that did the audit has ended; ask for an audit again, and it goes on from there."
)

State = Literal["waiting", "running", "done", "failed", "interrupted"]


class _Ended(Exception):
    """The service ends."""


class _TakenOver(Exception):
    """Another process does it by now."""


@dataclass
class Audit:
    """An audit that was asked for.

    Attributes:
        id: What to ask for it by.
        tenant: Whose promises.
        digest: Of the model that was in service.
        at: The moment for which promises are judged.
        state: How far it is.
        judged: Promises that were judged so far.
        after: The last of them.
        found: What was found of them, by model.
        report: What was found, once it is done.
        detail: Why it failed, if so.
    """

    id: str
    tenant: str
    digest: str
    at: datetime
    state: State = "waiting"
    judged: int = 0
    after: str | None = None
    found: list[dict[str, Any]] = field(default_factory=list)
    report: dict[str, Any] | None = None
    detail: str | None = None

    @property
    def under_way(self) -> bool:
        """Whether there is something to wait for."""
        return self.state in ("waiting", "running")

    def document(self) -> dict[str, Any]:
        """As callers see it."""
        return {
            "id": self.id,
            "status": self.state,
            "judged": self.judged,
            "detail": _INTERRUPTED if self.state == "interrupted" else self.detail,
            "report": self.report,
        }

    def record(self, runner: str, seen: datetime) -> AuditRecord:
        """As it is written down."""
        content = {
            "at": self.at.isoformat(),
            "judged": self.judged,
            "after": self.after,
            # Of no more use once there is a report.
            "found": [] if self.report else self.found,
            "report": self.report,
            "detail": self.detail,
        }
        return AuditRecord(
            id=self.id,
            tenant=self.tenant,
            model=self.digest,
            runner=runner,
            state=self.state,
            seen=seen,
            document=json.dumps(content),
        )

    @classmethod
    def of(cls, record: AuditRecord, now: datetime) -> Self:
        """One that was written down, by another process or in another life of this one."""
        content = json.loads(record.document)
        content["at"] = datetime.fromisoformat(content["at"])
        state = cast(State, record.state)
        found = cls(record.id, record.tenant, record.model, state=state, **content)
        if found.under_way and now - record.seen > _SILENCE:
            found.state = "interrupted"
        return found


class Audits:
    """The audits of a backend's ledger, done one after the other in a thread."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self._lock, self._stop = backend, Lock(), Event()
        self._lane = Lane("audit", threads=1, most=_MOST_WAITING)
        self._runner = new_id()
        # Those that are done here, and those that could not be written down.
        self._own: dict[str, Audit] = {}

    def start(self, tenant: str) -> Audit:
        """Asks for an audit of a tenant's promises, or finds the one that will do.

        Raises:
            Busy: Too many are waiting.
            LedgerError: It cannot be written down.
        """
        with self._lock:
            digest, now = self._backend.decider.digest, self._backend.clock()
            under_way = [audit for audit in self._own.values() if audit.under_way]
            for audit in under_way:
                if (audit.tenant, audit.digest) == (tenant, digest):
                    return audit
            if len(under_way) >= _MOST_WAITING:
                raise Busy(_PATIENCE)
            records = ledgers_of(self._backend).writing.audits
            record = records.latest(tenant=tenant, model=digest)
            if record is not None:
                before = Audit.of(record, now)
                if before.under_way or (before.state == "done" and now - record.seen < _FRESH):
                    return before
                if before.state == "interrupted" and now - before.at < _RESUMED:
                    before.state = "waiting"
                    mine = records.write(before.record(self._runner, now), before=record)
                    # Else another process was quicker.
                    return self._submit(before) if mine else before
            audit = Audit(new_id(), tenant, digest, now)
            records.add(audit.record(self._runner, now))
            return self._submit(audit)

    def find(self, id: str, tenant: str) -> Audit | None:
        """An audit that was asked for; None if the tenant has asked for none such, or long ago.

        Raises:
            LedgerError: The ledger cannot be read.
        """
        found = self._own.get(id)
        if found is not None:
            return found if found.tenant == tenant else None
        record = ledgers_of(self._backend).reading.audits.find(id, tenant=tenant)
        return None if record is None else Audit.of(record, self._backend.clock())

    async def close(self, within: float) -> None:
        """Ends the one that is running after its page, and forgets those that wait."""
        self._stop.set()
        self._lane.close()
        until = time.monotonic() + within
        while not self.idle and time.monotonic() < until:
            await asyncio.sleep(_LOOK_SECONDS)

    @property
    def idle(self) -> bool:
        """Whether none is running."""
        return self._lane.idle

    def _submit(self, audit: Audit) -> Audit:
        self._own[audit.id] = audit
        over = [id for id, one in self._own.items() if not one.under_way]
        for id in over[: max(0, len(self._own) - _KEPT)]:
            del self._own[id]
        self._lane.submit(self._run, audit)
        return audit

    def _run(self, audit: Audit) -> None:
        state: State = "failed"
        audit.state = "running"
        try:
            audit.report = self._report(audit)
            state = "done"
        except _Ended:
            state = "interrupted"
        except _TakenOver:
            del self._own[audit.id]
            return
        except RocourseError as error:
            audit.detail = str(error)
        except Exception as error:
            # Not the message, which may quote a row.
            log.error("audit %s failed with %s", audit.id, type(error).__name__)
            audit.detail = "The audit failed where it should not; the service's log says where."
        self._finish(audit, state)
        if self._stop.is_set():
            for waiting in [one for one in self._own.values() if one.under_way]:
                self._finish(waiting, "interrupted")

    def _finish(self, audit: Audit, state: State) -> None:
        """Writes down what became of an audit; what cannot be written is remembered here."""
        until, written = time.monotonic() + _PATIENCE, False
        while not written and time.monotonic() < until:
            try:
                self._write(replace(audit, state=state))
                written = True
            except LedgerError:
                if self._stop.wait(_AGAIN):
                    break
            except _TakenOver:
                break
        # Found in one place or the other at any time.
        audit.state = state
        if written:
            del self._own[audit.id]

    def _write(self, audit: Audit) -> None:
        records = ledgers_of(self._backend).auditing.audits
        if not records.write(audit.record(self._runner, self._backend.clock())):
            raise _TakenOver

    def _report(self, audit: Audit) -> dict[str, Any]:
        ledger, auditors = ledgers_of(self._backend).auditing, self._auditors(audit)
        noted = time.monotonic()
        for page in self._pages(audit):
            began = time.monotonic()
            for auditor in auditors:
                auditor.add(page)
            audit.judged, audit.after = audit.judged + len(page), page.ids[-1]
            # Whoever decides needs the interpreter too.
            ended = self._stop.wait(_PAUSE * (time.monotonic() - began))
            if ended or time.monotonic() - noted >= _NOTED_SECONDS:
                audit.found = [_partial(auditor.report()) for auditor in auditors]
                noted = time.monotonic()
                if ended:
                    raise _Ended
                # A database that is away has it written down later.
                with suppress(LedgerError):
                    self._write(audit)
        return {
            "at": iso(audit.at, "seconds"),
            "promises": ledger.counts(at=audit.at, tenant=audit.tenant),
            "models": [_document(auditor.report()) for auditor in auditors],
            "drift": drift_document(watch_promises(self._backend.decider, ledger, audit.tenant)),
        }

    def _auditors(self, audit: Audit) -> list[Auditor]:
        """For each model one that goes on from what was found before, if that was of the same."""
        settings = self._backend.settings
        judges = [("in service", self._backend.decider)]
        judges += [
            (path.name, _candidate(path, model_digest(path), settings.model_from))
            for path in settings.candidates
        ]
        auditors = [
            Auditor(
                judge.model,
                digest=judge.digest,
                at=audit.at,
                name=name,
                worst=_LISTED,
                by=settings.by,
            )
            for name, judge in judges
        ]
        before = [AuditReport.from_dict(one) for one in audit.found]
        same = [(one.name, one.model) for one in before] == [(name, j.digest) for name, j in judges]
        # What was written down says nothing of people.
        if same and not settings.by:
            for auditor, report in zip(auditors, before, strict=True):
                auditor.resume(report)
        else:
            audit.judged, audit.after, audit.found = 0, None, []
        return auditors

    def _pages(self, audit: Audit) -> Iterator[PromisedRows]:
        """What is owed, page by page; a database that is away for a while is waited for."""
        ledger, until = ledgers_of(self._backend).auditing, time.monotonic() + _PATIENCE
        while True:
            try:
                for page in ledger.promised_rows(
                    at=audit.at, page=_PAGE, after=audit.after, tenant=audit.tenant
                ):
                    yield page
                    until = time.monotonic() + _PATIENCE
                return
            except LedgerError:
                if time.monotonic() > until:
                    raise
                if self._stop.wait(_AGAIN):
                    raise _Ended from None


def _partial(report: AuditReport) -> dict[str, Any]:
    """What was found so far, without what is personal or may quote a row."""
    worst = tuple(replace(one, subject=None) for one in report.worst)
    return replace(report, worst=worst, unreadable={}, by_segment={}).to_dict()


@lru_cache(maxsize=16)
def _candidate(path: Path, _: str, model_from: str | None) -> Decider:
    # By its digest besides: one that was trained anew is read anew.
    return Decider.load(path, model_from)


def _document(report: AuditReport) -> dict[str, Any]:
    return {
        "digest": report.model,
        "name": report.name,
        **_tally(report.total),
        "by_issuer": _tallies("issuer", report.by_issuer),
        "by_age": _tallies("days", report.by_age),
        "by_people": [
            {"people": name, "few": tally.promises < FEW, **_tally(tally)}
            for name, tally in report.by_segment.items()
        ],
        "broken": [
            {
                "id": found.id,
                "issued_at": iso(found.issued_at, "seconds"),
                "issuer": found.issuer,
                "margin": found.margin,
                "probability": found.probability,
            }
            for found in report.worst
        ],
    }


def _tallies(kind: str, tallies: Mapping[str, AuditCounts]) -> list[dict[str, Any]]:
    return [{kind: name, **_tally(tally)} for name, tally in tallies.items()]


def _tally(tally: AuditCounts) -> dict[str, Any]:
    low, high = tally.interval or (None, None)
    return {
        "judged": tally.promises,
        "honoured": tally.honoured,
        "unreadable": tally.unreadable,
        "share": tally.share,
        "low": low,
        "high": high,
    }
