"""What stands before every request: size, host, rate, headers, and a line in the log."""

import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from rocourse.service._logs import REQUEST, place_of, request_id
from rocourse.service._metrics import Metrics
from rocourse.service._tracing import Tracing, tell

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger("rocourse.service")

UNEXPECTED = "The service failed where it should not; its log says where."

_METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"))
_READING = frozenset(("GET", "HEAD", "OPTIONS"))
_OWN_SITES = frozenset(("same-origin", "none"))
_DIGITS = re.compile("[0-9]{1,18}")
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


# As they are sent, made once; pages' parts may be kept by who asks, answers may not.
_PART_HEADERS = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
_ANSWER_HEADERS = [*_PART_HEADERS, (b"cache-control", b"no-store")]

BUSY = "The service has more to do than it can; try again soon."
_BUSY_TEXT = json.dumps({"detail": BUSY})
_BUSY_HEADERS = {
    **_HEADERS,
    "cache-control": "no-store",
    "content-type": "application/json",
    "content-length": str(len(_BUSY_TEXT)),
    "retry-after": "1",
}
BUSY_ANSWER = (
    "HTTP/1.1 503 Service Unavailable\r\n"
    + "".join(f"{name}: {value}\r\n" for name, value in _BUSY_HEADERS.items())
    + f"\r\n{_BUSY_TEXT}"
).encode()
"""To whom would not be answered in time, as it is sent."""


class Guards:
    """ASGI middleware; the outermost, so that nothing passes it by.

    Args:
        app: What is guarded.
        max_bytes: The largest body.
        hosts: Names that requests may give the service. A page of another site that has its own
            name point here is refused by this.
        metrics: Where requests are counted.
        tracing: Where they are traced.
    """

    def __init__(
        self, app: App, *, max_bytes: int, hosts: Iterable[str], metrics: Metrics, tracing: Tracing
    ) -> None:
        self._app, self._most_bytes, self._metrics = app, max_bytes, metrics
        self._tracing = tracing
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Of several of one name the first counts.
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in reversed(scope["headers"])
        }
        id = request_id(headers.get("x-request-id"))
        token = REQUEST.set(id)
        try:
            with self._tracing.request(headers) as span:
                told = await self._handle(scope, receive, send, headers, id)
                tell(span, *told, id)
        finally:
            REQUEST.reset(token)

    async def _handle(
        self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str], id: str
    ) -> tuple[str, str, int]:
        """Handles one request, and gives its method, its route and its status."""
        started, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                ours = _PART_HEADERS if scope["path"].startswith("/static/") else _ANSWER_HEADERS
                message["headers"] = [*message["headers"], *ours, (b"x-request-id", id.encode())]
            await send(message)

        refusal = self._refusal(scope["method"], scope["path"], headers)
        try:
            if refusal is not None:
                await refusal(scope, receive, sending)
            else:
                await self._app(scope, _limited(receive, self._most_bytes), sending)
        except Exception as error:
            log.error("%s", place_of(error))
            if not status:
                await problem(500, UNEXPECTED)(scope, receive, sending)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "other")
            # Whoever makes up methods would have each of them counted for ever.
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.answered(method, route, status, seconds)
            # The route, not the path: ids and queries stay out of the log.
            facts = {
                "method": method,
                "route": route,
                "status": status,
                "milliseconds": round(1000 * seconds, 1),
            }
            values = (method, route, status, 1000 * seconds)
            log.info("%s %s %d %.1f ms", *values, extra={"facts": facts})
        return method, route, status

    def _refusal(self, method: str, path: str, headers: Mapping[str, str]) -> JSONResponse | None:
        if not self._is_own(headers.get("host", "").lower()):
            return problem(
                400,
                "The Host header must name this service, but it names another; ask for it by "
                "its own name, or start it with --allow-host.",
            )
        if self._is_foreign(method, headers):
            return problem(
                403,
                "A request from a page must be from a page of this service, but this one is from "
                "another site; ask from the service's own page, or from a program.",
            )
        # No file has such a name, and file systems fail where they are asked for it.
        if "\0" in path:
            return problem(404, "Not Found")
        length = headers.get("content-length", "0")
        # One that is too long to be read is too large besides.
        if not _DIGITS.fullmatch(length) or int(length) > self._most_bytes:
            return problem(413, too_large(self._most_bytes))
        return None

    def _is_foreign(self, method: str, headers: Mapping[str, str]) -> bool:
        """Whether a browser says that a page of another site asks for something to be done.

        Without keys, whoever reaches the service may use it: any page that its user happens to open
        could otherwise have their browser do so. Programs say nothing of the kind.
        """
        if method in _READING:
            return False
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None:
            return site not in _OWN_SITES
        return origin is not None and not self._is_own(origin.lower().partition("://")[2])

    def _is_own(self, host: str) -> bool:
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        return name.strip("[]") in self._hosts


def _limited(receive: Receive, max_bytes: int) -> Receive:
    """Counts the body while it is read: its length need not be what was announced."""
    seen = 0

    async def receiving() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > max_bytes:
            raise HTTPException(413, too_large(max_bytes))
        return message

    return receiving


def too_large(max_bytes: int) -> str:
    """The sentence for a body that is too large."""
    return f"A request must have at most {max_bytes} bytes, but this one has more; send fewer rows."


def problem(status: int, detail: str, **headers: str) -> JSONResponse:
    """A failure in one sentence."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse({"detail": detail}, status, headers=names)


class RateLimit:
    """So many requests a second of each caller, with a second's worth in store.

    Args:
        rate: Requests a second.
        clock: Gives seconds.
    """

    # Callers without a key are told apart by address; a table of them must not grow for ever.
    _MOST_CALLERS = 10_000

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._store = max(rate, 1.0)
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, caller: str) -> float:
        """Takes one request off a caller's store; gives the seconds to wait if it is empty."""
        now = self._clock()
        left, then = self._left.pop(caller, (self._store, now))
        left = min(self._store, left + (now - then) * self._rate)
        allowed = left >= 1.0
        # Put in again at the end: the first ones are those that were away for longest.
        self._left[caller] = (left - 1.0 if allowed else left, now)
        if len(self._left) > self._MOST_CALLERS:
            del self._left[next(iter(self._left))]
        return 0.0 if allowed else (1.0 - left) / self._rate
