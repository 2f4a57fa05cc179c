"""Reading bodies: JSON that says everything once."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute


class StrictRequest(Request):
    """A request whose JSON may not name anything twice.

    Of two values of one name, some programs read the first and some the last: who checks a request
    on its way here could see another applicant than the one that is decided on.
    """

    async def json(self) -> Any:
        """The body."""
        return json.loads(await self.body(), object_pairs_hook=_once)


class StrictRoute(APIRoute):
    """A route that reads strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As FastAPI's, with a strict request."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return strictly


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise HTTPException(400, "The body must name every field once, but it names one twice.")
    return found
