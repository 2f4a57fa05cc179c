"""What was acknowledged survives: a killed writer, a killed server, a server that went away."""

import errno
import io
import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from random import Random

import psycopg
import pytest
import sqlalchemy as sa
from tests.ledger.making import NOW, issue_many, make_issue, make_promise
from tests.ledger.postgres import PostgresServer, wait_until_blocked, why_missing

from rocourse.errors import LedgerError
from rocourse.ledger import Ledger, new_id

ROOT = Path(__file__).parents[2]
PROMISES_EACH = 5
WRITER = f"""
import sys
from datetime import UTC, datetime, timedelta
from rocourse.ledger import Issue, Ledger, NewPromise

now = datetime.now(UTC)
ledger = Ledger.open(sys.argv[1])
number = 0
while True:
    made = [
        NewPromise(subject="s", model="m", schema_version="1", row={{"a": 1}}, recourse={{"a": 2}},
                   desired=1, probability_before=0.1, probability_after=0.9, robustness=None,
                   issued_at=now, expires_at=now + timedelta(days=1))
        for _ in range({PROMISES_EACH})
    ]
    key = sys.argv[2] + "-" + str(number)
    answer = " ".join(promise.id for promise in made)
    [said] = ledger.issue([Issue(promises=made, key=key, fingerprint="f", answer=answer)])
    print(key, said, flush=True)
    number += 1
"""


def write_until_killed(url, run, *, acknowledged, kill):
    """Runs a writer until some issues are acknowledged; returns all that were."""
    lines = []
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(url), run], stdout=subprocess.PIPE, text=True
    )
    with writer:
        for line in writer.stdout:
            lines.append(line)
            if len(lines) == acknowledged:
                kill(writer)
        writer.kill()
    assert len(lines) >= acknowledged
    # What was cut off in the middle was not acknowledged.
    whole = [line.split() for line in lines if line.endswith("\n")]
    return {key: ids for key, *ids in whole}


def check_kept(ledger, acknowledged):
    for key, ids in acknowledged.items():
        assert [ledger.promise(id).id for id in ids] == ids
        assert [len(ledger.history(id)) for id in ids] == [1] * PROMISES_EACH
        assert ledger.issue([make_issue(key=key, fingerprint="f")]) == [" ".join(ids)]
    # Of what was under way, all or nothing was kept.
    assert sum(ledger.counts(at=NOW).values()) % PROMISES_EACH == 0


def test_killed_writer_leaves_all_that_was_acknowledged(tmp_path):
    path = tmp_path / "ledger.db"
    acknowledged = {}
    for run in range(3):
        acknowledged |= write_until_killed(
            path,
            f"run{run}",
            acknowledged=3 + 7 * run,
            kill=lambda writer: writer.send_signal(signal.SIGKILL),
        )
        with Ledger.open(path) as ledger:
            check_kept(ledger, acknowledged)


@pytest.fixture
def server():
    reason = why_missing()
    if reason:
        pytest.skip(reason)
    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.remove()


def test_server_that_is_stopped_and_killed_is_found_again(server):
    promise, first = make_promise(), make_promise()
    with Ledger.open(server.create_database()) as ledger:
        assert ledger.issue([make_issue(first, key="k1", answer="first")]) == ["first"]
        server.restart()
        # The connections of before are dead; nobody notices.
        assert ledger.promise(first.id).subject == first.subject
        server.stop()
        with pytest.raises(LedgerError, match="did not answer the question"):
            ledger.ping()
        with pytest.raises(LedgerError, match="the database did not confirm the write"):
            ledger.issue([make_issue(promise, key="k2", answer="second")])
        server.start()
        assert ledger.issue([make_issue(promise, key="k2", answer="again")]) == ["again"]
        server.kill()
        server.start()
        assert ledger.issue([make_issue(make_promise(), key="k2", answer="third")]) == ["again"]
        assert ledger.counts(at=NOW)["open"] == 2


def test_connection_lost_in_the_middle_of_a_write_writes_nothing_until_tried_again(server):
    url = server.create_database()
    promise = make_promise()
    issue = make_issue(promise, key="k", answer="answer")
    with Ledger.open(url) as ledger, psycopg.connect(url) as other, ThreadPoolExecutor(1) as pool:
        # The other connection is about to store the same key, so that the write has to wait.
        other.execute("INSERT INTO ledger_answers VALUES ('k', 'f', 'a', now())")
        waiting = pool.submit(ledger.issue, [issue])
        other.execute("SELECT pg_terminate_backend(%s)", [wait_until_blocked(url)])
        with pytest.raises(LedgerError, match="the database did not confirm the write"):
            waiting.result(30)
        other.rollback()
        assert ledger.counts(at=NOW)["open"] == 0
        assert ledger.issue([issue]) == ledger.issue([issue]) == ["answer"]
        assert ledger.counts(at=NOW)["open"] == 1


def test_server_killed_while_writing_keeps_all_that_was_acknowledged(server):
    url = server.create_database()
    acknowledged = write_until_killed(
        url, "run", acknowledged=10, kill=lambda writer: server.kill()
    )
    server.start()
    with Ledger.open(url) as ledger:
        check_kept(ledger, acknowledged)


