"""Who may ask for what, and how often."""

import logging
import math
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from rocourse.errors import ConfigError
from rocourse.service._guards import RateLimit
from rocourse.service._keys import Caller, KeyRing, Role

log = logging.getLogger("rocourse.service")

_bearer = HTTPBearer(
    auto_error=False, description="An API key, made with `rocourse keys add`.", scheme_name="key"
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
# What OpenAPI is told of a route that checks keys by itself.
SECURED: dict[str, Any] = {"security": [{"key": []}]}
Guard = Callable[..., Coroutine[Any, Any, Caller]]

_JSON = "application/json"

# Without a file of keys, who can reach the service may use it.
_EVERYONE = Caller("anyone", frozenset(Role))


class Access:
    """Lets callers in.

    Args:
        ring: The keys; None lets everyone in.
        limit: How often each may ask.
    """

    def __init__(self, ring: KeyRing | None, limit: RateLimit) -> None:
        self._ring, self._limit = ring, limit

    def allow(self, role: Role | None) -> Guard:
        """The dependency that lets a role in; None lets every key in."""

        async def guard(request: Request, _: Credentials) -> Caller:
            return await self.check(request, role)

        return guard

    async def check(self, request: Request, role: Role | None) -> Caller:
        """Who asks.

        Raises:
            HTTPException: They may not, or not now, or not in this form.
        """
        caller = _EVERYONE if self._ring is None else _find(self._ring, await _bearer(request))
        if role is not None and role not in caller.roles:
            raise HTTPException(
                403, f"This needs a key with the role {role.value}, which yours has not."
            )
        address = request.client.host if request.client else ""
        wait = self._limit.wait(caller.name if self._ring else address)
        if wait > 0.0:
            raise HTTPException(
                429,
                "Too many requests: wait a moment, or send more rows in each.",
                {"Retry-After": str(math.ceil(wait))},
            )
        _check_content_type(request)
        return caller


def _find(ring: KeyRing, credentials: HTTPAuthorizationCredentials | None) -> Caller:
    try:
        caller = ring.caller(credentials.credentials) if credentials else None
    except ConfigError as error:
        log.error("nobody is let in: %s", error)
        raise HTTPException(503, "The keys cannot be read at the moment.") from error
    if caller is None:
        raise HTTPException(
            401,
            "An API key is needed, as `Authorization: Bearer KEY`, and none, a wrong one or one "
            "that has expired was given.",
            {"WWW-Authenticate": "Bearer"},
        )
    return caller


def _check_content_type(request: Request) -> None:
    headers = request.headers
    kind = headers.get("content-type")
    if request.method != "POST" or kind == _JSON or headers.get("content-length") == "0":
        return
    if kind is None and not any(
        name in headers for name in ("content-length", "transfer-encoding")
    ):
        return
    if (kind or "").split(";")[0].strip().lower() != _JSON:
        raise HTTPException(415, "A body must be application/json, but this one is not.")
