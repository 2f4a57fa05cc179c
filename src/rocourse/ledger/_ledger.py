"""The ledger: one database, asked and written in short transactions."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from rocourse.errors import LedgerError, SettledPromise
from rocourse.ledger import _queries
from rocourse.ledger._address import parse
from rocourse.ledger._audits import AuditRecords
from rocourse.ledger._checks import check_moment, check_name, check_page, check_text
from rocourse.ledger._database import Database
from rocourse.ledger._engine import make_engine
from rocourse.ledger._failures import opening
from rocourse.ledger._issuing import Issuing
from rocourse.ledger._migrate import REVISION_TABLE, migrate
from rocourse.ledger._months import month_by_month
from rocourse.ledger._probe import check_writable
from rocourse.ledger._queries import checked_id, every_nth, find, lock, of_tenant, outcomes, owed
from rocourse.ledger._records import Conflict, Event, Issue, Promise, PromisedRows, Status
from rocourse.ledger._tables import (
    BINDING,
    PROMISED,
    events,
    promises,
    to_event,
    to_promise,
    to_promised_rows,
)
from rocourse.ledger._upkeep import Clock, Upkeep
from rocourse.ledger._writing import append


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Ledger:
    """The promises that were made, and what became of them.

    Made by `Ledger.open`. One ledger may be shared by threads, and one database by processes.
    """

    def __init__(self, engine: sa.Engine, name: str, clock: Clock) -> None:
        self._engine, self._clock, self._name = engine, clock, name
        self._database = Database(engine)
        self._issuing = Issuing(self._database)
        self.audits = AuditRecords(self._database)
        """What is known of audits that were asked for."""
        self.upkeep = Upkeep(self._database, clock)
        """What whoever answers for the ledger does: erase, retain, verify, back up."""

    @classmethod
    def open(
        cls,
        url_or_path: str | Path,
        *,
        create: bool = True,
        patience: float | None = None,
        clock: Clock = _utc_now,
    ) -> Self:
        """Opens a ledger, and makes its tables or brings them up to this release if need be.

        Args:
            url_or_path: A file of SQLite as a path or as `sqlite:///path`, or a database of
                PostgreSQL as `postgresql://user:password@host:port/name`.
            create: Whether a file that is not there is made, and tables where there are none.
            patience: Seconds after which nothing is waited for any more, be it a lock, a statement
                or a server that is silent; None waits as long as it takes, for locks half a minute.
            clock: Gives the time, with a time zone.

        Raises:
            LedgerError: The database cannot be reached or written, is none, is a ledger of a newer
                release, or is not there and shall not be made.
            DependencyError: PostgreSQL is asked for, but its driver is not installed.
        """
        address = parse(url_or_path)
        if not create and address.is_vacant:
            raise LedgerError(
                f"Ledger {address.name} must be there already, but there is none; check the path."
            )
        with opening(address.name, secrets=address.secrets):
            address.make_private()
            engine = make_engine(address.url)
            try:
                # Without a limit: a large ledger may take long to be brought up to date.
                migrate(engine, name=address.name, create=create)
            except BaseException:
                engine.dispose()
                raise
        if patience is not None:
            engine.dispose()
            engine = make_engine(address.url, patience=patience)
        return cls(engine, address.place, clock)

    @property
    def name(self) -> str:
        """Its path, or its URL without what is secret or a setting."""
        return self._name

    @property
    def is_file(self) -> bool:
        """Whether it is a file of this machine, and not a server that may keep one waiting."""
        return self._database.is_file

    def close(self) -> None:
        """Closes the connections. A closed ledger stays closed."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def issue(self, issues: Sequence[Issue]) -> list[str | Conflict]:
        """Writes the promises of several requests in one transaction.

        When it returns, they are on disk; when it raises, none is known to be, and the same
        requests may be tried again with the same keys.

        Args:
            issues: One for each request.

        Returns:
            For each issue the answer to give: its own if it was written, the stored one if its key
            was used for the same request before (nothing is written then, and of two in one list
            the first is written), or a conflict if its key was used for another request.

        Raises:
            LedgerError: The database did not confirm the write.
        """
        if not issues:
            return []
        return self._issuing.write(issues, self._clock())

    def promise(self, id: str, *, tenant: str | None = None) -> Promise:
        """One promise.

        Args:
            id: The promise.
            tenant: Whose it must be; None for any.

        Raises:
            UnknownPromise: No promise has this id, or one of another tenant.
        """
        with self._database.read() as connection:
            return find(connection, id, tenant)

    def options_of(self, id: str, *, tenant: str | None = None) -> list[Promise]:
        """A promise, and after it the other options of its decision; as of `promise`."""
        with self._database.read() as connection:
            return _queries.options(connection, id, tenant)

    def history(self, id: str, *, tenant: str | None = None) -> list[Event]:
        """What became of a promise, from its issue on, in the order of recording.

        Args:
            id: The promise.
            tenant: Whose it must be; None for any.

        Raises:
            UnknownPromise: No promise has this id, or one of another tenant.
        """
        query = sa.select(events).where(events.c.promise == id).order_by(events.c.number)
        with self._database.read() as connection:
            find(connection, id, tenant)
            return [to_event(dict(row)) for row in connection.execute(query).mappings()]

    def record(
        self,
        id: str,
        status: Status | str,
        *,
        model: str,
        detail: str = "",
        at: datetime | None = None,
        tenant: str | None = None,
    ) -> Promise:
        """Appends an event to a promise's history, and sets its status to the event's.

        Args:
            id: The promise.
            status: An open promise may become anything, or be found open again; a broken one may
                be redeemed or withdrawn; the others are final. When a promise is redeemed, the
                other options of its decision that are open or broken are withdrawn with it.
            model: Digest of the model in use.
            detail: Why, in words without personal data: it is never erased.
            at: When it happened; now, unless given.
            tenant: Whose it must be; None for any.

        Returns:
            The promise with its new status.

        Raises:
            UnknownPromise: No promise has this id.
            SettledPromise: The promise cannot change to this status any more.
            LedgerError: An argument cannot be kept, or the database did not confirm the write.
        """
        check_name("model", model)
        check_text("detail", detail)
        moment = self._clock() if at is None else at
        check_moment("at", moment)
        event = Event(at=moment, status=Status.read(status), model=model, detail=detail)
        with self._database.write() as connection:
            before, *others = lock(connection, id, tenant)
            status_before = Status(before["status"])
            if not status_before.may_become(event.status):
                or_broken = " or broken" if Status.BROKEN.may_become(event.status) else ""
                raise SettledPromise(
                    f"A promise to be recorded as {event.status.value} must be open{or_broken}, "
                    f"but {id} is {status_before.value}; leave it as it is, or issue a new promise."
                )
            happened = [(before, event)]
            if event.status is Status.REDEEMED:
                closing = replace(event, status=Status.WITHDRAWN, detail=f"{id} was redeemed")
                happened += [
                    (other, closing)
                    for other in others
                    if Status(other["status"]).may_become(closing.status)
                ]
            append(connection, happened, kind="record", at=self._clock())
            return find(connection, id, tenant)

    def binding_promises(
        self,
        *,
        at: datetime,
        since: datetime | None = None,
        page: int = 1000,
        tenant: str | None = None,
    ) -> Iterator[list[Promise]]:
        """The promises that are owed, open or broken, page by page.

        No transaction is held between pages, so that promises may be recorded and issued
        meanwhile. None comes twice. Those that are issued meanwhile may or may not come.

        Args:
            at: Promises that expire by then are left out.
            since: Also those that were owed at some time since then, whatever became of them.
            page: Number of promises to hold in memory at a time.
            tenant: Whose; None for all.
        """
        query = self._owed(sa.select(promises), at, since, page, tenant)
        pages = month_by_month(self._database, query, after=None, until=None)
        return ([to_promise(row._mapping) for row in found] for found in pages)

    def promised_rows(
        self,
        *,
        at: datetime,
        since: datetime | None = None,
        page: int = 4096,
        after: str | None = None,
        until: str | None = None,
        tenant: str | None = None,
    ) -> Iterator[PromisedRows]:
        """As `binding_promises`, in columns and with no more than an audit needs: that is quicker.

        Args:
            at: As there, as are the others.
            since: See there.
            page: See there.
            after: Id of the last promise that came before, to go on after it.
            until: Id of the last promise that is to come; None for all.
            tenant: See there.
        """
        query = self._owed(sa.select(*PROMISED), at, since, page, tenant)
        pages = month_by_month(self._database, query, after=after, until=until)
        # As they come: nothing of a page is held while the next one is read.
        return map(to_promised_rows, pages)

    def cuts(
        self, every: int, *, at: datetime, since: datetime | None, tenant: str | None
    ) -> list[str]:
        """Where `promised_rows` may be cut into ranges of so many: the last id of each."""
        check_moment("at", at)
        check_page(every)
        with self._database.read() as connection:
            return [id for (id,) in connection.execute(every_nth(every, owed(at, since), tenant))]

    def promises_of(
        self,
        subject: str,
        *,
        page: int = 1000,
        after: str | None = None,
        tenant: str | None = None,
    ) -> list[Promise]:
        """The promises to one subject, whatever their status, the oldest first.

        Args:
            subject: The reference they were issued with.
            page: The largest number to return.
            after: Id of the last promise of the page before.
            tenant: Whose; None for all.
        """
        check_name("subject", subject)
        check_page(page)
        query = sa.select(promises).where(promises.c.subject == subject)
        query = of_tenant(query, tenant).order_by(promises.c.id).limit(page)
        if after is not None:
            query = query.where(promises.c.id > checked_id(after))
        return self._fetch(query)

    def counts(self, *, at: datetime, tenant: str | None = None) -> dict[str, int]:
        """Number of promises by where they stand at a time, as `Promise.standing` has it.

        Args:
            at: That time.
            tenant: Whose; None for all.
        """
        check_moment("at", at)
        overdue = sa.and_(BINDING, promises.c.expires_at <= at)
        standing = sa.case(
            (overdue, sa.literal_column(f"'{Status.EXPIRED.value}'")), else_=promises.c.status
        ).label("standing")
        query = of_tenant(sa.select(standing, sa.func.count()), tenant).group_by(standing)
        with self._database.read() as connection:
            found = {standing: number for standing, number in connection.execute(query)}
        return {status.value: found.get(status.value, 0) for status in Status}

    def outcomes(self, *, tenant: str | None = None) -> list[bool]:
        """Whether promises were kept that people came back with, in the order of time.

        Args:
            tenant: Whose; None for all.
        """
        with self._database.read() as connection:
            return outcomes(connection, tenant)

    def ping(self) -> None:
        """Has the database write something that changes nothing.

        Raises:
            LedgerError: It does not answer, does not write, or its disk is full.
        """
        with self._database.probe() as connection:
            connection.execute(sa.select(sa.func.count()).select_from(sa.table(REVISION_TABLE)))
            check_writable(connection)

    def _owed(
        self,
        query: sa.Select[Any],
        at: datetime,
        since: datetime | None,
        page: int,
        tenant: str | None,
    ) -> sa.Select[Any]:
        check_moment("at", at)
        check_page(page)
        if since is not None:
            check_moment("since", since)
        query = query.where(owed(at, since))
        return of_tenant(query, tenant).order_by(promises.c.id).limit(page)

    def _fetch(self, query: sa.Select[tuple[object, ...]]) -> list[Promise]:
        with self._database.read() as connection:
            return [to_promise(dict(row)) for row in connection.execute(query).mappings()]
