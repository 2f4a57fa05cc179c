"""`rocourse serve` as a process of its own."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from tests.service.making import plain_rows, promise_for, replace_model

from rocourse.artifacts import model_digest
from rocourse.errors import UnknownPromise
from rocourse.ledger import Ledger

COMMAND = [sys.executable, "-m", "rocourse.cli", "serve"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")


# A busy machine must not decide what a test sees.
PATIENTLY = ["--deadline", "60"]


class Service:
    """A process that serves, and its address."""

    def __init__(self, folder, *args):
        self.log = folder / "log.txt"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*COMMAND, *map(str, args), "--port", "0"], stdout=subprocess.PIPE, stderr=log
            )
        line = self.process.stdout.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)$", line.strip())
        assert found, line + self.log.read_text()
        self.url, self.port = found[0], int(found[1])

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        self.process.stdout.close()


@pytest.fixture
def service(tmp_path, stored):
    shutil.copytree(stored / "model", tmp_path / "model")
    running = Service(tmp_path, tmp_path / "model", "--ledger", tmp_path / "ledger.db", *PATIENTLY)
    try:
        yield running
    finally:
        running.stop()


def eventually(holds, seconds=30.0):
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.02)


def begin(port, content):
    """Sends a request but for its last byte."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    head = (
        "POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    connection.sendall(head.encode() + content[:-1])
    return connection


def finish(connection, content):
    """Sends the last byte, and gives the status and the body of the answer."""
    connection.sendall(content[-1:])
    received = b""
    while chunk := connection.recv(1 << 16):
        received += chunk
    connection.close()
    head, _, body = received.partition(b"\r\n\r\n")
    # Told to go, besides: nobody asks again on this connection.
    assert b"connection: close" in head.lower()
    return int(head.split()[1]), json.loads(body)


def test_it_answers_reloads_and_leaves_nobody_without_an_answer(service, tmp_path, stored, asked):
    rows = plain_rows(asked)
    with httpx.Client(base_url=service.url, timeout=30) as client:
        assert client.get("/readyz").json() == {"status": "ok"}
        first = client.get("/v1/model").json()["digest"]
        assert first == model_digest(stored / "model")
        row, recourse = promise_for(client, rows)
        response = client.get(f"/v1/recourses/{recourse['id']}")
        assert response.json()["row"] == row
        assert "server" not in response.headers

        replace_model(tmp_path / "model", stored / "contrary")
        service.process.send_signal(signal.SIGHUP)
        eventually(lambda: client.get("/v1/model").json()["digest"] != first)
        (tmp_path / "model" / "model.json").unlink()
        service.process.send_signal(signal.SIGHUP)
        eventually(lambda: "the model in service stays" in service.log.read_text())
        replace_model(tmp_path / "model", stored / "model")
        service.process.send_signal(signal.SIGHUP)
        eventually(lambda: client.get("/v1/model").json()["digest"] == first)

    # Not many: a service that was told to end gives them a few seconds.
    content = json.dumps({"applicants": [{"row": row} for row in rows[:10]]}).encode()
    connections = [begin(service.port, content) for _ in range(8)]
    with httpx.Client(base_url=service.url) as client:
        # Answered after them: by now they have been read.
        assert client.get("/healthz").status_code == 200
    service.process.send_signal(signal.SIGTERM)

    def closed():
        try:
            socket.create_connection(("127.0.0.1", service.port), timeout=5).close()
        except ConnectionRefusedError:
            return True
        return False

    eventually(closed)
    assert service.process.poll() is None
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda connection: finish(connection, content), connections))
    assert service.process.wait(30) == 0
    assert [status for status, _ in answers] == [200] * 8
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        for _, answer in answers:
            for decision in answer["decisions"]:
                if decision["recourse"]:
                    assert ledger.promise(decision["recourse"]["id"]).status == "open"
        with pytest.raises(UnknownPromise):
            ledger.promise("01890a5d-ac96-774b-bcce-b302099a8057")
    log = service.log.read_text()
    assert "Traceback" not in log
    assert "POST /v1/decisions 200" in log
    assert recourse["id"] not in log


def test_an_interrupt_ends_it_without_complaint(service):
    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(30) == 0
    assert service.process.stdout.read() == b""
    assert service.log.read_text() == ""


def fail(*args):
    done = subprocess.run([*COMMAND, *map(str, args)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_what_cannot_be_served_is_one_line(tmp_path, stored):
    with socket.create_server(("127.0.0.1", 0)) as taken, ThreadPoolExecutor(2) as pool:
        port = taken.getsockname()[1]
        in_use = pool.submit(fail, stored / "model", "--port", port)
        missing = pool.submit(fail, tmp_path / "none", "--port", 0)
        assert f"127.0.0.1:{port}" in in_use.result()
        assert "none" in missing.result()
