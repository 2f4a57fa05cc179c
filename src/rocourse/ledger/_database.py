"""A database, asked and written in transactions, until it is closed."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from rocourse.errors import LedgerError
from rocourse.ledger._engine import WRITING
from rocourse.ledger._failures import reading, writing


class Database:
    """The connections of one ledger."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self._writer = engine.execution_options(**WRITING)
        self._closed = False

    @property
    def is_file(self) -> bool:
        """Whether it is a file of SQLite."""
        return self.engine.dialect.name == "sqlite"

    def close(self) -> None:
        """Closes the connections, for good."""
        self._closed = True
        self.engine.dispose()

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A connection to ask with."""
        self.check_open()
        with reading(), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sa.Connection]:
        """A connection to ask with that sees one state, whatever is written meanwhile."""
        self.check_open()
        # SQLite's transactions are so by themselves.
        level = {} if self.is_file else {"isolation_level": "REPEATABLE READ"}
        with reading(), self.engine.connect() as connection:
            yield connection.execution_options(**level)

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A connection in a transaction, which is committed at the end of the block."""
        self.check_open()
        with writing(), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def probe(self) -> Iterator[sa.Connection]:
        """As `write`, for what changes nothing."""
        self.check_open()
        with reading(), self._writer.begin() as connection:
            yield connection

    def check_open(self) -> None:
        """Refuses what was closed."""
        if self._closed:
            raise LedgerError(
                "A ledger must be open to be used, but this one was closed; open it again with "
                "Ledger.open."
            )
