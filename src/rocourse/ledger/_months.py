"""Months of promises: in PostgreSQL each is a table of its own, which is made before it begins.

How they are made is in the database, by revision 0008: a role that may only add has it done there.
"""

import logging
from collections.abc import Iterable
from datetime import UTC, date, datetime

import sqlalchemy as sa

from rocourse.ledger._database import Database
from rocourse.ledger._ids import is_id

log = logging.getLogger("rocourse.ledger")

_MAY_MAKE = sa.text("SELECT has_function_privilege('ledger_make_months()', 'EXECUTE')")
_MAKE = sa.text("SELECT ledger_make_months()")
_ADD = sa.text("SELECT ledger_add_month(:month)")


class Months:
    """The months to come of a ledger, looked after once a day."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._day: date | None = None

    def look_after(self, now: datetime) -> None:
        """Has the next months made, on the first call of a day.

        What is of a month that was not made is kept as well, in a table with others such.
        """
        if self._database.is_file or self._day == now.date():
            return
        self._day = now.date()
        # In a transaction of its own: others wait for tables that are being added.
        with self._database.write() as connection:
            if connection.execute(_MAY_MAKE).scalar_one():
                connection.execute(_MAKE)
            else:
                log.warning(
                    "The ledger's role may not have tables of coming months made; run what "
                    "`rocourse ledger roles` prints as the owner of the tables."
                )


def add_months(connection: sa.Connection, ids: Iterable[str], known: set[date]) -> None:
    """Makes the past months of promises that are about to be restored, but those known already."""
    if connection.dialect.name != "postgresql":
        return
    today = datetime.now(UTC).date()
    for month in sorted({month for id in ids if (month := _month(id)) and month <= today} - known):
        connection.execute(_ADD, {"month": datetime(month.year, month.month, 1)})
        known.add(month)


def _month(id: str) -> date | None:
    """The first day of the month that an id is of; None if it does not begin with the time."""
    if not is_id(id) or id[14] != "7":
        return None
    milliseconds = int(id[:8] + id[9:13], 16)
    # Not beyond the year 3000, which a calendar of months has.
    if milliseconds > 32_503_680_000_000:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date().replace(day=1)
