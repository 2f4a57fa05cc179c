"""Connections that keep their word: what was committed is on disk."""

import sqlite3
from typing import Any

import sqlalchemy as sa

from rocourse.errors import DependencyError

# Marks transactions that will write.
WRITING = {"ledger_writes": True}

# Seconds to wait for another process's write, and for a server that does not answer.
_PATIENCE = 30
_CONNECT_TIMEOUT = 10


def make_engine(url: sa.URL) -> sa.Engine:
    """An engine for a ledger; nothing is connected yet."""
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, hide_parameters=True)
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    waits = {} if "connect_timeout" in url.query else {"connect_timeout": _CONNECT_TIMEOUT}
    _check_driver()
    engine = sa.create_engine(
        url,
        connect_args=waits,
        hide_parameters=True,
        # `issue` relies on seeing what another server committed while it waited.
        isolation_level="READ COMMITTED",
        # Documents arrive as text.
        json_serializer=str,
        # A connection that a restarted server has forgotten is replaced unseen.
        pool_pre_ping=True,
    )
    sa.event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _check_driver() -> None:
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        # Also when the driver is there, but not the library of PostgreSQL that it needs.
        raise DependencyError(
            "A ledger in PostgreSQL must have the package psycopg with the library libpq, but it "
            "cannot be imported; install it with pip install 'rocourse[postgresql]'."
        ) from error


def _prepare_sqlite(connection: sqlite3.Connection, record: object) -> None:
    # The driver's own guesses at when to begin a transaction are switched off; `_begin_sqlite`
    # does it.
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        cursor.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000}")
        cursor.execute("PRAGMA journal_mode = WAL")
        # In WAL mode, FULL is what makes each commit wait for the disk.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
    finally:
        cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    # A transaction that reads first and takes the write lock later fails, however patient, if
    # another one wrote in between: those that will write take the lock at once.
    writes = connection.get_execution_options().get("ledger_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_postgresql(connection: Any, record: object) -> None:
    with connection.cursor() as cursor:
        # Times at the ends of the calendar must not be shifted out of it.
        cursor.execute("SET TIME ZONE 'UTC'")
        # Servers that acknowledge commits before they are on disk are asked not to; stricter
        # settings than "on" stay.
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false) "
            "WHERE current_setting('synchronous_commit') = 'off'"
        )
    connection.commit()
