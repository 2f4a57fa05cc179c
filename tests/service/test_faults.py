"""What one slow database, one greedy client or one large request must not do to the others."""

import asyncio
import json
import shutil
import socket
import sqlite3
import threading
from contextlib import contextmanager
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
import uvicorn
from tests.ledger.conftest import postgres  # noqa: F401
from tests.service.making import ROW, audit, decide, detail, plain_rows, promise_for, serving
from tests.service.test_run import Service, begin, eventually

from rocourse.service import Settings
from rocourse.service._decisions import Decisions
from rocourse.service._lanes import Busy, Lane, Late
from rocourse.service._metrics import Metrics
from rocourse.service._protocol import (
    ANSWER_SECONDS,
    HEAD_SECONDS,
    MOST_HEAD,
    REQUEST_SECONDS,
    CarefulProtocol,
)
from rocourse.service._questions import Question

SHORT = 1.5
"""Seconds that a request may take where something is in the way."""


@contextmanager
def locked(path):
    """Holds the lock of a file of SQLite, as another program could."""
    with sqlite3.connect(path) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.rollback()


def ask(client):
    return client.post("/v1/decisions", json={"applicants": [{"row": ROW}]})


def short_promise(client, rows):
    """A promise of a service whose deadline a busy machine may miss."""
    answers = []

    def answered(row):
        answers.append(client.post("/v1/decisions", json={"applicants": [{"row": row}]}))
        return answers[-1].status_code == 200

    for row in rows:
        eventually(lambda row=row: answered(row))
        recourse = answers[-1].json()["decisions"][0]["recourse"]
        if recourse and recourse["id"]:
            return recourse
    raise AssertionError("none of the rows has a recourse")


def test_no_route_asks_the_database_where_requests_are_read(client, asked):
    names = set()

    def note(*_):
        names.add(threading.current_thread().name.rsplit("_", 1)[0])

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        row, recourse = promise_for(client, plain_rows(asked))
        body = {"id": recourse["id"], "row": row}
        decide(client, *[row] * 40)
        choice = {"row": row, "options": 2}
        assert client.post("/v1/decisions", json={"applicants": [choice]}).status_code == 200
        assert client.get(f"/v1/recourses/{recourse['id']}").status_code == 200
        assert client.post("/v1/redemptions", json=body).status_code == 200
        for path in ("/readyz", "/healthz", "/metrics", "/v1/model"):
            assert client.get(path).status_code == 200
        assert audit(client)["status"] == "done"
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    kinds = ("decide", "look-up", "ready", "audit", "census")
    assert names == {f"rocourse-{kind}" for kind in kinds}


def test_a_locked_file_is_a_503_in_time_and_nothing_more(tmp_path, stored, asked):
    with serving(tmp_path, stored / "model", deadline=SHORT) as client:
        recourse = short_promise(client, plain_rows(asked))
        with locked(tmp_path / "ledger.db"):
            # Ten at a time wait for one lock, not each for the one before it.
            replies = [ask(client), client.get("/readyz")]
            for reply in replies:
                assert detail(reply, 503)
                assert reply.headers["retry-after"] == "1"
            returned = {"id": recourse["id"], "row": recourse["row"]}
            assert detail(client.post("/v1/redemptions", json=returned), 503)
            assert client.get("/healthz").status_code == 200
            # Who only reads need not wait for who writes.
            eventually(lambda: client.get(f"/v1/recourses/{recourse['id']}").status_code == 200)
        # As soon as a busy machine has it, for its deadline is short.
        eventually(lambda: ask(client).status_code == 200)
        eventually(lambda: client.get("/readyz").status_code == 200)
        eventually(lambda: client.post("/v1/redemptions", json=returned).status_code != 503)
        read = client.get(f"/v1/recourses/{recourse['id']}")
        assert read.json()["status"] == "redeemed"


def test_a_frozen_server_is_a_503_in_time_and_nothing_more(tmp_path, stored, postgres):  # noqa: F811
    url = postgres.create_database()
    with serving(tmp_path, stored / "model", deadline=SHORT, address=url) as client:
        eventually(lambda: ask(client).status_code == client.get("/readyz").status_code == 200)
        with postgres.frozen():
            for _ in range(2):
                assert detail(ask(client), 503)
                assert detail(client.get("/readyz"), 503)
            assert client.get("/healthz").status_code == 200
        # The driver may be trying for a while to connect to what was frozen.
        eventually(lambda: ask(client).status_code == client.get("/readyz").status_code == 200)


def test_a_full_disk_is_not_ready_and_is_when_there_is_room_again(client, monkeypatch):
    usage = shutil.disk_usage("/")
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
        assert detail(client.get("/readyz"), 503)
        assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200


