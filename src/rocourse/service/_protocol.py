"""What stands before HTTP itself: nothing is kept of endless headers, and nobody waits for ever."""

import asyncio
import json
import re
from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from rocourse.service._door import Door
from rocourse.service._guards import BUSY_ANSWER

MOST_HEAD = 16 << 10
"""Bytes of a request's line and headers."""
HEAD_SECONDS = 10.0
"""For the line and the headers, from the connection or the first byte on."""
REQUEST_SECONDS = 30.0
"""For all of a request."""
ANSWER_SECONDS = 20.0
"""For an answer to be taken."""
_MOST_CONNECTIONS = 4096
_SWEEP_SECONDS = 1.0

_TOO_LARGE = (
    f"The line and the headers of a request must have at most {MOST_HEAD} bytes, but these have "
    "more; send fewer."
)
_INVALID = "The request must be HTTP, but it cannot be read as HTTP."

# A request whose head is whole and plain, and the headers that say how it goes on.
_PLAIN = re.compile(
    rb"POST ([!-~]+) HTTP/1\.([01])\r\n"
    rb"((?:[!#-'*+.0-9A-Z^-z|~-]+:[\t -~\x80-\xff]*\r\n)+)\r\n"
)
_TELLING = re.compile(
    rb"^(content-length|connection|expect|te|trailer|transfer-encoding|upgrade)"
    rb":[\t ]*(.*?)[\t ]*\r$",
    re.IGNORECASE | re.MULTILINE,
)
_LENGTH, _CONNECTION = b"content-length", b"connection"
_KEEP = b"keep-alive"


class _Done:
    """Stands for a request that was answered here."""

    response_complete, disconnected, message_event = True, False, asyncio.Event()


_DONE: Any = _Done()


def _closing(answer: bytes) -> bytes:
    return answer.replace(b"\r\n", b"\r\nconnection: close\r\n", 1)


