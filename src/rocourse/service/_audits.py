"""The audit view: how open promises fare before the model in service and its candidates."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from rocourse.artifacts import model_digest
from rocourse.evaluation import AuditCounts, AuditReport, audit
from rocourse.ledger import Ledger
from rocourse.service._backend import Backend, iso
from rocourse.service._decider import Decider

# A view, not a record: seconds old will do, and someone who reloads the page must not set the
# service to work each time.
_FRESH_SECONDS = 5.0
_LISTED = 100


class LedgerAuditor:
    """Audits a backend's ledger, one audit at a time."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self._lock = backend, Lock()
        self._last: tuple[float, str, dict[str, Any]] | None = None

    def report(self, ledger: Ledger) -> dict[str, Any]:
        """The audit, as the page shows it."""
        with self._lock:
            decider = self._backend.decider
            if self._last is not None:
                then, digest, report = self._last
                if digest == decider.digest and time.monotonic() - then < _FRESH_SECONDS:
                    return report
            report = self._audit(ledger, decider)
            self._last = (time.monotonic(), decider.digest, report)
            return report

    def _audit(self, ledger: Ledger, decider: Decider) -> dict[str, Any]:
        now, settings = datetime.now(UTC), self._backend.settings
        judges = [("in service", decider)]
        judges += [
            (path.name, _candidate(path, model_digest(path), settings.model_from))
            for path in settings.candidates
        ]
        reports = [
            audit(
                ledger.open_promises(at=now),
                judge.model,
                digest=judge.digest,
                at=now,
                name=name,
                worst=_LISTED,
            )
            for name, judge in judges
        ]
        return {
            "at": iso(now, "seconds"),
            "promises": ledger.counts(at=now),
            "models": [_document(report) for report in reports],
        }


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
