"""Connections that keep their word: what was committed is on disk."""

import math
import sqlite3
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from rocourse.errors import DependencyError

# Marks transactions that will write.
WRITING = {"ledger_writes": True}

# Seconds to wait for another process's write, and for a server that does not answer, where
# nobody waits for an answer.
_PATIENCE = 30.0
_CONNECT_TIMEOUT = 10
# Less, the driver does not take.
_LEAST_CONNECT_TIMEOUT = 2
# What the server may be late to say itself that time is up.
_GRACE = 0.25
# A server that is gone is noticed while nothing is asked of it: seconds, then tries.
_KEEPALIVES = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}


def make_engine(url: sa.URL, *, patience: float | None = None) -> sa.Engine:
    """An engine for a ledger; nothing is connected yet.

    Args:
        url: The database.
        patience: Seconds after which a lock, a statement, a server or a free connection is waited
            for no more; None: half a minute for locks and connections, without end for statements.
    """
    waits = _PATIENCE if patience is None else patience
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, hide_parameters=True, pool_timeout=waits)
        sa.event.listen(engine, "connect", _prepare_sqlite(waits))
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    _check_driver()
    engine = sa.create_engine(
        url,
        connect_args=_connection_settings(url, patience),
        pool_timeout=waits,
        hide_parameters=True,
        # `issue` relies on seeing what another server committed while it waited.
        isolation_level="READ COMMITTED",
        # Documents arrive as text.
        json_serializer=str,
        # A connection that a restarted server has forgotten is replaced unseen.
        pool_pre_ping=True,
    )
    sa.event.listen(engine, "connect", _prepare_postgresql(patience))
    if patience is not None:
        sa.event.listen(engine, "do_connect", _connect_for(patience + _GRACE))
    return engine


def _connection_settings(url: sa.URL, patience: float | None) -> dict[str, Any]:
    settings: dict[str, Any] = {"connect_timeout": _CONNECT_TIMEOUT, **_KEEPALIVES}
    if patience is not None:
        settings["connect_timeout"] = max(_LEAST_CONNECT_TIMEOUT, math.ceil(patience))
        settings["tcp_user_timeout"] = math.ceil(1000 * patience)
    return {name: value for name, value in settings.items() if name not in url.query}


def _connect_for(seconds: float) -> Callable[..., Any]:
    """Connections that wait for no answer longer than so many seconds.

    A server that is stopped, as by a debugger or a paused machine, sends nothing: neither would its
    own time limits end a statement, nor would TCP notice, for its kernel acknowledges what arrives.
    """
    import psycopg

    class Connection(psycopg.Connection[Any]):
        def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
            limit = seconds if timeout is None else min(seconds, timeout)
            try:
                return super().wait(gen, interval, limit)
            except psycopg.OperationalError:
                if timeout is None:
                    # What it may still answer would be taken for the answer to something else.
                    self.pgconn.finish()
                raise

    def connect(_: object, __: object, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return Connection.connect(*args, **named)

    return connect


def _check_driver() -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        # Also when the driver is there, but not the library of PostgreSQL that it needs.
        raise DependencyError(
            "A ledger in PostgreSQL must have the package psycopg with the library libpq, but it "
            "cannot be imported; install it with pip install 'rocourse[postgresql]'."
        ) from error


def _prepare_sqlite(patience: float) -> Callable[..., None]:
    def prepare(connection: sqlite3.Connection, record: object) -> None:
        # The driver's own guesses at when to begin a transaction are switched off;
        # `_begin_sqlite` does it.
        connection.isolation_level = None
        cursor = connection.cursor()
        try:
            cursor.execute(f"PRAGMA busy_timeout = {math.ceil(1000 * patience)}")
            cursor.execute("PRAGMA journal_mode = WAL")
            # In WAL mode, FULL is what makes each commit wait for the disk.
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.execute("PRAGMA foreign_keys = ON")
            # What is erased is overwritten, and not only given free.
            cursor.execute("PRAGMA secure_delete = ON")
        finally:
            cursor.close()

    return prepare


def _begin_sqlite(connection: sa.Connection) -> None:
    # A transaction that reads first and takes the write lock later fails, however patient, if
    # another one wrote in between: those that will write take the lock at once.
    writes = connection.get_execution_options().get("ledger_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_postgresql(patience: float | None) -> Callable[..., None]:
    limits = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    milliseconds = None if patience is None else math.ceil(1000 * patience)

    def prepare(connection: Any, record: object) -> None:
        with connection.cursor() as cursor:
            # Times at the ends of the calendar must not be shifted out of it.
            cursor.execute("SET TIME ZONE 'UTC'")
            # Servers that acknowledge commits before they are on disk are asked not to; stricter
            # settings than "on" stay.
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'on', false) "
                "WHERE current_setting('synchronous_commit') = 'off'"
            )
            if milliseconds is not None:
                for limit in limits:
                    cursor.execute(f"SET {limit} = {milliseconds}")
        connection.commit()

    return prepare
