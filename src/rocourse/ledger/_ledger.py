"""The ledger: one database, asked and written in short transactions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import sqlalchemy as sa

from rocourse.errors import LedgerError, SettledPromise, UnknownPromise
from rocourse.ledger._address import parse
from rocourse.ledger._checks import check_moment, check_name, check_page, check_text
from rocourse.ledger._engine import WRITING, make_engine
from rocourse.ledger._failures import opening, reading, writing
from rocourse.ledger._ids import is_id
from rocourse.ledger._issuing import write_issues
from rocourse.ledger._migrate import REVISION_TABLE, migrate
from rocourse.ledger._records import Conflict, Event, Issue, Promise, Status
from rocourse.ledger._tables import event_values, events, promises, to_event, to_promise


class Ledger:
    """The promises that were made, and what became of them.

    Made by `Ledger.open`. One ledger may be shared by threads, and one database by processes.
    """

    def __init__(self, engine: sa.Engine, name: str) -> None:
        self._engine = engine
        self._name = name
        self._writer = engine.execution_options(**WRITING)
        self._closed = False

    @classmethod
    def open(cls, url_or_path: str | Path, *, create: bool = True) -> Self:
        """Opens a ledger, and makes its tables or brings them up to this release if need be.

        Args:
            url_or_path: A file of SQLite as a path or as `sqlite:///path`, or a database of
                PostgreSQL as `postgresql://user:password@host:port/name`.
            create: Whether a file that is not there is made, and tables where there are none.

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
            engine = make_engine(address.url)
            try:
                migrate(engine, name=address.name, create=create)
            except BaseException:
                engine.dispose()
                raise
        return cls(engine, address.place)

    @property
    def name(self) -> str:
        """Its path, or its URL without what is secret or a setting."""
        return self._name

    @property
    def is_file(self) -> bool:
        """Whether it is a file of this machine, and not a server that may keep one waiting."""
        return self._engine.dialect.name == "sqlite"

    def close(self) -> None:
        """Closes the connections. A closed ledger stays closed."""
        self._closed = True
        self._engine.dispose()

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
        with self._write() as connection:
            return write_issues(connection, issues)

    def promise(self, id: str) -> Promise:
        """One promise.

        Raises:
            UnknownPromise: No promise has this id.
        """
        with self._read() as connection:
            return _find(connection, id)

    def history(self, id: str) -> list[Event]:
        """What became of a promise, from its issue on, in the order of recording.

        Raises:
            UnknownPromise: No promise has this id.
        """
        query = sa.select(events).where(events.c.promise == id).order_by(events.c.number)
        with self._read() as connection:
            _find(connection, id)
            return [to_event(dict(row)) for row in connection.execute(query).mappings()]

    def record(
        self,
        id: str,
        status: Status | str,
        *,
        model: str,
        detail: str = "",
        at: datetime | None = None,
    ) -> Promise:
        """Appends an event to a promise's history, and sets its status to the event's.

        Args:
            id: The promise.
            status: An open promise may become anything, or be found open again; a broken one may
                be redeemed or withdrawn; the others are final. When a promise is redeemed, the
                other options of its decision that are open or broken are withdrawn with it.
            model: Digest of the model in use.
            detail: Free text.
            at: When it happened; now, unless given.

        Returns:
            The promise with its new status.

        Raises:
            UnknownPromise: No promise has this id.
            SettledPromise: The promise cannot change to this status any more.
            LedgerError: An argument cannot be kept, or the database did not confirm the write.
        """
        check_name("model", model)
        check_text("detail", detail)
        moment = datetime.now(UTC) if at is None else at
        check_moment("at", moment)
        event = Event(at=moment, status=_status(status), model=model, detail=detail)
        with self._write() as connection:
            before, *others = _locked(connection, id)
            if not before.status.may_become(event.status):
                or_broken = " or broken" if Status.BROKEN.may_become(event.status) else ""
                raise SettledPromise(
                    f"A promise to be recorded as {event.status.value} must be open{or_broken}, "
                    f"but {id} is {before.status.value}; leave it as it is, or issue a new promise."
                )
            _append(connection, before, event)
            if event.status is Status.REDEEMED:
                closing = replace(event, status=Status.WITHDRAWN, detail=f"{id} was redeemed")
                for other in others:
                    if other.status.may_become(closing.status):
                        _append(connection, other, closing)
            return _find(connection, id)

    def open_promises(
        self, *, at: datetime, page: int = 1000, model: str | None = None
    ) -> Iterator[list[Promise]]:
        """The promises that still bind, page by page.

        No transaction is held between pages, so that promises may be recorded and issued
        meanwhile. None comes twice. Those that are issued meanwhile may or may not come.

        Args:
            at: Promises that expire by then are left out.
            page: Number of promises to hold in memory at a time.
            model: Only those that this model issued.
        """
        check_moment("at", at)
        check_page(page)
        query = (
            sa.select(promises)
            .where(promises.c.status == Status.OPEN.value, promises.c.expires_at > at)
            .order_by(promises.c.id)
            .limit(page)
        )
        if model is not None:
            check_name("model", model)
            query = query.where(promises.c.model == model)
        return self._pages(query)

    def promises_of(
        self, subject: str, *, page: int = 1000, after: str | None = None
    ) -> list[Promise]:
        """The promises to one subject, whatever their status, the oldest first.

        Args:
            subject: The reference they were issued with.
            page: The largest number to return.
            after: Id of the last promise of the page before.
        """
        check_name("subject", subject)
        check_page(page)
        query = (
            sa.select(promises)
            .where(promises.c.subject == subject)
            .order_by(promises.c.id)
            .limit(page)
        )
        if after is not None:
            query = query.where(promises.c.id > _checked(after))
        return self._fetch(query)

    def counts(self, *, at: datetime) -> dict[str, int]:
        """Number of promises by status; open ones that expire by a time count as expired.

        Args:
            at: That time.
        """
        check_moment("at", at)
        overdue = sa.and_(promises.c.status == Status.OPEN.value, promises.c.expires_at <= at)
        standing = sa.case(
            (overdue, sa.literal_column(f"'{Status.EXPIRED.value}'")), else_=promises.c.status
        ).label("standing")
        query = sa.select(standing, sa.func.count()).group_by(standing)
        with self._read() as connection:
            found = {standing: number for standing, number in connection.execute(query)}
        return {status.value: found.get(status.value, 0) for status in Status}

    def ping(self) -> None:
        """Asks the database for something small.

        Raises:
            LedgerError: It does not answer.
        """
        with self._read() as connection:
            connection.execute(sa.select(sa.func.count()).select_from(sa.table(REVISION_TABLE)))

    def _pages(self, query: sa.Select[tuple[object, ...]]) -> Iterator[list[Promise]]:
        found = self._fetch(query)
        while found:
            # Asked for after the page was used: what is recorded meanwhile is seen.
            last = found[-1].id
            yield found
            found = self._fetch(query.where(promises.c.id > last))

    def _fetch(self, query: sa.Select[tuple[object, ...]]) -> list[Promise]:
        with self._read() as connection:
            return [to_promise(dict(row)) for row in connection.execute(query).mappings()]

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        self._check_open()
        with reading(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        self._check_open()
        with writing(), self._writer.begin() as connection:
            yield connection

    def _check_open(self) -> None:
        if self._closed:
            raise LedgerError(
                "A ledger must be open to be used, but this one was closed; open it again with "
                "Ledger.open."
            )


def _locked(connection: sa.Connection, id: str) -> list[Promise]:
    """A promise and after it the other options of its decision, for nobody else to change."""
    found = _find(connection, id)
    own = promises.c.id == id if found.decision is None else promises.c.decision == found.decision
    # All in one order, so that no two wait for each other. SQLite ignores the clause: there,
    # whoever writes is alone.
    query = sa.select(promises).where(own).order_by(promises.c.id).with_for_update()
    rows = [to_promise(dict(row)) for row in connection.execute(query).mappings()]
    return sorted(rows, key=lambda promise: promise.id != id)


def _append(connection: sa.Connection, promise: Promise, event: Event) -> None:
    connection.execute(sa.insert(events), event_values(promise.id, event))
    if promise.status is not event.status:
        own = promises.c.id == promise.id
        connection.execute(sa.update(promises).where(own).values(status=event.status.value))


def _find(connection: sa.Connection, id: str) -> Promise:
    query = sa.select(promises).where(promises.c.id == _checked(id))
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise UnknownPromise(
            f"The id must be one of a promise in the ledger, but {id} is not; check the id, and "
            "that this is the right ledger."
        )
    return to_promise(dict(row))


def _checked(id: str) -> str:
    if not is_id(id):
        # What is no id may be anything, a person's name included: it is not shown.
        raise UnknownPromise(
            "The id of a promise must be a UUID in lower case, but got another text or value; give "
            "the id that came with the promise."
        )
    return id


def _status(value: Status | str) -> Status:
    try:
        return Status(value)
    except ValueError:
        raise LedgerError(
            f"The status of a promise must be one of {', '.join(Status)}, but got another value; "
            "choose one of these."
        ) from None
