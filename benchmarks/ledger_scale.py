"""Promises in PostgreSQL by the million: written, audited, retained, verified; sizes by month.

    python benchmarks/ledger_scale.py [--promises 200000] [--months 12] [--jobs 2] [--verify]

Starts a server of its own, in a temporary directory; PostgreSQL must be installed. Promises are of
as many months, the last of them this one, and hold for 300 days. Most are copied
into the tables, with the links of the chain that the ledger would have written; 20,000 are issued
by the ledger when it is empty and again when it is full, a thousand and one at a time. Processor
time is that of this process, the server and all others below it.
"""

import argparse
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
sys.path.append(str(Path(__file__).parent.parent))

import psycopg
from _processes import processor
from audit_million import made_promise, train
from tests.ledger.postgres import PostgresServer, why_missing

from rocourse.ledger import Head, Issue, Ledger, NewPromise, new_id
from rocourse.ledger._chain import leaf, link_hash, new_salt, seal
from rocourse.ledger._checks import encode
from rocourse.ledger._tables import promise_values

_AT_ONCE = 1000
_ISSUED, _SINGLY = 20_000, 2_000
_HOLDS = timedelta(days=300)
_SIZES = """
SELECT whole, kind, sum(bytes)::bigint FROM (
    SELECT CASE WHEN relkind = 'i' THEN regexp_replace(regexp_replace(relname, '_idx$', ''),
               '_(other|[0-9]{4}_[0-9]{2})', '')
           ELSE regexp_replace(relname, '_(other|[0-9]{4}_[0-9]{2})$', '') END AS whole,
           relkind::text AS kind, pg_relation_size(oid) AS bytes
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')
) AS each GROUP BY whole, kind HAVING sum(bytes) > 100000 ORDER BY 3 DESC
"""


def main() -> None:
    """Prints rates and sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--promises", type=int, default=200_000)
    parser.add_argument("--months", type=int, default=12, help="of the promises (12)")
    parser.add_argument("--jobs", type=int, default=2, help="processes of the second audit (2)")
    parser.add_argument("--verify", action="store_true", help="verify the chain as well")
    options = parser.parse_args()
    if missing := why_missing():
        sys.exit(missing)
    server = PostgresServer(max_wal_size="4GB", shared_buffers="1GB")
    try:
        server.start()
        with TemporaryDirectory() as place:
            measure(server.create_database(), Path(place), options)
    finally:
        server.remove()


def measure(address: str, folder: Path, options: argparse.Namespace) -> None:
    """Fills a ledger, and does with it what is done with ledgers."""
    records, now = train(folder), datetime.now(UTC)
    first = add_months(address, now, options.months)
    with Ledger.open(address) as ledger:
        issue(ledger, records, now, "empty")
        with measured("copied", options.promises):
            copy(address, records, options.promises, first, now)
        with measured("vacuum and statistics", options.promises):
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
        issue(ledger, records, now, "full")
        ask(ledger, records, now)
    for jobs in (1, options.jobs):
        # Of a time at which all of them are owed.
        at = f"--at={first.isoformat()}"
        command = ("audit", address, "--model", str(folder / "model"), f"--jobs={jobs}", at)
        with measured(f"audited with {jobs}", options.promises):
            call(*command)
    sizes(address, options.promises)
    retain(address, options.promises, first, now)
    if options.verify:
        with measured("verified", options.promises):
            call("ledger", "verify", address)


def add_months(address: str, now: datetime, months: int) -> datetime:
    """Makes a ledger with tables of past months, as restoring one does; gives the first moment."""
    Ledger.open(address).close()
    number = 12 * now.year + now.month - months
    with psycopg.connect(address, autocommit=True) as connection:
        for k in range(months):
            year, month = divmod(number + k, 12)
            connection.execute(f"SELECT ledger_add_month('{year}-{month + 1:02d}-01')")
    return datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)


def make(
    records: Sequence[Any], count: int, moments: Sequence[datetime], start: int = 0
) -> Iterator[NewPromise]:
    """Promises, issued at these moments."""
    for k, moment in zip(range(start, start + count), moments, strict=True):
        yield made_promise(records, k, moment, moment + _HOLDS, id=id_of(moment))


def id_of(moment: datetime) -> str:
    """As `new_id`, of another time."""
    milliseconds = int(moment.timestamp() * 1000)
    own = uuid.UUID(new_id()).int & ((1 << 80) - 1)
    return str(uuid.UUID(int=milliseconds << 80 | own))


def issue(ledger: Ledger, records: Sequence[Any], now: datetime, when: str) -> None:
    """Issues promises by the ledger."""
    for count, at_once in ((_ISSUED, _AT_ONCE), (_SINGLY, 1)):
        issues = [
            Issue(
                promises=list(make(records, at_once, [now] * at_once)), fingerprint="f", answer=""
            )
            for _ in range(count // at_once)
        ]
        with measured(f"issued to the {when} ledger, {at_once:,} at a time", count):
            for one in issues:
                ledger.issue([one])


def copy(address: str, records: Sequence[Any], count: int, first: datetime, last: datetime) -> None:
    """Copies promises into the tables, with their events and links, without waiting for disks."""
    step = (last - first) / count
    [sample] = make(records, 1, [first])
    alike, documents = promise_values(sample), [encode(record) for record in records]
    with psycopg.connect(address) as connection, Ledger.open(address) as ledger:
        connection.execute("SET synchronous_commit = off")
        head = ledger.upkeep.head()
        for start in range(0, count, _AT_ONCE):
            rows, events, leaves = [], [], []
            for k in range(start, min(start + _AT_ONCE, count)):
                moment, salt = first + k * step, new_salt()
                row = {
                    **alike,
                    "id": id_of(moment),
                    "subject": f"A-{k}",
                    "given_row": documents[k % len(documents)],
                    "recourse_row": documents[(7 * k + 3) % len(documents)],
                    "issued_at": moment,
                    "expires_at": moment + _HOLDS,
                    "salt": salt,
                }
                row["seal"] = seal(salt, row)
                event = {"at": moment, "status": "open", "model": row["model"], "detail": "issued"}
                leaves.append(leaf(row, event))
                rows.append(row)
                events.append({"promise": row["id"], "link": head.number + 1, **event})
            link = {
                "number": head.number + 1,
                "at": last,
                "kind": "issue",
                "tenant": None,
                "note": "",
                "events": len(rows),
            }
            head = Head(head.number + 1, link_hash(head.hash, link, leaves))
            write(connection, "promises", rows)
            write(connection, "events", events)
            write(connection, "links", [{**link, "hash": head.hash}])
            connection.commit()


def write(connection: psycopg.Connection[Any], name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Copies rows into a table."""
    text = f"COPY ledger_{name} ({', '.join(rows[0])}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(text) as copied:
        for row in rows:
            copied.write_row(tuple(row.values()))