# Without a limit it would be for ever, or half a minute for a lock; a busy machine takes its time.
SOON = 25


def timed(ask):
    began = time.monotonic()
    with pytest.raises(LedgerError):
        ask()
    return time.monotonic() - began


def patiently(ask):
    """Asks until it is answered: a busy machine may not have done it in so short a time."""
    until = time.monotonic() + 60
    while True:
        try:
            return ask()
        except LedgerError:
            assert time.monotonic() < until


def test_a_server_that_is_frozen_is_waited_for_no_longer_than_was_asked(server):
    with Ledger.open(server.create_database(), patience=0.5) as ledger:
        patiently(ledger.ping)
        with server.frozen():
            # On a connection that was open, then with none to be had: the driver gives up after
            # two seconds at the earliest. Without a limit both would last until it goes on.
            assert timed(ledger.ping) < SOON
            assert timed(lambda: ledger.issue([make_issue(make_promise())])) < SOON
        patiently(ledger.ping)
        again = patiently(lambda: ledger.issue([make_issue(make_promise(), answer="after")]))
        assert again == ["after"]


def test_a_lock_is_waited_for_no_longer_than_was_asked(server, tmp_path):
    url, path = server.create_database(), tmp_path / "ledger.db"
    with Ledger.open(url, patience=0.3) as ledger, psycopg.connect(url) as other:
        other.execute("LOCK TABLE ledger_answers, ledger_promises IN ACCESS EXCLUSIVE MODE")
        assert timed(lambda: ledger.issue([make_issue(make_promise(), key="k")])) < SOON
        assert timed(lambda: ledger.counts(at=NOW)) < SOON
    with Ledger.open(path, patience=0.3) as ledger, sqlite3.connect(path) as other:
        other.execute("BEGIN IMMEDIATE")
        assert timed(ledger.ping) < SOON
        assert timed(lambda: ledger.issue([make_issue(make_promise(), key="k")])) < SOON
        # Readers need not wait for who writes.
        assert ledger.counts(at=NOW)["open"] == 0
        other.rollback()


def test_a_nearly_full_disk_is_told(tmp_path, monkeypatch):
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
        with pytest.raises(LedgerError, match="1 are left; make room"):
            ledger.ping()


def test_a_server_that_only_reads_is_told(server):
    url = server.create_database()
    with Ledger.open(url) as ledger:
        name = ledger.name.rsplit("/", 1)[1]
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid != pg_backend_pid()"
            )
        with pytest.raises(LedgerError, match="its server only reads"):
            ledger.ping()


class Failing:
    """Has the statement of some number, or the commit after all of them, fail on its way."""

    def __init__(self, ledger, monkeypatch):
        self.left = math.inf
        sa.event.listen(ledger._engine, "before_cursor_execute", self._fail)
        commit = ledger._engine.dialect.do_commit

        def committing(connection):
            self._fail(None, None, "COMMIT", None, None, None)
            commit(connection)

        monkeypatch.setattr(ledger._engine.dialect, "do_commit", committing)

    def _fail(self, connection, cursor, statement, *_):
        # Which are no part of what is asked for.
        if statement.startswith(("BEGIN", "PRAGMA", "SAVEPOINT")):
            return
        self.left -= 1
        if self.left < 0:
            raise sa.exc.OperationalError("", {}, OSError(errno.EIO, "Input/output error"))

    def each(self, ask, check):
        """Tries with the first statement failing, the second, …, until all go well."""
        for number in range(100):
            self.left = number
            try:
                ask()
            except LedgerError as error:
                self.left = math.inf
                assert "\n" not in str(error)
                check()
            else:
                self.left = math.inf
                return number
        raise AssertionError("it never goes well")


def test_a_failure_of_any_statement_leaves_nothing_half_done(ledger, monkeypatch):
    [kept, broken, gone] = issue_many(ledger, 3)
    options = [make_promise(decision=new_id())]
    options.append(make_promise(decision=options[0].decision))
    ledger.issue([make_issue(*options)])
    ledger.issue([make_issue(key="old", answer=f'"{gone}"')])
    failing = Failing(ledger, monkeypatch)

    def state():
        with ledger._engine.connect() as connection:
            tables = ("promises", "events", "links", "answers")
            return [
                connection.exec_driver_sql(f"SELECT * FROM ledger_{name} ORDER BY 1").all()
                for name in tables
            ]

    before = state()

    def unchanged():
        assert state() == before
        assert ledger.upkeep.verify().clean

    promise = make_promise()
    issue = [make_issue(promise, key="k", answer="answer"), make_issue(make_promise())]
    asked = {
        "issue": lambda: ledger.issue(issue),
        "record": lambda: ledger.record(broken, "broken", model="m2"),
        "redeem": lambda: ledger.record(options[0].id, "redeemed", model="m2"),
        "erase": lambda: ledger.upkeep.erase(id=gone),
    }
    for name, ask in asked.items():
        assert failing.each(ask, unchanged) >= 3, name
        before = state()
    assert ledger.issue([issue[0]]) == ["answer"]
    for ask in (
        lambda: ledger.promise(kept),
        lambda: ledger.history(kept),
        lambda: ledger.promises_of("applicant-17"),
        lambda: ledger.counts(at=NOW),
        lambda: list(ledger.binding_promises(at=NOW)),
        lambda: list(ledger.promised_rows(at=NOW)),
        lambda: ledger.upkeep.erasures(),
        lambda: ledger.upkeep.verify(),
        lambda: ledger.upkeep.back_up(io.BytesIO()),
        ledger.ping,
    ):
        assert failing.each(ask, lambda: None) >= 1

    def whole():
        assert ledger.upkeep.verify().clean

    # In several transactions, each of them whole.
    assert failing.each(lambda: ledger.upkeep.retain(days=0), whole) >= 3
    whole()