class Answers:
    """A backend that answers a request of so many rows when it is let."""

    prompt_rows = 0

    def __init__(self):
        self.metrics, self.go, self.answered = Metrics(), threading.Event(), []

    def answer(self, questions):
        if len(questions[0].rows) > 1:
            assert self.go.wait(30)
        self.answered += [len(question.rows) for question in questions]
        return ["{}"] * len(questions)


def test_a_small_request_passes_large_ones_and_searches():
    backend = Answers()

    async def main():
        decisions = Decisions(backend, 30.0)
        large = [decisions.ask(Question([{}] * 900, [None] * 900, None, "a")) for _ in range(2)]
        tasks = [asyncio.create_task(one) for one in large]
        await asyncio.sleep(0)
        await decisions.ask(Question([{}], [None], None, "a"))
        assert backend.answered == [1]
        backend.go.set()
        await asyncio.gather(*tasks)
        await decisions.close(30)

    asyncio.run(main())
    assert backend.answered == [1, 900, 900]


def test_what_is_not_done_in_time_is_told_and_what_has_not_begun_is_not_begun():
    go, done = threading.Event(), []

    def work(name):
        assert go.wait(30)
        done.append(name)

    async def main():
        lane = Lane("test", threads=1, most=2)
        both = [lane.run(work, name, within=0.05) for name in ("first", "second")]
        tasks = [asyncio.create_task(one) for one in both]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await lane.run(work, "third")
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results] == [Late, Late]
        go.set()
        while not lane.idle:
            await asyncio.sleep(0.01)
        await lane.run(work, "fourth")
        lane.close()

    asyncio.run(main())
    assert done == ["first", "fourth"]


class Transport(asyncio.Transport):
    """A connection that keeps what was written to it."""

    def __init__(self):
        super().__init__()
        self.written, self.closed, self.aborted, self.left = b"", False, False, 0

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True

    def abort(self):
        self.closed = self.aborted = True

    def is_closing(self):
        return self.closed

    def get_write_buffer_size(self):
        return self.left

    def pause_reading(self):
        pass

    resume_reading = pause_reading


class Clock:
    """Stands in for a loop: gives the time that it is told, and does nothing later."""

    def __init__(self):
        self.now = 100.0

    def time(self):
        return self.now

    def call_later(self, *_):
        return Mock()

    def create_task(self, coroutine):
        coroutine.close()
        return Mock()


class Door:
    """A door that is shut, and that who waits at is soon sent away from, if that is so."""

    def __init__(self, *, shut, soon=False):
        self._shut, self._soon, self.guests = shut, soon, []

    def is_shut(self):
        return self._shut

    def hold(self, guest):
        self.guests.append(guest)
        if self._soon:
            guest.turn_away()


def make_connection(door=None):
    clock = Clock()
    config = uvicorn.Config(lambda *_: None, log_config=None, ws="none", lifespan="off")
    config.load()
    protocol = CarefulProtocol(config, uvicorn.Server(config).server_state, {}, clock)
    protocol.door = door or Door(shut=False)
    protocol.waits = lambda path, _: path == b"/v1/decisions"
    protocol.turns_away = lambda *_: False
    protocol.connection_made(Transport())
    return protocol


@pytest.fixture
def connection():
    return make_connection()


LINE = b"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    ("sent", "patience"),
    [
        (b"", HEAD_SECONDS),
        (b"\r\n", HEAD_SECONDS),
        (b"POST /", HEAD_SECONDS),
        (LINE + b"X: 1", HEAD_SECONDS),
        (LINE + b"Content-Length: 9\r\n\r\n{", REQUEST_SECONDS),
        (LINE + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", REQUEST_SECONDS),
    ],
)
def test_a_client_that_does_not_finish_is_hung_up_on(connection, sent, patience):
    clock, transport = connection.loop, connection.transport
    if sent:
        connection.data_received(sent)
    clock.now += patience - 1
    # A byte now and then does not help.
    if sent:
        connection.data_received(b"\r\n" if sent == b"\r\n" else b"1")
    connection.sweep(clock.now)
    assert not transport.closed
    clock.now += 2
    connection.sweep(clock.now)
    assert transport.aborted


def test_a_client_that_does_not_take_its_answer_is_hung_up_on(connection):
    clock, transport = connection.loop, connection.transport
    connection.data_received(LINE + b"Content-Length: 1\r\n\r\n1")
    clock.now += 100
    connection.sweep(clock.now)
    assert not transport.closed
    transport.left = 5
    connection.sweep(clock.now)
    clock.now += ANSWER_SECONDS + 1
    connection.sweep(clock.now)
    assert transport.aborted


