"""The service as an ASGI application."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import create_model

import rocourse
from rocourse.errors import (
    ArtifactError,
    ConfigError,
    DataError,
    LedgerError,
    RocourseError,
    SettledPromise,
    UnknownPromise,
)
from rocourse.ledger import Conflict, Ledger
from rocourse.service import _documents as documents
from rocourse.service._access import SECURED, Access
from rocourse.service._audits import LedgerAuditor
from rocourse.service._backend import Backend, Question, promise_document
from rocourse.service._batching import Batcher, Busy
from rocourse.service._decision_reader import DecisionReader
from rocourse.service._fast_path import FastPath, FastRoute
from rocourse.service._guards import Guards, RateLimit, problem
from rocourse.service._keys import KeyRing, Role
from rocourse.service._metrics import CONTENT_TYPE_LATEST
from rocourse.service._model_document import model_document
from rocourse.service._reading import StrictRoute
from rocourse.service._rows import plain_row
from rocourse.service._settings import LOOPBACK, Settings

# Rows that share one commit: where a disk is slow, many do, and none waits for several commits.
_MOST_ROWS_AT_ONCE = 256
# In whole requests' worth of rows: what may wait before more is refused.
_MOST_WAITING = 4

_DECISIONS = "/v1/decisions"
Responses = dict[int | str, dict[str, Any]]
_PROBLEMS: Responses = {
    status: {"model": documents.Problem, "description": description}
    for status, description in {
        400: "Not JSON, or another host",
        401: "No key, or a wrong one",
        403: "The key lacks the role",
        413: "Too large",
        415: "Not application/json",
        422: "Not as the schema has it",
        429: "Too many requests",
        503: "Not now",
    }.items()
}
_MISSING: Responses = {404: {"model": documents.Problem, "description": "There is no such promise"}}
_CONFLICT: Responses = {409: {"model": documents.Problem, "description": "Against the record"}}
_TEXT: Responses = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


def create_app(settings: Settings, *, backend: Backend | None = None) -> FastAPI:
    """The service.

    Args:
        settings: What it serves, remembers and refuses.
        backend: A backend that is open already; it is closed with the service.

    Raises:
        RocourseError: The model, the ledger or the keys cannot be read.
    """
    ring = None if settings.keys is None else KeyRing.read(settings.keys)
    backend = backend or Backend.open(settings)
    batcher: Batcher[Question, str | Conflict] = Batcher(
        backend.answer,
        lambda asked: len(asked.rows),
        most=_MOST_ROWS_AT_ONCE,
        most_waiting=_MOST_WAITING * settings.max_rows,
        light=lambda: backend.prompt_rows,
    )
    # Wishes and options take a search each: they have a thread of their own, one request at a time,
    # so that the others do not wait for them.
    searches: Batcher[Question, str | Conflict] = Batcher(
        backend.answer,
        lambda asked: len(asked.rows),
        most=1,
        most_waiting=_MOST_WAITING * settings.max_rows,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await batcher.close()
        await searches.close()
        backend.close()

    app = FastAPI(
        title="rocourse",
        version=rocourse.__version__,
        summary="Decisions with recourse, and promises that are kept.",
        lifespan=lifespan,
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        responses=_PROBLEMS,
    )
    app.router.route_class = StrictRoute
    app.state.backend = backend
    _handle_failures(app)

    async def ask(question: Question) -> str | Conflict:
        return await (batcher if question.choices is None else searches).ask(question)

    decide = _add_routes(app, settings, backend, ask, ring)
    _add_page(app)
    names = {*LOOPBACK, settings.host, *settings.hosts}
    route = FastRoute(_DECISIONS, "POST", decide)
    app.add_middleware(FastPath, route=route, handlers=app.exception_handlers)
    app.add_middleware(Guards, max_bytes=settings.max_bytes, hosts=names, metrics=backend.metrics)
    return app


def _add_routes(
    app: FastAPI,
    settings: Settings,
    backend: Backend,
    ask: Callable[[Question], Awaitable[str | Conflict]],
    ring: KeyRing | None,
) -> Callable[[Request], Awaitable[Response]]:
    """Adds all routes; gives the endpoint that decides."""
    access = Access(ring, RateLimit(settings.rate))
    allow = access.allow
    auditor = LedgerAuditor(backend)
    row = backend.row
    example = backend.decider.example()
    reader = DecisionReader(row, lambda: backend.decider.schema, settings.max_rows, example)
    # A name of its own: OpenAPI shows it.
    returned = create_model(
        "RedemptionRequest",
        __base__=documents.RedemptionRequest[row],  # type: ignore[valid-type]
    )

    @app.post(
        _DECISIONS,
        response_model=documents.DecisionsAnswer,
        responses=_CONFLICT,
        openapi_extra=reader.description() | SECURED,
    )
    async def decide(request: Request) -> Response:
        """Decides on rows, with a recourse for those that are refused."""
        caller = await access.check(request, Role.DECIDE)
        question = await reader.read(request, caller.name)
        answer = await ask(question)
        if isinstance(answer, Conflict):
            raise HTTPException(
                409, "This Idempotency-Key was used for another request; choose a new one."
            )
        return Response(answer, media_type="application/json")

    @app.get(
        "/v1/recourses/{id}",
        response_model=documents.PromiseAnswer,
        responses=_MISSING | _CONFLICT,
        dependencies=[Depends(allow(Role.READ))],
    )
    def recourse(id: Annotated[documents.PromiseId, Path()]) -> JSONResponse:
        """What was promised, and what became of it."""
        ledger = _ledger(backend)
        return JSONResponse(promise_document(ledger.promise(id), ledger))

    @app.post(
        "/v1/redemptions",
        response_model=documents.RedemptionAnswer,
        responses=_MISSING | _CONFLICT,
        dependencies=[Depends(allow(Role.DECIDE))],
    )
    def redeem(body: returned) -> JSONResponse:  # type: ignore[valid-type]
        """Someone returns: is the recourse fulfilled, and does the model in service honour it?"""
        _ledger(backend)
        presented = plain_row(body.row)  # type: ignore[attr-defined]
        return JSONResponse(backend.redeem(body.id, presented))  # type: ignore[attr-defined]

    @app.get(
        "/v1/model",
        response_model=documents.ModelAnswer,
        dependencies=[Depends(allow(None))],
    )
    async def model() -> JSONResponse:
        """The model in service, and the rows that it takes."""
        return JSONResponse(model_document(backend, example))

    @app.post(
        "/v1/model/reload",
        response_model=documents.ReloadAnswer,
        responses=_CONFLICT,
        dependencies=[Depends(allow(Role.OPERATE))],
    )
    async def reload() -> dict[str, Any]:
        """Puts the model that is on disk now in service, or leaves everything as it was."""
        return await run_in_threadpool(backend.reload)

    @app.get(
        "/v1/audit",
        response_model=documents.AuditAnswer,
        responses=_CONFLICT,
        dependencies=[Depends(allow(Role.AUDIT))],
    )
    def audit() -> JSONResponse:
        """How open promises fare before the model in service and the candidates."""
        return JSONResponse(auditor.report(_ledger(backend)))

    @app.get("/healthz", response_model=documents.Health)
    async def health() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "ok"}

    @app.get("/readyz", response_model=documents.Health)
    def ready() -> dict[str, str]:
        """Whether model and ledger answer."""
        if backend.ledger is not None:
            backend.ledger.ping()
        return {"status": "ok"}

    @app.get("/metrics", response_class=Response, responses=_TEXT)
    async def metrics() -> Response:
        """Counters for Prometheus."""
        return Response(backend.metrics.text(), headers={"content-type": CONTENT_TYPE_LATEST})

    return decide


def _ledger(backend: Backend) -> Ledger:
    if backend.ledger is None:
        raise HTTPException(
            409, "This service keeps no ledger; start it with --ledger to record promises."
        )
    return backend.ledger


def _add_page(app: FastAPI) -> None:
    static = files("rocourse.service") / "static"
    page = (static / "index.html").read_text(encoding="utf-8")

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return Response(page, media_type="text/html; charset=utf-8")

    app.mount("/static", StaticFiles(directory=str(static)))


def _handle_failures(app: FastAPI) -> None:
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
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Busy, _busy)


def _in_one_sentence(status: int) -> Any:
    async def handle(_: Request, error: Exception) -> JSONResponse:
        return problem(status, str(error))

    return handle


async def _refused(_: Request, __: Exception) -> JSONResponse:
    # The error's own sentence quotes the row.
    return problem(
        422,
        "A row must be one that the model in service takes, but it refuses this one, as for a "
        "number outside its training range; correct the row.",
    )


async def _busy(_: Request, __: Exception) -> JSONResponse:
    return problem(503, "The service has more to do than it can; try again soon.", Retry_After="1")


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    """The first thing that is wrong. What was sent is not repeated: it may be personal."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return problem(400, "The body must be JSON, but it cannot be read as JSON.")
    place = " → ".join(map(str, first["loc"][:8]))[:300]
    message = str(first["msg"]).removeprefix("Value error, ")
    return problem(
        422,
        f"The request is not as it must be at {json.dumps(place, ensure_ascii=False)}: {message}.",
    )