class CarefulProtocol(HttpToolsProtocol):
    """One connection, whose client may be slow, silent or talk without end.

    The server that it extends keeps headers for as long as they come, and connections for as long
    as clients like.

    Attributes:
        waiting_since: When the request began to be waited for that is not whole yet; None while one
            is answered.
    """

    # Set by who serves: where requests wait in a crowd, which of them do, and whether a request is
    # refused because more comes than can be done, by their paths and headers. Asked before
    # anything is made of the request: saying so must cost next to nothing.
    door: Door
    waits: Callable[[bytes, list[tuple[bytes, bytes]]], bool]
    turns_away: Callable[[bytes, list[tuple[bytes, bytes]]], bool]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.waiting_since: float | None = None
        self._begun = self._head_read = self._too_large = False
        # What was received of a request that waits at the door, and how long it is when it is
        # whole, unless it has to be read even then; whether it is refused; and when something was
        # heard last of its client.
        self._held, self._whole = b"", 0
        self._refused, self._heard = False, 0.0
        # Of the head so far; and what was received since something came of it.
        self._head = self._pending = 0
        self._stuck_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for a request."""
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        if len(self.connections) > _MOST_CONNECTIONS:
            waiting = [one for one in self.connections if getattr(one, "waiting_since", None)]
            oldest: Any = min(waiting, key=lambda one: getattr(one, "waiting_since", 0.0))
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Reads on, unless it has been too much, or has to wait."""
        if self._held:
            self._held += data
            if len(self._held) > MOST_HEAD:
                self.let_in()
        elif not (self.door.is_shut() and self._waits(data)):
            self._read(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets what waits."""
        self._held = b""
        super().connection_lost(exc)

    def let_in(self) -> None:
        """Reads a request that has waited at the door."""
        data, self._held = self._held, b""
        if data and not self.transport.is_closing():
            self._read(data)

    def turn_away(self) -> bool:
        """Refuses a request that has waited at the door: if it is whole, without reading it."""
        data, self._held = self._held, b""
        if not data or self.transport.is_closing():
            return False
        if len(data) == self._whole:
            self.transport.write(BUSY_ANSWER)
            self.waiting_since = None
            if self.timeout_keep_alive_task is None:
                self.timeout_keep_alive_handler()
        else:
            self._refused = True
            self._read(data)
        return True

    def shutdown(self) -> None:
        """Ends when what was asked for is answered; what waits is refused."""
        self.turn_away()
        super().shutdown()
        if self.cycle is not None and not self.cycle.response_complete:
            # Older Uvicorn closes, but says so to those alone who have asked for it.
            self.cycle.scope["headers"] = [*self.cycle.scope["headers"], (b"connection", b"close")]

    def _read(self, data: bytes) -> None:
        if self.waiting_since is None:
            self.waiting_since = self.loop.time()
        self._pending += len(data)
        super().data_received(data)
        if self._pending > MOST_HEAD and not self.transport.is_closing():
            self._too_large = True
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Begins to wait for the rest of a request."""
        super().on_message_begin()
        self._head, self._begun, self._head_read = 0, True, False
        if self.waiting_since is None:
            self.waiting_since = self.loop.time()

    def on_url(self, url: bytes) -> None:
        """Takes the line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Takes a header; a trailer too."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Has the request answered, or turned away."""
        self._pending, self._head_read = 0, True
        refused, self._refused = self._refused, False
        if self._answered and (refused or self.turns_away(self.url, self.headers)):
            keep = self.parser.should_keep_alive()
            self.transport.write(BUSY_ANSWER if keep else _closing(BUSY_ANSWER))
            self.cycle = _DONE
            if not keep:
                self.transport.close()
            return
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Takes some of the body, which the application counts."""
        self._pending = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Waits no more."""
        self._pending, self._begun, self.waiting_since = 0, False, None
        super().on_message_complete()
        if self.cycle is _DONE:
            # It waits for the next request, though not for ever.
            self.on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuses what is no request, in one sentence, and hangs up."""
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE if self._too_large else 400
        body = json.dumps({"detail": _TOO_LARGE if self._too_large else _INVALID}).encode()
        head = (
            f"HTTP/1.1 {status:d} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        if self._answered:
            self.transport.write(head.encode() + body)
        self.transport.close()

    def sweep(self, now: float) -> None:
        """Hangs up on a client that has been waited for long enough."""
        left = self.transport.get_write_buffer_size()
        if not left:
            self._stuck_since = None
        elif self._stuck_since is None:
            self._stuck_since = now
        stuck = self._stuck_since is not None and now - self._stuck_since > ANSWER_SECONDS
        limit = REQUEST_SECONDS if self._head_read else HEAD_SECONDS
        silent = self.waiting_since is not None and now - self.waiting_since > limit
        if stuck or silent:
            self.transport.abort()

    def timeout_keep_alive_handler(self) -> None:
        """Hangs up on a client that asks for nothing more, unless it was turned away lately."""
        left = self._heard + self.timeout_keep_alive - self.loop.time()
        if left > 0.0:
            again = self.loop.call_later(left, self.timeout_keep_alive_handler)
            self.timeout_keep_alive_task = again
        else:
            super().timeout_keep_alive_handler()

    @property
    def _answered(self) -> bool:
        """Whether whatever was asked for before is answered."""
        return self.cycle is None or self.cycle.response_complete

    def _waits(self, data: bytes) -> bool:
        """Has a request wait at the door: one that comes alone, with a whole and plain head."""
        if self._begun or self._pending or not self._answered or len(data) > MOST_HEAD:
            return False
        plain = _PLAIN.match(data)
        if plain is None or self.transport.is_closing():
            return False
        path, version, head = plain.groups()
        found = _TELLING.findall(head)
        told = {name.lower(): value for name, value in found}
        if len(told) < len(found):
            return False
        length, connection = told.pop(_LENGTH, b""), told.pop(_CONNECTION, _KEEP)
        if told or not self.waits(path, [(_LENGTH, length)]):
            return False
        whole = plain.end() + int(length)
        if len(data) > whole:
            return False
        # Who is hung up on afterwards is refused by who knows how.
        stays = version == b"1" and connection.lower() == _KEEP
        self._held, self._whole = data, whole if stays else -1
        self._heard = self.loop.time()
        self.door.hold(self)
        return True

    def _count(self, more: int) -> None:
        self._head += more
        if self._head > MOST_HEAD:
            self._too_large = True
            raise ValueError("the head of a request is too large")


async def sweep(connections: Collection[Any]) -> None:
    """Looks after all connections, now and then: cheaper than a timer for every request."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        for connection in list(connections):
            connection.sweep(loop.time())
