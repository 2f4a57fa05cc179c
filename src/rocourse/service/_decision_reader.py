"""Requests for decisions, read by hand.

They are what a service is asked for most. FastAPI would look up parameters, keys and body one by
one, which takes as long as the decision itself; here they are read in one go, and described to
OpenAPI by the same Pydantic model that they are checked with.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model

from rocourse.errors import RocourseError
from rocourse.schema import Narrowing, Schema, Wishes
from rocourse.service import _documents as documents
from rocourse.service._decider import Choice
from rocourse.service._keys import Caller
from rocourse.service._questions import Question
from rocourse.service._rows import plain_row

_KEY = r"^[!-~]{1,255}$"
_KNOWN_KEY = re.compile(_KEY)
_REFERENCE = "#/components/schemas/{model}"


class DecisionReader:
    """Reads the questions of requests.

    Args:
        row: What a row must look like.
        schema: Gives the schema in service, which wishes are read by.
        max_rows: Rows of one request.
        example: A row.
    """

    def __init__(
        self,
        row: type[BaseModel],
        schema: Callable[[], Schema],
        max_rows: int,
        example: dict[str, Any],
    ) -> None:
        self._schema = schema
        applicant = documents.Applicant[row]  # type: ignore[valid-type]
        self._model = create_model(
            "DecisionsRequest",
            __base__=documents.DecisionsRequest[row],  # type: ignore[valid-type]
            applicants=(list[applicant], Field(min_length=1, max_length=max_rows)),
        )
        self._reader = TypeAdapter(self._model)
        self._example = {"applicants": [{"row": example, "subject": "A-1017"}]}

    async def read(self, request: Request, caller: Caller) -> Question:
        """What a request asks for.

        Raises:
            RequestValidationError: The request is not as it must be.
            HTTPException: The body is not JSON, or wishes are not to be had.
        """
        key = request.headers.get("idempotency-key")
        if key is not None and not _KNOWN_KEY.fullmatch(key):
            raise HTTPException(
                422, "The Idempotency-Key must be 1 to 255 visible ASCII characters."
            )
        try:
            applicants = self._reader.validate_python(await _content(request)).applicants
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
            raise RequestValidationError(
                [{**fault, "loc": ("body", *fault["loc"])} for fault in found]
            ) from None
        return Question(
            [plain_row(applicant.row) for applicant in applicants],
            [applicant.subject for applicant in applicants],
            key,
            caller,
            self._choices(applicants),
        )

    def _choices(self, applicants: Sequence[Any]) -> list[Choice] | None:
        """What is asked for beyond the best advice; None where that is all, as mostly."""
        if all(applicant.wishes is None and applicant.options == 1 for applicant in applicants):
            return None
        return [Choice(self._wishes(one.wishes), one.options) for one in applicants]

    def _wishes(self, given: documents.WishesRequest | None) -> Wishes | None:
        if given is None:
            return None
        try:
            wishes = Wishes.from_dict(given.model_dump())
            # Read here, so that others need not wait for what is refused.
            Narrowing.of(wishes, self._schema())
        except RocourseError as error:
            raise HTTPException(422, str(error)) from error
        return wishes

    def description(self) -> dict[str, Any]:
        """What OpenAPI is told."""
        schema = self._model.model_json_schema(ref_template=_REFERENCE)
        parts = schema.pop("$defs")
        # The row is described with the redemptions; the applicant and its wishes are only here.
        (applicant,) = (part for name, part in parts.items() if name.startswith("Applicant"))
        _, absent = applicant["properties"]["wishes"]["anyOf"]
        applicant["properties"]["wishes"]["anyOf"] = [parts["WishesRequest"], absent]
        schema["properties"]["applicants"]["items"] = applicant
        return {
            "parameters": [
                {
                    "name": "idempotency-key",
                    "in": "header",
                    "required": False,
                    "schema": {"type": "string", "pattern": _KEY},
                    "description": "A request that is sent again with its key is answered as "
                    "before, and promises nothing twice.",
                }
            ],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": schema, "example": self._example}},
            },
        }


async def _content(request: Request) -> Any:
    if not await request.body():
        raise HTTPException(422, "The body must be there, but it is empty.")
    try:
        return await request.json()
    # Not only of JSON's: Python reads no whole number of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "The body must be JSON, but it cannot be read as JSON.") from error
