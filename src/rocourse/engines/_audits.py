"""Audits of a ledger in ranges of promises, side by side, with one connection a worker."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rocourse.artifacts import StoredModel
from rocourse.engines._engine import Engine
from rocourse.evaluation import Auditor, AuditPart
from rocourse.tables import split_names

# The ledger needs SQLAlchemy, which no other use of engines does.
if TYPE_CHECKING:
    from rocourse.ledger import Ledger

PAGE = 4096
# How many of them a task is.
_PAGES = 16


@dataclass(frozen=True)
class LedgerAudit:
    """An audit of one ledger by several models.

    Attributes:
        address: The ledger's; of a file the whole path, which every worker must see.
        models: The models, by what they are called.
        at: As of `Ledger.promised_rows`.
        since: As there.
        tenant: As there.
        worst: How many broken promises are listed.
        by: Columns to tell people by, in the form that `split_names` takes.
        all_failed: Whether parts name all promises that are not honoured.
        page: How many promises are judged at once. On every engine as many: the same rows in the
            same blocks give the same bits.
    """

    address: str
    models: dict[str, StoredModel]
    at: datetime
    since: datetime | None = None
    tenant: str | None = None
    worst: int = 1000
    by: tuple[str, ...] = ()
    all_failed: bool = False
    page: int = field(default_factory=lambda: PAGE)

    def auditors(self) -> list[Auditor]:
        """One for each model."""
        return [
            Auditor(
                judge,
                digest=judge.digest_,
                at=self.at,
                name=name,
                worst=self.worst,
                by=split_names(self.by, judge.schema_.names),
            )
            for name, stored in self.models.items()
            for judge in [stored()]
        ]

    def parts(self, ledger: "Ledger", engine: Engine) -> Iterator[Sequence[AuditPart]]:
        """What the models make of one page of promises after the other, to be taken in.

        Args:
            ledger: The ledger, opened here.
            engine: Where promises are judged.
        """
        if engine.kind == "local" and (engine.jobs or 1) == 1:
            yield from self.judged(ledger, self.auditors())
            return
        cuts = ledger.cuts(self.page * _PAGES, **self._which)
        tasks = [partial(_judge, *ends) for ends in pairwise([None, *cuts, None])]
        with engine.pool(partial(_Worker, self), most=len(tasks)) as pool:
            for done in pool.in_order(tasks):
                yield from done.result()

    def judged(
        self, ledger: "Ledger", auditors: Sequence[Auditor], **ends: Any
    ) -> Iterator[list[AuditPart]]:
        """What auditors make of promises, all of them or between two ids, page by page."""
        for page in ledger.promised_rows(**self._which, page=self.page, **ends):
            parts = [judge.judge(page, all_failed=self.all_failed) for judge in auditors]
            # Let go of before the next page is read.
            del page
            yield parts

    @property
    def _which(self) -> dict[str, Any]:
        return {"at": self.at, "since": self.since, "tenant": self.tenant}


class _Worker:
    """A connection to the ledger, and the models, of one process."""

    def __init__(self, audit: LedgerAudit) -> None:
        from rocourse.ledger import Ledger

        self.audit, self.auditors = audit, audit.auditors()
        self.ledger = Ledger.open(audit.address, create=False)


def _judge(after: str | None, until: str | None, worker: _Worker) -> list[list[AuditPart]]:
    return list(worker.audit.judged(worker.ledger, worker.auditors, after=after, until=until))
