"""Audits: how what is owed fares before the model in service and its candidates.

An audit of many promises takes minutes, which no request may. It is a job: asked for, looked at
until it is done, and kept for a while. There is one at a time, and who asks for what is under way
already gets that one.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Event, Lock
from typing import Any, Literal

from rocourse.artifacts import model_digest
from rocourse.errors import LedgerError, RocourseError
from rocourse.evaluation import AuditCounts, Auditor, AuditReport
from rocourse.ledger import Ledger, PromisedRows, new_id
from rocourse.service._backend import Backend, iso
from rocourse.service._decider import Decider
from rocourse.service._lanes import Busy, Lane
from rocourse.service._watching import drift_document, watch_promises

log = logging.getLogger("rocourse.service")

# A view, not a record: seconds old will do, and someone who reloads the page must not set the
# service to work each time.
_FRESH_SECONDS = 5.0
_LISTED = 100
# Audits that are remembered, and of these the ones that may be waiting.
_KEPT, _MOST_WAITING = 64, 16
# Promises that are judged at a time; then decisions have their turn.
_PAGE = 500
_PAUSE = 0.2
# How long a database that does not answer is asked again for a page, and how often.
_PATIENCE, _AGAIN = 60.0, 1.0

State = Literal["waiting", "running", "done", "failed"]


@dataclass
class Audit:
    """An audit that was asked for.

    Attributes:
        id: What to ask for it by.
        tenant: Whose promises.
        digest: Of the model that was in service.
        state: How far it is.
        judged: Promises that were judged so far.
        changed: When the state changed, by a clock that only goes forward.
        report: What was found, once it is done.
        detail: Why it failed, if so.
    """

    id: str
    tenant: str
    digest: str
    state: State = "waiting"
    judged: int = 0
    changed: float = 0.0
    report: dict[str, Any] | None = None
    detail: str | None = None

    def become(self, state: State) -> None:
        """Enters another state."""
        self.state, self.changed = state, time.monotonic()

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
            "detail": self.detail,
            "report": self.report,
        }


class Audits:
    """The audits of a backend's ledger, done one after the other in a thread."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self._lock, self._stop = backend, Lock(), Event()
        self._lane = Lane("audit", threads=1, most=_MOST_WAITING)
        self._kept: dict[str, Audit] = {}

    def start(self, ledger: Ledger, tenant: str) -> Audit:
        """Asks for an audit of a tenant's promises, or finds the one that will do.

        Raises:
            Busy: Too many are waiting.
        """
        with self._lock:
            digest = self._backend.decider.digest
            for audit in reversed(self._kept.values()):
                if (audit.tenant, audit.digest) == (tenant, digest) and self._will_do(audit):
                    return audit
            if sum(audit.under_way for audit in self._kept.values()) >= _MOST_WAITING:
                raise Busy(_PATIENCE)
            audit = Audit(new_id(), tenant, digest)
            self._kept[audit.id] = audit
            done = [id for id, one in self._kept.items() if not one.under_way]
            for id in done[: max(0, len(self._kept) - _KEPT)]:
                del self._kept[id]
        self._lane.submit(self._run, audit, ledger)
        return audit

    def find(self, id: str, tenant: str) -> Audit | None:
        """An audit that was asked for; None if the tenant has asked for none such, or long ago."""
        found = self._kept.get(id)
        return found if found is not None and found.tenant == tenant else None

    def close(self) -> None:
        """Ends the one that is running after its page, and forgets those that wait."""
        self._stop.set()
        self._lane.close()

    @property
    def idle(self) -> bool:
        """Whether none is running."""
        return self._lane.idle

    def _will_do(self, audit: Audit) -> bool:
        fresh = time.monotonic() - audit.changed < _FRESH_SECONDS
        return audit.under_way or (audit.state == "done" and fresh)

    def _run(self, audit: Audit, ledger: Ledger) -> None:
        audit.become("running")
        try:
            audit.report = self._report(audit, ledger)
            audit.become("done")
        except RocourseError as error:
            audit.detail = str(error)
            audit.become("failed")
        except Exception as error:
            # Not the message, which may quote a row.
            log.error("audit %s failed with %s", audit.id, type(error).__name__)
            audit.detail = "The audit failed where it should not; the service's log says where."
            audit.become("failed")

    def _report(self, audit: Audit, ledger: Ledger) -> dict[str, Any]:
        now, settings = self._backend.clock(), self._backend.settings
        judges = [("in service", self._backend.decider)]
        judges += [
            (path.name, _candidate(path, model_digest(path), settings.model_from))
            for path in settings.candidates
        ]
        auditors = [
            Auditor(judge.model, digest=judge.digest, at=now, name=name, worst=_LISTED)
            for name, judge in judges
        ]
        for page in self._pages(ledger, now, audit.tenant):
            began = time.monotonic()
            for auditor in auditors:
                auditor.add(page)
            audit.judged += len(page)
            # Whoever decides needs the interpreter too.
            if self._stop.wait(_PAUSE * (time.monotonic() - began)):
                raise LedgerError("The audit was not finished, for the service ends; ask again.")
        return {
            "at": iso(now, "seconds"),
            "promises": ledger.counts(at=now, tenant=audit.tenant),
            "models": [_document(auditor.report()) for auditor in auditors],
            "drift": drift_document(watch_promises(self._backend.decider, ledger, audit.tenant)),
        }

    def _pages(self, ledger: Ledger, at: Any, tenant: str) -> Iterator[PromisedRows]:
        """What is owed, page by page; a database that is away for a while is waited for."""
        after, until = None, time.monotonic() + _PATIENCE
        while True:
            try:
                for page in ledger.promised_rows(at=at, page=_PAGE, after=after, tenant=tenant):
                    yield page
                    after, until = page.ids[-1], time.monotonic() + _PATIENCE
                return
            except LedgerError:
                if time.monotonic() > until or self._stop.wait(_AGAIN):
                    raise


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
