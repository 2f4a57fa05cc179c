"""Errors of the database, told without what was in the statement."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa

from rocourse.errors import LedgerError

# Of PostgreSQL: insufficient privilege.
_NOT_ALLOWED = "42501"


@contextmanager
def reading() -> Iterator[None]:
    """Turns errors of the database into a `LedgerError`."""
    try:
        yield
    except sa.exc.SQLAlchemyError as error:
        # Never chained, here and below: PostgreSQL quotes the row in question in its messages.
        raise LedgerError(
            "The ledger must be readable, but the database did not answer the question "
            f"({_kind(error)}); check that it is up, and try again."
        ) from None


@contextmanager
def writing() -> Iterator[None]:
    """Turns errors of the database into a `LedgerError`."""
    try:
        yield
    except sa.exc.IntegrityError as error:
        raise LedgerError(
            "A promise must have an id that no other has, but the database refused the write "
            f"({_kind(error)}), and nothing of it was kept; make ids with new_id()."
        ) from None
    except sa.exc.SQLAlchemyError as error:
        if getattr(getattr(error, "orig", None), "sqlstate", None) == _NOT_ALLOWED:
            raise LedgerError(
                "The role that the ledger is opened with must be allowed to do this, but "
                "PostgreSQL refuses it; do it with `rocourse ledger` as the owner of the tables."
            ) from None
        raise LedgerError(
            "A write must be confirmed to count, but the database did not confirm the write "
            f"({_kind(error)}); check that it is up, and try again with the same key."
        ) from None


@contextmanager
def opening(name: str, *, secrets: Sequence[str]) -> Iterator[None]:
    """Turns errors of the database into a `LedgerError`.

    Args:
        name: What to call the database.
        secrets: What must not be told.
    """
    try:
        yield
    except sa.exc.SQLAlchemyError as error:
        reason = _first_line(error, secrets=secrets)
        if "file is not a database" in reason:
            raise LedgerError(
                f"Ledger {name} must be a SQLite database, but it is a file of another kind; "
                "choose another path."
            ) from None
        raise LedgerError(
            f"Ledger {name} must be a database that can be reached and written, but got "
            f"{reason!r}; check the address, and that the database is up."
        ) from None


def _kind(error: sa.exc.SQLAlchemyError) -> str:
    """The class of an error and, from PostgreSQL, its code; neither depends on data."""
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlstate", None)
    return type(cause).__name__ + (f", code {code}" if code else "")


def _first_line(error: sa.exc.SQLAlchemyError, *, secrets: Sequence[str]) -> str:
    text = str(getattr(error, "orig", None) or error)
    line = text.strip().partition("\n")[0]
    for secret in secrets:
        line = line.replace(secret, "***")
    return line
