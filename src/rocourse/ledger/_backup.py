"""Copies of a ledger, row by row, that go into any database and verify there.

Audits are left out: they can be had again.

```
{"format": "rocourse-ledger", "version": 1, "revision": "0008", "head": "12:…"}
["links", {…}]
["promises", {…}]
…
["end", {"links": 12, "promises": 40, …}]
```
"""

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any, BinaryIO, Never

import sqlalchemy as sa

from rocourse.errors import LedgerError
from rocourse.ledger._chain import Head, read_head
from rocourse.ledger._checks import encode
from rocourse.ledger._months import add_months
from rocourse.ledger._tables import Document, Moment, answers, as_text, events, links, promises

FORMAT, VERSION = "rocourse-ledger", 1

# Revisions of which the rows are the same.
_ALIKE = frozenset({"0007", "0008"})
# In an order in which rows can be written again.
_TABLES = {"links": links, "promises": promises, "events": events, "answers": answers}
_AT_ONCE = 1000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def back_up(connection: sa.Connection, revision: str, file: BinaryIO) -> Head:
    """Writes all that a ledger holds, as it is at one moment.

    Args:
        connection: In a transaction that sees one state.
        revision: Of the tables.
        file: Where to.
    """
    head = read_head(connection)
    begin = {"format": FORMAT, "version": VERSION, "revision": revision, "head": str(head)}
    file.write((encode(begin) + "\n").encode())
    counts = dict.fromkeys(_TABLES, 0)
    for name, table in _TABLES.items():
        columns = [as_text(c) if isinstance(c.type, Document) else c for c in table.c]
        query = sa.select(*columns).order_by(*table.primary_key.columns)
        found = connection.execution_options(yield_per=_AT_ONCE).execute(query)
        for row in found.mappings():
            counts[name] += 1
            file.write((encode([name, _plain(dict(row))]) + "\n").encode())
    file.write((encode(["end", counts]) + "\n").encode())
    return head


def restore(connection: sa.Connection, revision: str, lines: Iterable[bytes]) -> Head:
    """Writes what `back_up` wrote into tables that are empty.

    Returns:
        The end of the chain that the copy says it has.

    Raises:
        LedgerError: The file is none of ours, of another release, or not whole; or the tables are
            not empty.
    """
    if any(connection.execute(sa.select(table).limit(1)).first() for table in _TABLES.values()):
        raise LedgerError(
            "A copy must be restored to an empty ledger, but this one holds something; give a path "
            "or a database that is new."
        )
    source = iter(lines)
    head = _header(next(source, b""), revision)
    counts = dict.fromkeys(_TABLES, 0)
    waiting: list[dict[str, Any]] = []
    current, ended, months = "", None, set[date]()
    for line in source:
        name, content = _line(line)
        if (name != current or len(waiting) == _AT_ONCE) and waiting:
            if current == "promises":
                add_months(connection, (row["id"] for row in waiting), months)
            connection.execute(sa.insert(_TABLES[current]), waiting)
            waiting = []
        current = name
        if name == "end":
            ended = content
            break
        counts[name] += 1
        waiting.append(_row(_TABLES[name], content))
    if ended != counts:
        _refuse("it is not whole")
    if connection.dialect.name == "postgresql":
        # Numbers were given, and its own count has to go on behind them.
        connection.exec_driver_sql(
            "SELECT setval(pg_get_serial_sequence('ledger_events', 'number'), "
            "(SELECT max(number) FROM ledger_events)) "
            "WHERE EXISTS (SELECT 1 FROM ledger_events)"
        )
    return head


def _header(line: bytes, revision: str) -> Head:
    try:
        found = json.loads(line)
        known = (found["format"], found["version"])
        number, _, digest = found["head"].partition(":")
        head = Head(int(number), digest)
        written = found["revision"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        _refuse("it is none")
    if known != (FORMAT, VERSION) or (written != revision and not {written, revision} <= _ALIKE):
        _refuse(f"it is of another release (revision {str(written)[:20]!r})")
    return head


def _line(line: bytes) -> tuple[str, dict[str, Any]]:
    try:
        name, content = json.loads(line)
        if name not in {*_TABLES, "end"} or not isinstance(content, dict):
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        _refuse("a line of it cannot be read")
    return name, content


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (value - _EPOCH) // timedelta(microseconds=1)
        if isinstance(value, datetime)
        else value
        for name, value in row.items()
    }


def _row(table: sa.Table, content: dict[str, Any]) -> dict[str, Any]:
    if set(content) != set(table.c.keys()):
        _refuse("a line of it cannot be read")
    row = dict(content)
    for column in table.c:
        if isinstance(column.type, Moment):
            if type(row[column.name]) is not int:
                _refuse("a line of it cannot be read")
            row[column.name] = _EPOCH + timedelta(microseconds=row[column.name])
    return row


def _refuse(why: str) -> Never:
    raise LedgerError(
        f"A copy of a ledger must be a file that `rocourse ledger backup` wrote, but {why}; take "
        "another copy."
    )
