"""What goes over the wire, as OpenAPI shows it."""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

RowType = TypeVar("RowType", bound=BaseModel)

_STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True)
Scalar = str | int | float | bool
Cell = Scalar | None
"""A value of a row; null where it is missing."""
# More than anybody reads.
MOST_OPTIONS = 8
Share = Annotated[float, Field(ge=0.0, le=1.0)]
PromiseId = Annotated[
    str,
    Field(
        pattern="^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
        examples=["01890a5d-ac96-774b-bcce-b302099a8057"],
    ),
]


def _readable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be printable text")
    return text


def _unquoted(value: object) -> object:
    # JSON's 2.0 is a whole number; a text and a flag are none.
    if isinstance(value, (bool, str)):
        raise ValueError("must be a whole number")
    return value


Reference = Annotated[
    str,
    Field(min_length=1, max_length=255, pattern="^[!-~][ -~]*$", examples=["A-1017"]),
    AfterValidator(_readable),
]


class WishesRequest(BaseModel):
    """What advice has to respect besides the schema, which wishes can only narrow."""

    model_config = _STRICT
    lock: list[str] = Field(default=[], description="Features that must stay as they are.")
    ranges: dict[str, list[Scalar | None]] = Field(
        default={},
        description="Where features must end: the lowest and the highest number, null for no limit "
        "on that side, or the categories that will do.",
        examples=[{"income": [20, None], "job": ["part", "full"]}],
    )
    only: list[str] | None = Field(
        default=None, description="The features that may change at all; null: all that may."
    )
    prefer: list[str] = Field(default=[], description="Features to change rather than others.")


class Applicant(BaseModel, Generic[RowType]):
    """Whom to decide on."""

    model_config = _STRICT
    row: RowType
    subject: Reference | None = Field(
        default=None, description="Your own reference. Stored with the promise, never read."
    )
    wishes: WishesRequest | None = Field(
        default=None, description="What the applicant wishes. Stored with the promise."
    )
    options: Annotated[int, BeforeValidator(_unquoted)] = Field(
        default=1,
        ge=1,
        le=MOST_OPTIONS,
        description="The most options to give; each that is promised has an id of its own.",
    )


class DecisionsRequest(BaseModel, Generic[RowType]):
    """Rows to decide on."""

    model_config = _STRICT
    applicants: list[Applicant[RowType]] = Field(min_length=1)


class Change(BaseModel):
    """One feature to change."""

    model_config = ConfigDict(populate_by_name=True)
    feature: str
    before: Cell = Field(alias="from")
    to: Scalar
    text: str


class Robustness(BaseModel):
    """How likely the next model is to honour a recourse."""

    witnesses: int | None = Field(
        description="Models of shifted training rows; null where the method gives an estimate."
    )
    honoured: int | None = Field(description="How many of them would honour it.")
    share: Share


class OptionAnswer(BaseModel):
    """One way to be given the favourable class."""

    status: Literal["found", "found_unsure", "not_found"] = Field(
        description="found: promised; found_unsure: valid today, and not promised."
    )
    id: str | None = Field(description="Of the promise; null without a ledger or a promise.")
    issued_at: datetime | None
    expires_at: datetime | None
    probability: Share = Field(description="Of the favourable class after the change.")
    cost: float = Field(
        description="By the schema; the L1 distance in the encoded space where it states nothing."
    )
    months: float | None = Field(description="That the changes take, where the schema says.")
    changes: list[Change]
    row: dict[str, Cell] = Field(description="The whole row after the change.")
    robustness: Robustness | None
    certificate: dict[str, Any] | None = Field(
        description="What is proved of it, how surely, and what is not; null where the service "
        "does not certify."
    )


class RecourseAnswer(OptionAnswer):
    """What to change to be given the favourable class: the first option."""

    reason: str | None = Field(
        default=None,
        description="Why wishes cannot be met, if so. Only there if wishes or options were given.",
    )
    options: list[OptionAnswer] | None = Field(
        default=None,
        description="All of them, what is promised first, then the cheapest. Only there if wishes "
        "or options were given.",
    )


