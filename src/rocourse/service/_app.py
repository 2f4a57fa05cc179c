"""The service as an ASGI application."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.resources import files
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import create_model

import rocourse
from rocourse.ledger import Conflict
from rocourse.service import _documents as documents
from rocourse.service._access import SECURED, Access
from rocourse.service._audit_documents import AuditAnswer
from rocourse.service._backend import Backend, promise_document
from rocourse.service._decision_reader import DecisionReader
from rocourse.service._decisions import PATH as DECISIONS
from rocourse.service._erasures import add_erasure_routes, ledgers_of
from rocourse.service._failures import handle_failures
from rocourse.service._fast_path import FastPath, FastRoute
from rocourse.service._guards import Guards, RateLimit
from rocourse.service._keys import Caller, KeyRing, Role
from rocourse.service._metrics import CONTENT_TYPE_LATEST
from rocourse.service._model_document import model_document
from rocourse.service._notices import add_notice_route
from rocourse.service._reading import StrictRoute
from rocourse.service._rows import plain_row
from rocourse.service._settings import LOOPBACK, Settings
from rocourse.service._work import Work

# Promises of one answer: more than anybody has.
_LISTED = 1000

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
_MISSING: Responses = {404: {"model": documents.Problem, "description": "There is none of this id"}}
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
    work = Work(backend, settings.deadline)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await work.close()
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
        # Its own spans would hold paths and queries: ids of promises and subjects.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.router.route_class = StrictRoute
    app.state.backend, app.state.work = backend, work
    handle_failures(app, backend.decider.schema.names)

    decide = _add_routes(app, settings, backend, work, ring)
    _add_page(app)
    names = {*LOOPBACK, settings.host, *settings.hosts}
    route = FastRoute(DECISIONS, "POST", decide)
    app.add_middleware(FastPath, route=route, handlers=app.exception_handlers)
    app.add_middleware(
        Guards,
        max_bytes=settings.max_bytes,
        hosts=names,
        metrics=backend.metrics,
        tracing=backend.tracing,
    )
    return app


def _add_routes(
    app: FastAPI,
    settings: Settings,
    backend: Backend,
    work: Work,
    ring: KeyRing | None,
) -> Callable[[Request], Awaitable[Response]]:
    """Adds all routes; gives the endpoint that decides."""
    access = Access(ring, RateLimit(settings.rate))
    allow = access.allow
    row = backend.row

    async def look_up(read: Callable[[], Any]) -> Any:
        return await work.lookups.run(read, within=settings.deadline)

    example = backend.decider.example()
    reader = DecisionReader(row, lambda: backend.decider.schema, settings.max_rows, example)
    # A name of its own: OpenAPI shows it.
    returned = create_model(
        "RedemptionRequest",
        __base__=documents.RedemptionRequest[row],  # type: ignore[valid-type]
    )

    @app.post(
        DECISIONS,
        response_model=documents.DecisionsAnswer,
        responses=_CONFLICT,
        openapi_extra=reader.description() | SECURED,
    )
    async def decide(request: Request) -> Response:
        """Decides on rows, with a recourse for those that are refused."""
        caller = await access.check(request, Role.DECIDE)
        question = replace(await reader.read(request, caller), traced=backend.tracing.here())
        answer = await work.decisions.ask(question)
        if isinstance(answer, Conflict):
            raise HTTPException(
                409, "This Idempotency-Key was used for another request; choose a new one."
            )
        return Response(answer, media_type="application/json")

    @app.get(
        "/v1/recourses/{id}",
        response_model=documents.PromiseAnswer,
        responses=_MISSING | _CONFLICT,
    )
    async def recourse(
        id: Annotated[documents.PromiseId, Path()],
        caller: Annotated[Caller, Depends(allow(Role.READ))],
    ) -> JSONResponse:
        """What was promised, and what became of it."""
        ledger = ledgers_of(backend).reading

        def find() -> dict[str, Any]:
            promise = ledger.promise(id, tenant=caller.tenant)
            return promise_document(promise, ledger.history(id), backend.clock())

        return JSONResponse(await look_up(find))

    @app.get("/v1/recourses", response_model=documents.PromisesAnswer, responses=_CONFLICT)
    async def recourses(
        subject: Annotated[documents.Reference, Query()],
        caller: Annotated[Caller, Depends(allow(Role.READ))],
    ) -> JSONResponse:
        """What was promised to a subject, and what became of it."""
        ledger, now = ledgers_of(backend).reading, backend.clock()

        def find() -> dict[str, Any]:
            found = ledger.promises_of(subject, page=_LISTED + 1, tenant=caller.tenant)
            told = [promise_document(one, ledger.history(one.id), now) for one in found[:_LISTED]]
            return {"promises": told, "complete": len(found) == len(told)}

        return JSONResponse(await look_up(find))

    @app.post(
        "/v1/redemptions",
        response_model=documents.RedemptionAnswer,
        responses=_MISSING | _CONFLICT,
    )
    async def redeem(
        body: returned,  # type: ignore[valid-type]
        caller: Annotated[Caller, Depends(allow(Role.DECIDE))],
    ) -> JSONResponse:
        """Someone returns: is the recourse fulfilled, and does the model in service honour it?"""
        ledgers_of(backend)
        presented = plain_row(body.row)  # type: ignore[attr-defined]
        id: str = body.id  # type: ignore[attr-defined]
        return JSONResponse(await look_up(lambda: backend.redeem(id, presented, caller.tenant)))

    add_notice_route(app, backend, allow(Role.READ), work.letters)
    add_erasure_routes(app, backend, allow(Role.ERASE), look_up)

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
        return await work.reloads.run(backend.reload)

    @app.post(
        "/v1/audits",
        status_code=202,
        response_model=AuditAnswer,
        responses=_CONFLICT,
    )
    async def audit(caller: Annotated[Caller, Depends(allow(Role.AUDIT))]) -> JSONResponse:
        """Has all promises that are owed judged by the model in service and the candidates."""
        ledgers_of(backend)
        found = await look_up(lambda: work.audits.start(caller.tenant))
        return JSONResponse(found.document(), 202, {"Location": f"/v1/audits/{found.id}"})

    @app.get(
        "/v1/audits/{id}",
        response_model=AuditAnswer,
        responses=_MISSING | _CONFLICT,
    )
    async def audited(
        id: Annotated[documents.PromiseId, Path()],
        caller: Annotated[Caller, Depends(allow(Role.AUDIT))],
    ) -> JSONResponse:
        """How far an audit is, and what it found."""
        ledgers_of(backend)
        found = await look_up(lambda: work.audits.find(id, caller.tenant))
        if found is None:
            raise HTTPException(
                404,
                "The id must be of an audit that is kept, but it is not; ask for a new one.",
            )
        return JSONResponse(found.document())

    @app.get("/healthz", response_model=documents.Health)
    async def health() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "ok"}

    @app.get("/readyz", response_model=documents.Health)
    async def ready() -> dict[str, str]:
        """Whether a model is in service, and the ledger can be written to."""
        await work.readiness.check()
        return {"status": "ok"}

    @app.get("/metrics", response_class=Response, responses=_TEXT)
    async def metrics() -> Response:
        """Counters for Prometheus."""
        await work.census.take()
        return Response(backend.metrics.text(), headers={"content-type": CONTENT_TYPE_LATEST})

    return decide


def _add_page(app: FastAPI) -> None:
    static = files("rocourse.service") / "static"
    page = (static / "index.html").read_text(encoding="utf-8")

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return Response(page, media_type="text/html; charset=utf-8")

    app.mount("/static", StaticFiles(directory=str(static)))
