"""Whether a database would take another promise, without giving it one."""

import shutil
from pathlib import Path

import sqlalchemy as sa

from rocourse.errors import LedgerError

# A file of SQLite and its write-ahead log need room beside each other; less, and a moment of load
# fills it.
_LEAST_ROOM = 64 << 20


def check_writable(connection: sa.Connection) -> None:
    """Writes nothing new, and refuses what could not be written to.

    Args:
        connection: In a transaction that writes, which the caller commits.

    Raises:
        LedgerError: The disk is nearly full, or the server only reads.
    """
    if connection.dialect.name == "sqlite":
        _check_room(Path(str(connection.engine.url.database)))
        # The same number again: its page goes to disk as any other.
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        connection.exec_driver_sql(f"PRAGMA user_version = {int(version)}")
        return
    reads_only = connection.exec_driver_sql("SHOW transaction_read_only").scalar_one()
    if reads_only != "off":
        raise LedgerError(
            "The ledger must be writable, but its server only reads; connect to the primary."
        )
    # A number for the transaction: a server that cannot write has none to give.
    connection.exec_driver_sql("SELECT pg_current_xact_id()")


def _check_room(path: Path) -> None:
    free = shutil.disk_usage(path.resolve().parent).free
    if free < _LEAST_ROOM:
        raise LedgerError(
            f"The ledger must have at least {_LEAST_ROOM >> 20} MiB of free disk to go on, but "
            f"{free >> 20} are left; make room."
        )
