"""What goes wrong, as callers are told it: one sentence, and nothing of what was sent."""

import json
import math
from collections.abc import Iterable, Set
from functools import partial
from itertools import islice
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect

from rocourse.errors import (
    ArtifactError,
    ConfigError,
    DataError,
    LedgerError,
    RocourseError,
    SettledPromise,
    UnknownPromise,
)
from rocourse.service._guards import BUSY, problem
from rocourse.service._lanes import Busy, Late

_LONGEST_RETRY = 30
_UNKNOWN = "(a name that is not known)"


# What places in a request are called; anything else is the caller's own word.
_KNOWN = frozenset(
    ("body", "path", "query", "header", "id", "applicants", "row", "subject", "options")
    + ("wishes", "lock", "only", "ranges", "prefer", "format", "language")
)


def handle_failures(app: FastAPI, features: Iterable[str]) -> None:
    """Has an app answer exceptions.

    Args:
        app: The app.
        features: The names that rows may have.
    """
    known = _KNOWN | set(features)
    statuses: dict[type[RocourseError], int] = {
        UnknownPromise: 404,
        SettledPromise: 409,
        LedgerError: 503,
        ArtifactError: 409,
        ConfigError: 409,
        RocourseError: 422,
    }
    for kind, status in statuses.items():
        app.add_exception_handler(kind, _in_one_sentence(status))
    app.add_exception_handler(DataError, _refused)
    app.add_exception_handler(RequestValidationError, partial(_invalid, known))
    app.add_exception_handler(Busy, _busy)
    app.add_exception_handler(Late, _late)
    app.add_exception_handler(ClientDisconnect, _gone)


def _in_one_sentence(status: int) -> Any:
    async def handle(_: Request, error: Exception) -> JSONResponse:
        again = {"Retry_After": "1"} if status == 503 else {}
        return problem(status, str(error), **again)

    return handle


async def _refused(_: Request, __: Exception) -> JSONResponse:
    # The error's own sentence quotes the row.
    return problem(
        422,
        "A row must be one that the model in service takes, but it refuses this one, as for a "
        "number outside its training range; correct the row.",
    )


async def _busy(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Busy)
    again = str(min(math.ceil(error.seconds), _LONGEST_RETRY))
    return problem(503, BUSY, Retry_After=again)


async def _late(_: Request, __: Exception) -> JSONResponse:
    return problem(
        503,
        "The answer must be ready in time, but it is not; try again, with the same Idempotency-Key "
        "if there is one, for it may yet be written down.",
        Retry_After="1",
    )


async def _gone(_: Request, __: Exception) -> Response:
    """Who hung up reads no answer; the log has the number that others use for it."""
    return Response(status_code=499)


async def _invalid(known: Set[str], _: Request, error: Exception) -> JSONResponse:
    """The first thing that is wrong. What was sent is not repeated: it may be personal."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return problem(400, "The body must be JSON, but it cannot be read as JSON.")
    told = (str(part) if type(part) is int or part in known else _UNKNOWN for part in first["loc"])
    place = " → ".join(islice(told, 8))[:300]
    message = str(first["msg"]).removeprefix("Value error, ")
    return problem(
        422,
        f"The request is not as it must be at {json.dumps(place, ensure_ascii=False)}: {message}.",
    )
