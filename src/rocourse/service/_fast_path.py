"""A short way for the requests that come most."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from rocourse.service._guards import App, Receive, Scope, Send
from rocourse.service._reading import StrictRequest


class FastRoute(NamedTuple):
    """What takes requests the short way; logs and metrics read its `path`, as of any route."""

    path: str
    method: str
    endpoint: Callable[[Request], Awaitable[Response]]


class FastPath:
    """ASGI middleware that hands requests of one kind to their endpoint at once.

    Looking up the route, and the layers that FastAPI wraps every endpoint in, take longer than a
    decision. The endpoint is a route of the app as well, which describes it to OpenAPI; it needs
    none of the layers but the one that turns exceptions into answers, which is here.

    Args:
        app: What answers all other requests, and says how exceptions are answered.
        route: What goes the short way.
        handlers: How exceptions are answered, by their class.
    """

    def __init__(self, app: App, *, route: FastRoute, handlers: Mapping[Any, Any]) -> None:
        self._app, self._route, self._handlers = app, route, handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        route = self._route
        if scope["type"] != "http" or (scope["path"], scope["method"]) != (
            route.path,
            route.method,
        ):
            await self._app(scope, receive, send)
            return
        scope["route"] = route
        request = StrictRequest(scope, receive)
        try:
            response = await route.endpoint(request)
        except Exception as error:
            handlers = (self._handlers.get(kind) for kind in type(error).__mro__)
            handle = next((found for found in handlers if found is not None), None)
            if handle is None:
                raise
            response = await handle(request, error)
        await response(scope, receive, send)
