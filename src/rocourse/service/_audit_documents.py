"""What the service says of audits, as JSON has it."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from rocourse.service._documents import Share


class Tally(BaseModel):
    """How many promises a model honours, and what share that may be of promises like them."""

    judged: int
    honoured: int
    unreadable: int = Field(description="Rows that the model does not know; not honoured.")
    share: Share | None = Field(description="null if none was judged.")
    low: Share | None = Field(description="Of the interval of 95% confidence.")
    high: Share | None


class IssuerTally(Tally):
    """Promises of one model."""

    issuer: str = Field(description="Digest of the model that promised.")


class AgeTally(Tally):
    """Promises of one age."""

    days: str = Field(examples=["0-30"])


class PeopleTally(Tally):
    """Promises to a group of people."""

    people: str = Field(examples=["Age=19 to 27"])
    few: bool = Field(description="Whether they are too few for more than chance.")


class BrokenAnswer(BaseModel):
    """A promise that a model would break."""

    id: str
    issued_at: datetime
    issuer: str
    margin: float | None = Field(description="Of the log-odds; below 0 for a row that is refused.")
    probability: Share | None


class AuditedModel(Tally):
    """A model, and how promises that are owed fare before it."""

    digest: str
    name: str
    by_issuer: list[IssuerTally]
    by_age: list[AgeTally]
    by_people: list[PeopleTally] = Field(
        default=[], description="By the columns that the service was told (`--by`)."
    )
    broken: list[BrokenAnswer] = Field(description="The worst of them.")


class DriftAnswer(BaseModel):
    """Whether promises begin to break, by those that people came back with."""

    kept: Share = Field(description="The share of promises that is to be kept.")
    outcomes: int = Field(description="Promises that people came back with.")
    honoured: int
    evidence: float = Field(description="Against `kept`; an alarm is due from `alarm_at` on.")
    alarm_at: float
    alarm: bool = Field(
        description="Whether it was ever reached: while promises are kept as stated, that happens "
        "with a chance of at most .05."
    )


class ReportAnswer(BaseModel):
    """How promises that are owed fare, the model in service first."""

    at: datetime
    promises: dict[str, int] = Field(description="Number by status.")
    models: list[AuditedModel]
    drift: DriftAnswer


class AuditAnswer(BaseModel):
    """An audit that was asked for."""

    id: str
    status: Literal["waiting", "running", "done", "failed", "interrupted"] = Field(
        description="`interrupted` if the process that did it has ended: who asks for an audit "
        "again has it go on from there."
    )
    judged: int = Field(description="Promises that were judged so far.")
    detail: str | None = Field(description="Why it failed or was interrupted, if so.")
    report: ReportAnswer | None = Field(description="null until it is done.")