def test_a_connection_lost_after_the_commit_promises_once(server, monkeypatch):
    """The write is there, and nobody was told: whoever repeats it gets what was stored."""
    url = server.create_database()
    with Ledger.open(url) as ledger:
        # The first of a day also has months made, in a transaction of its own.
        issue_many(ledger, 1)
        commit = ledger._engine.dialect.do_commit

        def losing(connection):
            commit(connection)
            with psycopg.connect(url, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(%s)",
                    [connection.dbapi_connection.info.backend_pid],
                )
            # What the driver says when the answer does not come.
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr(ledger._engine.dialect, "do_commit", losing)
        first, second = make_promise(), make_promise()
        with pytest.raises(LedgerError, match="did not confirm the write"):
            ledger.issue([make_issue(first, key="k", answer=first.id)])
        monkeypatch.setattr(ledger._engine.dialect, "do_commit", commit)
        assert ledger.issue([make_issue(second, key="k", answer=second.id)]) == [first.id]
        assert ledger.promise(first.id).status == "open"
        assert ledger.counts(at=NOW)["open"] == 2
        assert ledger.upkeep.verify().clean


def test_a_full_disk_writes_nothing_and_goes_on_when_there_is_room(tmp_path):
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        issue_many(ledger, 3)

        def pages(number):
            with ledger._engine.connect() as connection:
                connection.exec_driver_sql(f"PRAGMA max_page_count = {number}")
                return connection.exec_driver_sql("PRAGMA page_count").scalar_one()

        pages(pages(1) + 2)
        written = 0
        with pytest.raises(LedgerError, match="did not confirm the write"):
            while True:
                written += len(issue_many(ledger, 5))
        assert sum(ledger.counts(at=NOW).values()) == 3 + written
        assert ledger.upkeep.verify().clean
        pages(1 << 30)
        promise = make_promise()
        assert ledger.issue([make_issue(promise, key="k", answer="a")]) == ["a"]
        assert ledger.upkeep.verify().clean


LIMITED = """
import resource, signal, sys
from pathlib import Path
from rocourse.errors import LedgerError
from rocourse.ledger import Ledger
from tests.ledger.making import issue_many, make_issue, make_promise

# A file that cannot grow any more: what is written to it fails in the middle.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
with Ledger.open(path) as ledger:
    written = len(issue_many(ledger, 3))
    log = path.with_name(path.name + "-wal")
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + 50_000, resource.RLIM_INFINITY))
    try:
        while True:
            written += len(issue_many(ledger, 5))
    except LedgerError:
        pass
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    written += len(issue_many(ledger, 1))
    print(written)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of files are POSIX's")
def test_an_error_of_the_disk_loses_nothing_that_was_acknowledged(tmp_path):
    path = tmp_path / "ledger.db"
    command = [sys.executable, "-c", LIMITED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    with Ledger.open(path) as ledger:
        assert sum(ledger.counts(at=NOW).values()) == int(done.stdout)
        assert ledger.upkeep.verify().clean


def test_two_writers_of_one_file_and_one_that_is_killed_make_one_chain(tmp_path):
    path = tmp_path / "ledger.db"
    Ledger.open(path).close()

    def run(name):
        return write_until_killed(
            path,
            name,
            acknowledged=15,
            kill=lambda writer: writer.send_signal(signal.SIGKILL),
        )

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(run, ("one", "two"))
    with Ledger.open(path) as ledger:
        check_kept(ledger, one | two)
        assert ledger.upkeep.verify().clean


def test_a_clock_that_jumps_changes_neither_order_nor_chain(url):
    random, now = Random(0), NOW
    with Ledger.open(url, clock=lambda: now) as ledger:
        ids = []
        for _ in range(12):
            now = NOW + timedelta(days=random.randint(-4000, 4000))
            ids += issue_many(ledger, 2, issued_at=now, expires_at=now + timedelta(days=9))
        for id, status in zip(ids, ("broken", "withdrawn") * 6, strict=False):
            now = NOW + timedelta(days=random.randint(-4000, 4000))
            ledger.record(id, status, model="m2")
            assert [event.status for event in ledger.history(id)] == ["open", status]
        ledger.upkeep.erase(subject="applicant-17")
        found = ledger.upkeep.verify()
        assert found.clean and found.head.number == 12 + 12 + 1