ENDLESS = {
    "a value": (LINE + b"X: ", b"x" * 1000),
    "a name": (LINE, b"x" * 1000),
    "many headers": (LINE, b"X-Name: value\r\n" * 50),
    "the line": (b"GET /", b"x" * 1000),
    "a query": (b"GET /?", b"x" * 1000),
    "trailers": (LINE + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Name: value\r\n" * 50),
    "a trailer": (LINE + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"x" * 1000),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_headers_without_end_are_not_kept(connection, name):
    start, more = ENDLESS[name]
    connection.data_received(start)
    sent = 0
    while not connection.transport.closed:
        assert sent < 2 * MOST_HEAD
        connection.data_received(more)
        sent += len(more)
    if "trailer" not in name:
        head, _, body = connection.transport.written.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 431 ")
        assert "fewer" in json.loads(body)["detail"]


def test_a_large_head_in_one_piece_is_refused_and_the_largest_is_taken(connection):
    connection.data_received(LINE + b"X: " + b"x" * (MOST_HEAD - 100) + b"\r\n\r\n")
    assert not connection.transport.closed and connection.cycle is not None
    connection.cycle = None
    connection.data_received(LINE + b"X: " + b"x" * MOST_HEAD + b"\r\n\r\n")
    assert connection.transport.written.startswith(b"HTTP/1.1 431 ") and connection.cycle is None


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"nonsense / HTTP/9.9\r\n\r\n"]
)
def test_what_is_no_http_is_refused_in_a_sentence(connection, sent):
    connection.data_received(sent)
    head, _, body = connection.transport.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ") and b"connection: close" in head
    assert json.loads(body)["detail"].endswith("HTTP.")


def test_it_ends_soon_though_clients_hang_and_the_ledger_is_locked(tmp_path, stored):
    ledger = tmp_path / "ledger.db"
    service = Service(tmp_path, stored / "model", "--ledger", ledger)
    body = json.dumps({"applicants": [{"row": ROW}]}).encode()
    try:
        hanging = [begin(service.port, body) for _ in range(20)]
        with socket.create_connection(("127.0.0.1", service.port)) as endless, locked(ledger):
            endless.sendall(LINE)
            waiting = begin(service.port, body)
            waiting.sendall(body[-1:])
            service.process.terminate()
            # Of itself, or by its own hand when a busy machine takes too long.
            assert service.process.wait(60) in (0, 1)
        for connection in (*hanging, waiting):
            connection.close()
    finally:
        service.stop()


def test_a_deadline_must_be_some_time(tmp_path):
    with pytest.raises(Exception, match="deadline must be above 0"):
        Settings(model=tmp_path, deadline=0.0)


def test_who_is_turned_away_is_told_before_anything_is_read_and_may_ask_again(connection):
    asked = []
    connection.turns_away = lambda path, headers: asked.append((path, dict(headers))) or True
    for _ in range(2):
        connection.data_received(LINE + b"Content-Length: 2\r\n\r\n")
        connection.data_received(b"{}")
    assert asked == 2 * [(b"/v1/decisions", {b"host": b"localhost", b"content-length": b"2"})]
    first, second, third = connection.transport.written.split(b"HTTP/1.1 503 Service Unavailable")
    assert first == b"" and second == third and b"retry-after: 1" in second
    assert json.loads(second.partition(b"\r\n\r\n")[2])["detail"].endswith("try again soon.")
    assert connection.waiting_since is None and not connection.transport.closed
    # The next one is heard.
    connection.turns_away = lambda *_: False
    connection.data_received(LINE + b"Content-Length: 2\r\n\r\n{}")
    assert connection.cycle.scope["path"] == "/v1/decisions"


