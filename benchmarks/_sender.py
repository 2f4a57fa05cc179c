"""A client that costs less than the service that it asks: sockets that stay open, and one thread.

Where client and service share the cores, every microsecond of the client is taken from the service.
"""

import math
import re
import select
import socket
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_END = b"\r\n\r\n"
# What `Retry-After` says.
_REST = 1.0
# What is not answered by then is counted as failed.
_PATIENCE = 60.0


@dataclass
class Sent:
    """What came of some requests.

    Attributes:
        times: Seconds from when each was due, or sent, to its answer.
        accepted: Those of them that were answered with 200.
        refused: When some were answered with 503.
        failed: How many were answered otherwise, without a recourse, or not at all.
        seconds: From the first to the last answer.
    """

    times: list[float] = field(default_factory=list)
    accepted: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    failed: int = 0
    seconds: float = 0.0


class Sender:
    """Connections to a service, each with one request at a time, which has a key of its own.

    Args:
        port: Of the service.
        bodies: What is asked for, in turn; refused applicants who can be helped.
        connections: How many there are at most.
    """

    def __init__(self, port: int, bodies: Sequence[bytes], connections: int) -> None:
        self._address, self._bodies, self._most = ("127.0.0.1", port), bodies, connections
        self._number, self._name = 0, uuid.uuid4().hex.encode()
        self._poll = select.epoll()
        self._open: dict[int, socket.socket] = {}
        # The one that was used last comes first: the service hangs up on those that are idle.
        self._free: list[int] = []
        # Of each that waits: when its request was due, and what came of the answer so far.
        self._waiting: dict[int, tuple[float, bytes]] = {}

    def close(self) -> None:
        """Hangs up."""
        for one in self._open.values():
            one.close()
        self._poll.close()

    def at_rate(self, rate: float, seconds: float) -> Sent:
        """Sends requests when they are due, whether or not earlier ones have been answered.

        Times count from when a request was due: one that finds no free connection waits, and that
        counts.
        """
        return self._send(self._most, rate, seconds)

    def in_turn(self, clients: int, seconds: float) -> Sent:
        """Has so many clients ask one after the other; one that is refused rests for a second."""
        return self._send(clients, math.inf, seconds)

    def _send(self, clients: int, rate: float, seconds: float) -> Sent:
        sent, number, start = Sent(), 0, time.perf_counter()
        end = start + seconds
        while True:
            now = time.perf_counter()
            more = (now < end) if rate == math.inf else number < rate * seconds
            pause = 0.01
            resting = 0 if rate < math.inf else sum(then > now - _REST for then in sent.refused)
            while more and len(self._waiting) + resting < clients:
                due = now if rate == math.inf else start + number / rate
                if due > now:
                    pause = due - now
                    break
                self._ask(due)
                number += 1
                more = rate == math.inf or number < rate * seconds
            if not (more or self._waiting) or now > end + _PATIENCE:
                break
            # Looked at this way: epoll itself waits for whole milliseconds.
            if select.select([self._poll], [], [], pause)[0]:
                for connection, _ in self._poll.poll(0):
                    self._hear(connection, sent)
        sent.seconds = time.perf_counter() - start
        sent.failed += len(self._waiting)
        return sent

    def _ask(self, due: float) -> None:
        connection = self._free.pop() if self._free else self._connect()
        self._waiting[connection] = due, b""
        self._number += 1
        body = self._bodies[self._number % len(self._bodies)]
        # One that was hung up on a moment ago is heard of in its turn.
        with suppress(OSError):
            self._open[connection].sendall(
                b"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: %s-%d\r\n"
                b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (self._name, self._number, len(body), body)
            )

    def _connect(self) -> int:
        one = socket.create_connection(self._address)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open[one.fileno()] = one
        self._poll.register(one.fileno(), select.EPOLLIN)
        return one.fileno()

    def _hear(self, connection: int, sent: Sent) -> None:
        received = b""
        with suppress(OSError):
            received = self._open[connection].recv(1 << 16)
        if not received:
            self._open.pop(connection).close()
            if self._waiting.pop(connection, None) is None:
                self._free.remove(connection)
            else:
                sent.failed += 1
            return
        due, before = self._waiting[connection]
        answer = before + received
        head = answer.find(_END)
        length = _LENGTH.search(answer, 0, head) if head > 0 else None
        if length is None or len(answer) < head + len(_END) + int(length[1]):
            self._waiting[connection] = due, answer
            return
        del self._waiting[connection]
        self._free.append(connection)
        sent.times.append(time.perf_counter() - due)
        if answer.startswith(b"HTTP/1.1 200") and b'"status": "found"' in answer:
            sent.accepted.append(sent.times[-1])
        elif answer.startswith(b"HTTP/1.1 503"):
            sent.refused.append(time.perf_counter())
        else:
            sent.failed += 1