class DecisionAnswer(BaseModel):
    """What was decided on one row."""

    subject: str | None
    decision: Scalar
    favourable: bool
    probability: Share = Field(description="Of the favourable class.")
    imputed: list[str] = Field(
        description="Features that were missing and filled in, on which the decision rests."
    )
    recourse: RecourseAnswer | None = Field(description="null for whom nothing has to change.")


class DecisionsAnswer(BaseModel):
    """What was decided, in the order of the request."""

    model: str = Field(description="Digest of the model that decided.")
    decisions: list[DecisionAnswer]


class EventAnswer(BaseModel):
    """A line of a promise's history."""

    at: datetime
    status: str
    model: str
    detail: str


class PromiseAnswer(BaseModel):
    """What was promised, and what became of it."""

    id: str
    tenant: str
    subject: str | None
    status: str
    model: str
    schema_version: str
    issued_at: datetime
    expires_at: datetime
    row: dict[str, Cell]
    recourse: dict[str, Cell]
    desired: Scalar
    probability_before: Share
    probability_after: Share
    robustness: Share | None
    months: float | None
    decision: str | None = Field(
        description="What it shares with other options: when one is redeemed, the others are "
        "withdrawn."
    )
    wishes: dict[str, Any] | None
    certificate: dict[str, Any] | None = Field(
        description="What was proved of it when it was issued, if anything."
    )
    erased: bool = Field(description="Whether what is personal about it was erased.")
    history: list[EventAnswer]


class PromisesAnswer(BaseModel):
    """The promises to one subject, the oldest first."""

    promises: list[PromiseAnswer]
    complete: bool = Field(description="Whether these are all of them.")


class RedemptionRequest(BaseModel, Generic[RowType]):
    """Someone returns."""

    model_config = _STRICT
    id: PromiseId
    row: RowType


class Unmet(BaseModel):
    """A change that was asked for and not made."""

    feature: str
    promised: Scalar
    presented: Cell


class Drifted(BaseModel):
    """A feature that changed though nobody asked for it."""

    feature: str
    was: Cell
    presented: Cell


class Forbidden(BaseModel):
    """A feature that is not as it may be, so that the promise is not redeemed."""

    feature: str
    was: Cell
    presented: Cell
    rule: str = Field(examples=["must stay as it was"])


class RedemptionAnswer(BaseModel):
    """Whether a returning row fulfils its recourse, and whether the promise is kept."""

    id: str
    status: str
    fulfilled: bool
    honoured: bool
    unmet: list[Unmet]
    drifted: list[Drifted]
    forbidden: list[Forbidden]
    decision: Scalar
    probability: Share
    model: str


Note = Annotated[
    str,
    Field(
        max_length=255,
        pattern="^[ -~]*$",
        description="Why, such as the number of the request; no personal data, for it stays.",
    ),
]


class SubjectErasure(BaseModel):
    """Whom to forget, by your own reference."""

    model_config = _STRICT
    subject: Reference
    note: Note = ""


class PromiseErasure(BaseModel):
    """The promise to forget."""

    model_config = _STRICT
    id: PromiseId
    note: Note = ""


class AgeErasure(BaseModel):
    """How long promises are kept after they were settled or expired."""

    model_config = _STRICT
    days: Annotated[int, BeforeValidator(_unquoted)] = Field(ge=0, le=100_000)
    note: Note = ""


class ErasureAnswer(BaseModel):
    """That something was erased."""

    number: int | None = Field(
        description="Of the link of the ledger's chain that says so, the last of several; null "
        "where nothing was old enough."
    )
    at: datetime
    kind: Literal["erase", "retain"]
    note: str
    promises: int


class ErasuresAnswer(BaseModel):
    """What was erased, the oldest first."""

    erasures: list[ErasureAnswer]


class ModelAnswer(BaseModel):
    """The model in service."""

    digest: str
    method: str
    title: str
    target: str
    classes: list[Scalar]
    favourable: Scalar
    witnesses: int
    ledger: bool
    features: list[dict[str, Any]]
    example: dict[str, Scalar]


class ReloadAnswer(BaseModel):
    """What a reload did."""

    digest: str
    before: str
    changed: bool


class Health(BaseModel):
    """Whether the service is well."""

    status: Literal["ok"]


class Problem(BaseModel):
    """What went wrong, in one sentence."""

    detail: str
