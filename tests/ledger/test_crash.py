"""What was acknowledged survives: a killed writer, a killed server, a server that went away."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.ledger.making import NOW, make_issue, make_promise
from tests.ledger.postgres import PostgresServer, wait_until_blocked, why_missing

from rocourse.errors import LedgerError
from rocourse.ledger import Ledger

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
