"""Routes by which the ledger forgets a person, and says what it forgot."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException
from fastapi.responses import JSONResponse

from rocourse.ledger import Erasure
from rocourse.service import _documents as documents
from rocourse.service._access import Guard
from rocourse.service._backend import Backend, iso
from rocourse.service._keys import Caller
from rocourse.service._ledgers import Ledgers

_PATH = "/v1/erasures"
_RESPONSES: dict[int | str, dict[str, Any]] = {
    404: {"model": documents.Problem, "description": "There is no such promise"},
    409: {"model": documents.Problem, "description": "Against the record"},
}


def ledgers_of(backend: Backend) -> Ledgers:
    """The ledger of a service, by all its connections.

    Raises:
        HTTPException: It keeps none.
    """
    if backend.ledgers is None:
        raise HTTPException(
            409, "This service keeps no ledger; start it with --ledger to record promises."
        )
    return backend.ledgers


def add_erasure_routes(
    app: FastAPI,
    backend: Backend,
    guard: Guard,
    run: Callable[[Callable[[], Any]], Awaitable[Any]],
) -> None:
    """Adds the routes.

    Args:
        app: The service.
        backend: What it does.
        guard: Lets in who may.
        run: Does work where others need not wait for it.
    """

    @app.post(_PATH, response_model=documents.ErasureAnswer, responses=_RESPONSES)
    async def erase(
        body: documents.SubjectErasure | documents.PromiseErasure | documents.AgeErasure,
        caller: Annotated[Caller, Depends(guard)],
    ) -> JSONResponse:
        """Removes what is personal in promises of the caller's tenant; what binds is withdrawn."""
        upkeep, tenant = ledgers_of(backend).reading.upkeep, caller.tenant

        def forget() -> dict[str, Any]:
            if isinstance(body, documents.AgeErasure):
                done = upkeep.retain(days=body.days, tenant=tenant, note=body.note)
                total = sum(one.promises for one in done)
                if done:
                    return {**_document(done[-1]), "promises": total}
                nothing = {"number": None, "at": iso(backend.clock()), "kind": "retain"}
                return {**nothing, "note": body.note, "promises": 0}
            whom = body.model_dump(exclude={"note"})
            return _document(upkeep.erase(**whom, tenant=tenant, note=body.note))

        return JSONResponse(await run(forget))

    @app.get(_PATH, response_model=documents.ErasuresAnswer, responses={409: _RESPONSES[409]})
    async def erasures(caller: Annotated[Caller, Depends(guard)]) -> JSONResponse:
        """What was erased of the caller's tenant, on request or for its age."""
        upkeep = ledgers_of(backend).reading.upkeep
        found = await run(lambda: upkeep.erasures(tenant=caller.tenant))
        return JSONResponse({"erasures": [_document(one) for one in found]})


def _document(done: Erasure) -> dict[str, Any]:
    return {
        "number": done.number,
        "at": iso(done.at),
        "kind": done.kind,
        "note": done.note,
        "promises": done.promises,
    }
