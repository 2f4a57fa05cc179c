"""Whatever was acknowledged is remembered, once, however often service or database are killed.

`python benchmarks/losses.py --times 40` does so more often than the few times that fit into every
run.
"""

import http.client
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from datetime import UTC, datetime
from random import Random

import pytest
from tests.ledger.postgres import PostgresServer, why_missing

from rocourse import CounterNet, datasets
from rocourse.ledger import Ledger

KILLS = 2
SENDERS = 8
# Between two kills, so many are answered.
ANSWERS = 60
PATIENCE = 90


def make_model(folder):
    """A stored model, and requests that it answers with a recourse."""
    data = datasets.load("german_credit", seed=0)
    frame = next(iter(data.subsets.values()))
    rows = frame.drop(columns=data.target)
    fitted = CounterNet(
        schema=data.schema,
        trainer__encoder_widths=(16, 8),
        trainer__learning_rate=0.01,
        trainer__epochs=30,
        random_state=0,
    ).fit(rows, frame[data.target])
    fitted.save(folder / "model")
    refused = rows[fitted.recourse(rows, desired=1).status == "found"]
    bodies = [
        json.dumps({"applicants": [{"row": row}]})
        for row in json.loads(refused.to_json(orient="records"))
    ]
    assert len(bodies) > 20
    return folder / "model", bodies


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("served"))


class Service:
    """`rocourse serve` in a process of its own, at one port for all its lives."""

    def __init__(self, model, ledger):
        self.model, self.ledger, self.port = model, ledger, 0
        self.process = None

    def start(self):
        command = [sys.executable, "-m", "rocourse.cli", "serve", str(self.model)]
        command += ["--ledger", str(self.ledger), "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = self.process.stdout.readline()
        self.port = int(line.rsplit(":", 1)[1])

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class Senders:
    """Threads that send requests; each is sent again with its key until it is acknowledged."""

    def __init__(self, port, bodies):
        self.port, self.bodies = port, bodies
        self.acknowledged = {}
        self.again = 0
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self._send, args=(i,)) for i in range(SENDERS)]
        for thread in self.threads:
            thread.start()

    def wait_for(self, more):
        goal, deadline = len(self.acknowledged) + more, time.monotonic() + PATIENCE
        while len(self.acknowledged) < goal:
            assert time.monotonic() < deadline, "the service does not answer any more"
            time.sleep(0.01)

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(PATIENCE)

    def _send(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        while not self.stopping.is_set():
            key, body = uuid.uuid4().hex, self.bodies[number % len(self.bodies)]
            number += SENDERS
            deadline = time.monotonic() + PATIENCE
            # Also when told to stop: what was begun is brought to its end.
            while (answer := self._try(connection, key, body)) is None:
                assert time.monotonic() < deadline
                self.again += 1
                time.sleep(0.05)
            self.acknowledged[key] = answer["decisions"][0]["recourse"]["id"]
        connection.close()

    @staticmethod
    def _try(connection, key, body):
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        try:
            connection.request("POST", "/v1/decisions", body, headers)
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            return None
        # Not now: the database is away.
        return None if response.status == 503 else json.loads(content)


def check(ledger, senders):
    """All that was acknowledged is there, and nothing else: each key was written once."""
    with Ledger.open(ledger) as book:
        pages = book.binding_promises(at=datetime.now(UTC))
        found = [promise.id for page in pages for promise in page]
        assert book.upkeep.verify().clean
    assert len(found) == len(set(found))
    assert sorted(found) == sorted(senders.acknowledged.values())


def kill_service(model, folder, times):
    """Kills a service again and again; gives what was sent."""
    path, bodies = model
    service = Service(path, folder / "ledger.db")
    service.start()
    senders = Senders(service.port, bodies)
    try:
        for _ in range(times):
            senders.wait_for(ANSWERS)
            service.end(signal.SIGKILL)
            service.start()
        senders.wait_for(ANSWERS)
    finally:
        senders.stop()
        service.end(signal.SIGTERM)
    check(service.ledger, senders)
    return senders


def kill_database(model, times):
    """Kills a database under a service again and again; gives what was sent."""
    path, bodies = model
    database = PostgresServer()
    try:
        database.start()
        service = Service(path, database.create_database())
        service.start()
        senders = Senders(service.port, bodies)
        try:
            for _ in range(times):
                senders.wait_for(ANSWERS)
                database.kill()
                database.start()
            senders.wait_for(ANSWERS)
        finally:
            senders.stop()
            service.end(signal.SIGTERM)
        check(service.ledger, senders)
        return senders
    finally:
        database.remove()


def lose_power(model, folder, times):
    """Copies what is on disk at random moments, with a torn end, and looks into each copy.

    Gives what was sent.
    """
    path, bodies = model
    service = Service(path, folder / "ledger.db")
    service.start()
    senders = Senders(service.port, bodies)
    random, copies = Random(times), []
    try:
        for k in range(times):
            senders.wait_for(random.randint(1, ANSWERS))
            copy = folder / f"copy{k}" / "ledger.db"
            copy.parent.mkdir()
            acknowledged = set(senders.acknowledged.values())
            # As if the machine had stopped: nothing is written while the files are copied.
            service.process.send_signal(signal.SIGSTOP)
            try:
                for end in ("", "-wal"):
                    shutil.copyfile(f"{service.ledger}{end}", f"{copy}{end}")
            finally:
                service.process.send_signal(signal.SIGCONT)
            if k % 2:
                # What was being written, and never acknowledged, came to disk in part.
                with open(f"{copy}-wal", "ab") as log:
                    log.write(random.randbytes(random.randint(1, 9000)))
            copies.append((copy, acknowledged))
        senders.wait_for(ANSWERS)
    finally:
        senders.stop()
        service.end(signal.SIGTERM)
    check(service.ledger, senders)
    everything = set(senders.acknowledged.values())
    for copy, acknowledged in copies:
        with Ledger.open(copy) as book:
            pages = book.binding_promises(at=datetime.now(UTC))
            found = [promise.id for page in pages for promise in page]
            assert book.upkeep.verify().clean
        assert acknowledged <= set(found) <= everything
        assert len(found) == len(set(found)) <= len(acknowledged) + 2 * SENDERS + ANSWERS
    return senders


def test_a_service_that_is_killed_forgets_nothing(model, tmp_path):
    assert kill_service(model, tmp_path, KILLS).again > 0


@pytest.mark.skipif(why_missing() is not None, reason=str(why_missing()))
def test_a_database_that_is_killed_forgets_nothing(model):
    assert kill_database(model, KILLS).again > 0


def test_a_machine_that_loses_power_forgets_nothing(model, tmp_path):
    lose_power(model, tmp_path, 2 * KILLS)
