"""What whoever answers for a ledger does with it."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import BinaryIO

import sqlalchemy as sa

from rocourse.errors import LedgerError
from rocourse.ledger._backup import back_up, restore
from rocourse.ledger._chain import Head, read_head
from rocourse.ledger._checks import check_days, check_name, check_text
from rocourse.ledger._database import Database
from rocourse.ledger._erasing import Erasure, erase, erasures, retain
from rocourse.ledger._failures import reading
from rocourse.ledger._migrate import REVISION_TABLE
from rocourse.ledger._queries import find
from rocourse.ledger._verifying import Verification, verify

Clock = Callable[[], datetime]


class Upkeep:
    """Erasing, retaining, verifying and copying a ledger; it is had as `Ledger.upkeep`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def erase(
        self,
        *,
        subject: str | None = None,
        id: str | None = None,
        tenant: str | None = None,
        note: str = "",
    ) -> Erasure:
        """Forgets a person: what is personal in promises and stored answers is removed for good.

        What binds is withdrawn. What is left of a promise is when it was made, by which model, and
        what became of it; the chain still holds, and has a link that says that it was done.

        Args:
            subject: Whose promises.
            id: Or of one promise only.
            tenant: Of whose promises; None for all.
            note: Why, such as the number of a request; no personal data, for it stays.

        Raises:
            UnknownPromise: No promise has this id.
            LedgerError: The database did not confirm the write, or its role may not erase.
        """
        check_text("note", note)
        if (subject is None) == (id is None):
            raise LedgerError(
                "An erasure must be of a subject or of a promise, but got both or neither; give "
                "one of them."
            )
        if subject is not None:
            check_name("subject", subject)
        with self._database.write() as connection:
            if id is not None:
                find(connection, id, tenant)
            done = erase(connection, subject, id, tenant=tenant, note=note, now=self._clock())
        self._forget()
        return done

    def retain(self, *, days: int, tenant: str | None = None, note: str = "") -> list[Erasure]:
        """Erases what is older than it may be kept.

        That is what is personal of promises that do not bind any more, and have not for so many
        days; and stored answers of that age.

        Args:
            days: At least 0.
            tenant: Of whose promises; None for all.
            note: Why; no personal data.

        Returns:
            What was done, some thousand promises at a time.
        """
        check_text("note", note)
        check_days(days)
        done: list[Erasure] = []
        last: str | None = None
        while True:
            now = self._clock()
            before = now - timedelta(days=days)
            with self._database.write() as connection:
                found = retain(connection, before, last, tenant=tenant, note=note, now=now)
            if found is None:
                break
            erasure, last = found
            done.append(erasure)
        self._forget()
        return done

    def erasures(self, *, tenant: str | None = None) -> list[Erasure]:
        """What was erased so far, the oldest first.

        Args:
            tenant: Only what was done to this tenant's promises alone.
        """
        with self._database.read() as connection:
            return erasures(connection, tenant)

    def head(self) -> Head:
        """The end of the chain, to be kept elsewhere."""
        with self._database.read() as connection:
            return read_head(connection)

    def verify(self, *, head: Head | None = None) -> Verification:
        """Looks for anything that was changed, added or taken away behind the ledger's back.

        Args:
            head: An end that the chain once had, which it must still go through: else, nobody can
                tell whether the last links were cut off, or all were written anew.

        Raises:
            LedgerError: The database cannot be read.
        """
        self._database.check_open()
        with reading():
            return verify(self._database.engine.connect, head)

    def back_up(self, file: BinaryIO) -> Head:
        """Writes a copy of the ledger as it is now, while it goes on to be used.

        The copy holds personal data; what is erased later is not erased from it.

        Args:
            file: Where to.

        Returns:
            The end of the chain in the copy.
        """
        with self._database.snapshot() as connection:
            return back_up(connection, _revision(connection), file)

    def restore(self, lines: Iterable[bytes]) -> Verification:
        """Fills this ledger, which must be empty, from a copy, and verifies it.

        Args:
            lines: Of the copy.

        Raises:
            LedgerError: The copy is none, or does not verify; nothing of it is kept then.
        """
        with self._database.write() as connection:
            head = restore(connection, _revision(connection), lines)
            found = verify(lambda: nullcontext(connection), head)
            if not found.clean:
                raise LedgerError(
                    "A copy of a ledger must verify, but this one was changed: "
                    f"{found.faults[0]} Nothing of it was kept."
                )
        return found

    def _forget(self) -> None:
        """Has a file's write-ahead log, which still holds what was erased, taken back."""
        if self._database.is_file:
            with reading():
                connection = self._database.engine.raw_connection()
                try:
                    connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
                finally:
                    connection.close()


def _revision(connection: sa.Connection) -> str:
    found = connection.exec_driver_sql(f"SELECT version_num FROM {REVISION_TABLE}")
    return str(found.scalar_one())
