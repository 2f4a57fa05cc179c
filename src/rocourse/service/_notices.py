"""The route by which a letter is made of a promise."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import pandas as pd
from fastapi import Depends, FastAPI, HTTPException, Path, Query, Response

from rocourse.service import _documents as documents
from rocourse.service._access import Guard
from rocourse.service._backend import Backend
from rocourse.service._erasures import ledgers_of
from rocourse.service._keys import Caller
from rocourse.service._lanes import Lane

if TYPE_CHECKING:
    from rocourse.reports.letters import Format, Lender

# The first one takes longest: what it needs is imported and compiled.
_SECONDS = 25.0
_TYPES = {
    "html": "text/html; charset=utf-8",
    "text": "text/plain; charset=utf-8",
    "pdf": "application/pdf",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The letter",
        "content": {kind.split(";")[0]: {"schema": {"type": "string"}} for kind in _TYPES.values()},
    },
    404: {"model": documents.Problem, "description": "There is none of this id"},
    409: {"model": documents.Problem, "description": "Against the record"},
}


def add_notice_route(
    app: FastAPI,
    backend: Backend,
    guard: Guard,
    lane: Lane,
) -> None:
    """Adds the route.

    Args:
        app: The service.
        backend: What it does.
        guard: Lets in who may.
        lane: Where letters are made.
    """

    lender = _lender(backend)

    @app.get("/v1/recourses/{id}/notice", response_class=Response, responses=_RESPONSES)
    async def notice(
        id: Annotated[documents.PromiseId, Path()],
        caller: Annotated[Caller, Depends(guard)],
        format: Annotated[Literal["html", "text", "pdf"], Query()] = "html",
        language: Annotated[Literal["en", "de"], Query()] = "en",
    ) -> Response:
        """The letter to the applicant: decision, reasons, what was promised, rights."""
        ledgers_of(backend)
        asked = backend, id, caller.tenant, format, language, lender
        content = await lane.run(_letter, *asked, within=_SECONDS)
        return Response(content, headers={"content-type": _TYPES[format]})


def _lender(backend: Backend) -> "Lender | None":
    """Read when the service starts: what is wrong with the file is known at once."""
    path = backend.settings.lender
    if path is None:
        return None
    from rocourse.reports.letters import read_lender

    return read_lender(path, backend.decider.schema)


def _letter(
    backend: Backend,
    id: str,
    tenant: str,
    format: "Format",
    language: str,
    lender: "Lender | None",
) -> bytes:
    # Imported by who asks for letters alone.
    from rocourse.reports.letters import (
        Lender,
        WithheldLetter,
        case_of,
        make_letter,
        read_words,
        render_letter,
    )

    decider = backend.decider
    promises = ledgers_of(backend).reading.options_of(id, tenant=tenant)
    if promises[0].erased:
        raise HTTPException(409, "What is personal about this promise was erased.")
    if promises[0].model != decider.digest:
        raise HTTPException(
            409,
            "A letter must be made with the model that decided, but another one is in service now; "
            "make it with `rocourse notice MODEL --ledger ... --promise ...`.",
        )
    row = pd.DataFrame([dict(promises[0].row)])
    reasons = decider.model.reasons(row, desired=promises[0].desired)
    try:
        case = case_of(promises, reasons, at=backend.clock())
        letter = make_letter(case, decider.schema, read_words(language), lender or Lender())
    except WithheldLetter as error:
        raise HTTPException(409, str(error)) from None
    return render_letter(letter, format)