def ask(ledger: Ledger, records: Sequence[Any], now: datetime) -> None:
    """What the desk asks of a full ledger."""
    made = list(make(records, 1000, [now] * 1000, 10**9))
    ledger.issue([Issue(promises=made, fingerprint="f", answer="")])
    with measured("looked up", len(made)):
        for one in made:
            ledger.promise(one.id)
    with measured("looked up by subject", len(made)):
        for one in made:
            assert ledger.promises_of(str(one.subject))
    with measured("recorded", len(made)):
        for one in made:
            ledger.record(one.id, "redeemed", model="m")


def retain(address: str, count: int, first: datetime, now: datetime) -> None:
    """Erases what has ended: nothing at first, then the first month."""
    with Ledger.open(address) as ledger:
        with measured("retained: nothing has ended", count):
            assert not ledger.upkeep.retain(days=(now - first).days)
        days = max(0, (now - first - timedelta(days=31) - _HOLDS).days)
        begun, spent = time.perf_counter(), processor()
        done = sum(one.promises for one in ledger.upkeep.retain(days=days))
        tell("retained: erased", done, begun, spent)


def sizes(address: str, promises: int) -> None:
    """Prints the sizes of tables and indexes, months together."""
    with psycopg.connect(address) as connection:
        for name, kind, own in connection.execute(_SIZES).fetchall():
            what = "table" if kind == "r" else "index"
            each = own / promises
            print(f"{what} {name:36s} {own / 2**20:9.1f} MiB, {each:7.1f} bytes a promise")


def call(*command: str) -> None:
    """Runs a command of rocourse's, whose code must be 0."""
    subprocess.run([sys.executable, "-m", "rocourse.cli", *command, "--quiet"], check=True)


@contextmanager
def measured(what: str, count: int) -> Iterator[None]:
    """Prints what a block took."""
    begun, spent = time.perf_counter(), processor()
    yield
    tell(what, count, begun, spent)


def tell(what: str, count: int, begun: float, spent: float) -> None:
    """Prints what was done since, and what it took."""
    seconds, own = time.perf_counter() - begun, processor() - spent
    each = f"{1e6 * own / max(1, count):,.1f} µs of the processor each"
    print(f"{what}: {count:,} in {seconds:.1f} s, {own:.1f} of the processor; {each}", flush=True)


if __name__ == "__main__":
    main()