BODY = b"Content-Length: 2\r\n\r\n{}"
PIECES = {
    "plain": [LINE + BODY],
    "one after the other": 3 * [LINE + BODY],
    "other spellings": [LINE + b"content-type:application/json\r\nCONTENT-LENGTH:  2\r\n\r\n{}"],
    "in pieces": [LINE, BODY[:10], BODY[10:-1], BODY[-1:], LINE + BODY],
    "two at once": [2 * (LINE + BODY), LINE + BODY],
    "more than was announced": [LINE + BODY + b"GET / HT", b"TP/1.1\r\n\r\n"],
    "less than was announced": [LINE + BODY[:-1], b"}", LINE + BODY],
    "no length": [LINE + b"\r\n", LINE + BODY],
    "two lengths": [LINE + b"Content-Length: 2\r\n" + BODY],
    "lengths that differ": [LINE + b"Content-Length: 1\r\n" + BODY],
    "chunks": [LINE + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", LINE + BODY],
    "a length and chunks": [LINE + b"Transfer-Encoding: chunked\r\n" + BODY],
    "who stays, and says so": [LINE + b"Connection: Keep-Alive\r\n" + BODY, LINE + BODY],
    "a last request": [LINE + b"Connection: close\r\n" + BODY],
    "who waits for leave": [LINE + b"Expect: 100-continue\r\n" + BODY],
    "another protocol": [LINE + b"Connection: upgrade\r\nUpgrade: h2c\r\n" + BODY],
    "an older version": [(LINE + BODY).replace(b"HTTP/1.1", b"HTTP/1.0")],
    "an older version that stays": [
        (LINE + b"Connection: keep-alive\r\n" + BODY).replace(b"HTTP/1.1", b"HTTP/1.0")
    ],
    "a line that is folded": [LINE + b"X: 1\r\n Content-Length: 3\r\n" + BODY],
    "a bare line feed": [LINE + b"X: 1\nTransfer-Encoding: chunked\r\n" + BODY],
    "a space before the colon": [LINE + b"Content-Length : 3\r\n" + BODY],
    "a length that is none": [LINE + b"Content-Length: +2\r\n\r\n{}"],
    "lines before it": [b"\r\n" + LINE + BODY, b"\r\n", LINE + BODY],
    "another method": [(LINE + BODY).replace(b"POST", b"PUT")],
    "a large head": [LINE + b"X: " + b"x" * MOST_HEAD + b"\r\n" + BODY],
}


@pytest.mark.parametrize("soon", [True, False])
@pytest.mark.parametrize("name", PIECES)
def test_in_a_crowd_a_request_is_turned_away_as_if_it_had_been_read(name, soon):
    read, unread = make_connection(), make_connection(Door(shut=True, soon=soon))
    for protocol in (read, unread):
        protocol.waits = lambda path, headers: (
            path == b"/v1/decisions" and (headers[0][1].isdigit())
        )
        protocol.turns_away = lambda path, _: path == b"/v1/decisions"
        for piece in PIECES[name]:
            if not protocol.transport.closed:
                protocol.data_received(piece)
        for guest in protocol.door.guests:
            guest.turn_away()
    assert unread.transport.written == read.transport.written
    assert unread.transport.closed == read.transport.closed
    assert (unread.waiting_since is None) == (read.waiting_since is None)
    assert read.transport.written or name == "lines before it"


def test_who_is_turned_away_without_being_read_may_ask_again_and_is_hung_up_on_later(connection):
    connection.door = Door(shut=True, soon=True)
    connection.parser = None
    for _ in range(2):
        connection.data_received(LINE + BODY)
    assert connection.transport.written.count(b"HTTP/1.1 503 ") == 2
    connection.loop.now += connection.timeout_keep_alive - 1
    connection.timeout_keep_alive_handler()
    assert not connection.transport.closed
    connection.loop.now += 2
    connection.timeout_keep_alive_handler()
    assert connection.transport.closed


@pytest.mark.parametrize("pieces", [[LINE + BODY], [LINE + BODY[:-1], b"}"], [LINE + BODY[:-2]]])
def test_who_is_let_in_is_read_and_who_has_hung_up_is_forgotten(pieces):
    door = Door(shut=True)
    staying, leaving = make_connection(door), make_connection(door)
    for protocol in (staying, leaving):
        for piece in pieces:
            protocol.data_received(piece)
        assert protocol.cycle is None and not protocol.transport.written
    leaving.connection_lost(None)
    assert door.guests == [staying, leaving]
    assert not leaving.turn_away()
    for guest in door.guests:
        guest.let_in()
    assert staying.cycle.scope["path"] == "/v1/decisions"
    assert staying.cycle.body == b"".join(pieces).partition(b"\r\n\r\n")[2]
    assert leaving.cycle is None and not leaving.transport.written
    # Nothing of it is left.
    assert not staying.turn_away()


def test_whoever_waits_at_the_door_is_told_when_the_service_ends():
    connection = make_connection(Door(shut=True))
    connection.data_received(LINE + BODY)
    connection.shutdown()
    assert connection.transport.written.startswith(b"HTTP/1.1 503 ")
    assert connection.transport.closed


def test_only_small_requests_for_decisions_are_turned_away_unread(monkeypatch):
    decisions = Decisions(Answers(), 2.0)

    def full(_):
        raise Busy

    monkeypatch.setattr(decisions._few, "check", full)
    path, length = b"/v1/decisions", b"content-length"
    assert decisions.turns_away(path, [(length, b"300")])
    for other in ([(length, b"30000")], [(length, b"x")], [(b"transfer-encoding", b"chunked")]):
        assert not decisions.turns_away(path, other)
    assert not decisions.turns_away(b"/healthz", [(length, b"300")])
