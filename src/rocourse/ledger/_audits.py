"""Audits that were asked for: how far each is, and what it found.

They outlive the process that does them, and another one can go on where it ended. They hold counts
and ids, and nothing personal; a copy of the ledger has none, for they can be had again.
"""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from rocourse.ledger._checks import check_name
from rocourse.ledger._database import Database
from rocourse.ledger._ids import is_id
from rocourse.ledger._tables import audits

# Of each tenant.
_KEPT = 64


@dataclass(frozen=True, kw_only=True)
class AuditRecord:
    """An audit as it is written down.

    Attributes:
        id: What to ask for it by.
        tenant: Whose promises.
        model: Digest of the model that judges them.
        runner: The process that does it, or did.
        state: How far it is.
        seen: When the runner last wrote this.
        document: What the runner has to know to go on, and what was found; JSON.
    """

    id: str
    tenant: str
    model: str
    runner: str
    state: str
    seen: datetime
    document: str


class AuditRecords:
    """What is known of audits; it is had as `Ledger.audits`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, record: AuditRecord) -> None:
        """Writes down a new one, and forgets the tenant's oldest beyond a few dozen."""
        check_name("tenant", record.tenant)
        own = audits.c.tenant == record.tenant
        newest = sa.select(audits.c.id).where(own).order_by(audits.c.id.desc()).limit(_KEPT)
        with self._database.write() as connection:
            connection.execute(audits.insert().values(vars(record)))
            kept = connection.execute(newest).scalars().all()
            connection.execute(sa.delete(audits).where(own, audits.c.id < kept[-1]))

    def write(self, record: AuditRecord, *, before: AuditRecord | None = None) -> bool:
        """Writes down how far one is.

        Args:
            record: What to write.
            before: To take it over: what was read of it.

        Returns:
            False if that is another runner's by now, and nothing was written.
        """
        own = [audits.c.id == record.id]
        if before is None:
            own += [audits.c.runner == record.runner]
        else:
            own += [audits.c.runner == before.runner, audits.c.seen == before.seen]
        with self._database.write() as connection:
            done = connection.execute(sa.update(audits).where(*own).values(vars(record)))
            return done.rowcount == 1

    def find(self, id: str, *, tenant: str) -> AuditRecord | None:
        """One of a tenant's; None if there is none of this id."""
        if not is_id(id):
            return None
        return self._read(audits.c.id == id, audits.c.tenant == tenant)

    def latest(self, *, tenant: str, model: str) -> AuditRecord | None:
        """The one that a tenant asked for last while a model was in service; None if never."""
        return self._read(audits.c.tenant == tenant, audits.c.model == model)

    def _read(self, *own: sa.ColumnElement[bool]) -> AuditRecord | None:
        query = sa.select(audits).where(*own).order_by(audits.c.id.desc()).limit(1)
        with self._database.read() as connection:
            found = connection.execute(query).mappings().one_or_none()
        return None if found is None else AuditRecord(**found)
