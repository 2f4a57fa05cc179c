"""Months of promises: in PostgreSQL each is a table of its own, which is made before it begins.

How they are made is in the database, by revision 0008: a role that may only add has it done there.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from rocourse.ledger._database import Database
from rocourse.ledger._ids import is_id
from rocourse.ledger._tables import promises

log = logging.getLogger("rocourse.ledger")

_MAY_MAKE = sa.text("SELECT has_function_privilege('ledger_make_months()', 'EXECUTE')")
_MAKE = sa.text("SELECT ledger_make_months()")
_ADD = sa.text("SELECT ledger_add_month(:month)")
_NEXT = sa.select(promises.c.id).order_by(promises.c.id).limit(1)

LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
# The year 3000: no calendar of months is asked for what is beyond.
_END = 32_503_680_000_000


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


def month_by_month(
    database: Database, query: sa.Select[Any], *, after: str | None, until: str | None
) -> Iterator[Sequence[Any]]:
    """What a query finds of promises, page by page, in the order of ids.

    No page reaches into another month. Without that, PostgreSQL would look in each table for the
    first promise that is asked for, for every page anew, and read all of those that have none.

    Args:
        database: To ask.
        query: A page of promises, in the order of ids, with the id.
        after: Id to begin after; None for the first.
        until: The last id; None for all.
    """
    last, end = until or LAST_ID, None
    while end != last:
        with database.read() as connection:
            end = min(last, month_end(connection, after))
        within = query.where(promises.c.id <= end)
        while True:
            asked = within if after is None else within.where(promises.c.id > after)
            with database.read() as connection:
                rows = [connection.execute(asked).all()]
            if not rows[0]:
                break
            after = rows[0][-1].id
            # Nothing of it is held while the next page is read.
            yield rows.pop()
        after = end


def month_end(connection: sa.Connection, after: str | None) -> str:
    """The last id there can be in the month of the next promise, be it asked for or not.

    Args:
        connection: To ask.
        after: Id of the promise before; None for the first.

    Returns:
        `LAST_ID` if there is no such promise, or none in a month, or all are in one table.
    """
    if connection.dialect.name != "postgresql":
        return LAST_ID
    query = _NEXT if after is None else _NEXT.where(promises.c.id > after)
    found = connection.execute(query).scalar_one_or_none()
    milliseconds = _END if found is None else _milliseconds(found)
    if milliseconds >= _END:
        return LAST_ID
    first = datetime.fromtimestamp(milliseconds / 1000, UTC)
    following = datetime(first.year + first.month // 12, first.month % 12 + 1, 1, tzinfo=UTC)
    return str(UUID(int=(round(following.timestamp() * 1000) << 80) - 1))


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
    if not is_id(id) or id[14] != "7" or _milliseconds(id) >= _END:
        return None
    return datetime.fromtimestamp(_milliseconds(id) / 1000, UTC).date().replace(day=1)


def _milliseconds(id: str) -> int:
    return int(id[:8] + id[9:13], 16)
