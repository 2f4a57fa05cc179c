"""What goes into the ledger and what comes out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from rocourse.errors import LedgerError
from rocourse.ledger._checks import (
    check_id,
    check_moment,
    check_name,
    check_row,
    check_share,
    check_text,
    check_time,
    encode,
)
from rocourse.ledger._ids import new_id

DEFAULT_TENANT = "default"
"""Whose promises are that were issued without a tenant, and all of ledgers that knew none."""

JSON: TypeAlias = "None | bool | int | float | str | Sequence[JSON] | Mapping[str, JSON]"


class Status(StrEnum):
    """Where a promise stands."""

    OPEN = "open"
    """Issued, and neither kept nor failed so far."""
    REDEEMED = "redeemed"
    """The subject made the change and was approved."""
    BROKEN = "broken"
    """The model of the day does not approve the changed row."""
    WITHDRAWN = "withdrawn"
    """Taken back by whoever issued it."""
    EXPIRED = "expired"
    """Its time ran out."""

    @classmethod
    def read(cls, value: "Status | str") -> "Status":
        """The status that a text is.

        Raises:
            LedgerError: It is none.
        """
        try:
            return cls(value)
        except ValueError:
            raise LedgerError(
                f"The status of a promise must be one of {', '.join(cls)}, but got another value; "
                "choose one of these."
            ) from None

    @property
    def binds(self) -> bool:
        """Whether a promise of this status is owed to its subject until it expires."""
        return self in (Status.OPEN, Status.BROKEN)

    def may_become(self, status: "Status") -> bool:
        """Whether a promise of this status may be recorded with another one.

        An open promise may become anything, and may be found still open by another model. A broken
        one may yet be redeemed, as when a model is rolled back, or withdrawn, as when another
        option of the same decision is redeemed. The others are final.
        """
        if self is Status.OPEN:
            return True
        return self is Status.BROKEN and status in (Status.REDEEMED, Status.WITHDRAWN)


@dataclass(frozen=True, kw_only=True)
class NewPromise:
    """One recourse, as it is handed in.

    Attributes:
        id: Chosen before the promise is written, so that the answer can name it.
        subject: The caller's own reference, which the ledger does not interpret.
        model: Digest of the model that issued the recourse.
        schema_version: Version of the schema that the rows follow.
        row: The row as it was given.
        recourse: The whole row after the change.
        desired: The class that is promised.
        probability_before: Probability of the promised class for `row`.
        probability_after: Probability of the promised class for `recourse`.
        robustness: Share of shifted models that keep the promise, where it was estimated.
        issued_at: With a time zone.
        expires_at: With a time zone, and later.
        decision: What the promises of several options for one applicant have in common, made with
            `new_id`: when one is redeemed, the others are withdrawn. None for a promise alone.
        wishes: What the applicant wished for; None without wishes.
        tenant: Whose promise it is: tenants do not see each other's.
        certificate: What is proved of it, one record of `Certificate.to_records`; None without.
        months: That the changes take; None where the schema says nothing of that.

    Raises:
        LedgerError: A field has a value that cannot be kept.
    """

    id: str = field(default_factory=new_id)
    subject: str | None
    model: str
    schema_version: str
    row: Mapping[str, JSON]
    recourse: Mapping[str, JSON]
    desired: JSON
    probability_before: float
    probability_after: float
    robustness: float | None
    issued_at: datetime
    expires_at: datetime
    decision: str | None = None
    wishes: Mapping[str, JSON] | None = None
    tenant: str = DEFAULT_TENANT
    certificate: Mapping[str, JSON] | None = None
    months: float | None = None

    def __post_init__(self) -> None:
        check_id("id", self.id)
        check_name("tenant", self.tenant)
        if self.decision is not None:
            check_id("decision", self.decision)
        if self.subject is not None:
            check_name("subject", self.subject)
        check_name("model", self.model)
        check_name("schema_version", self.schema_version)
        check_row("row", self.row)
        check_row("recourse", self.recourse)
        if self.wishes is not None:
            check_row("wishes", self.wishes)
        if self.certificate is not None:
            check_row("certificate", self.certificate)
        _ = self.documents
        check_share("probability_before", self.probability_before)
        check_share("probability_after", self.probability_after)
        if self.robustness is not None:
            check_share("robustness", self.robustness)
        if self.months is not None:
            check_time("months", self.months)
        check_moment("issued_at", self.issued_at)
        check_moment("expires_at", self.expires_at)
        if self.expires_at <= self.issued_at:
            raise LedgerError(
                "The expires_at of a promise must be later than its issued_at, but it is not; give "
                "the promise some time."
            )

    @cached_property
    def documents(self) -> dict[str, str | None]:
        """JSON text of the columns that hold documents; None for wishes or a certificate not there.

        Encoded when the promise is made, and once: that is the longest part of issuing, and need
        not be done while others wait for their turn to write.
        """
        return {
            "given_row": encode(dict(self.row)),
            "recourse_row": encode(dict(self.recourse)),
            "desired": encode(self.desired),
            "wishes": None if self.wishes is None else encode(dict(self.wishes)),
            "certificate": None if self.certificate is None else encode(dict(self.certificate)),
        }


@dataclass(frozen=True, kw_only=True)
class Promise(NewPromise):
    """One recourse, as the ledger has it; its times are in UTC.

    Attributes:
        status: The last one that was recorded. A promise whose time ran out stays open until its
            expiry is recorded; `standing` knows.
        erased: Whether all that is personal about it was erased: it has no subject, no wishes and
            empty rows.
    """

    status: Status
    erased: bool = False

    def standing(self, at: datetime) -> Status:
        """Where it stands at a time: what binds no longer, for its time ran out, has expired."""
        overdue = self.status.binds and self.expires_at <= at
        return Status.EXPIRED if overdue else self.status

    def __post_init__(self) -> None:
        """Checks nothing: that was done before the promise was written."""


@dataclass(frozen=True, kw_only=True)
class PromisedRows:
    """What an audit needs of many promises, in columns.

    Attributes:
        ids: Of the promises, in their order.
        subjects: The references that they were issued with.
        models: Digests of the models that issued them.
        statuses: Where they stand.
        issued: When they were issued, in UTC.
        desired: The classes that were promised.
        probabilities: Of these classes, by the models that issued them.
        rows: The rows that were promised them.
    """

    ids: Sequence[str]
    subjects: Sequence[str | None]
    models: Sequence[str]
    statuses: Sequence[str]
    issued: Sequence[datetime]
    desired: Sequence[JSON]
    probabilities: Sequence[float]
    rows: Sequence[Mapping[str, JSON]]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line of a promise's history.

    Attributes:
        at: When it happened, in UTC.
        status: The status from then on.
        model: Digest of the model that was in use.
        detail: Free text.
    """

    at: datetime
    status: Status
    model: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Issue:
    """The promises of one request, written whole or not at all.

    Attributes:
        promises: None, when everyone was approved.
        key: Idempotency key: of all issues with one key, one is written.
        fingerprint: Digest of the request, to tell a repeated request from another one that took
            the same key.
        answer: The response, to be given again when the request is repeated.
        tenant: Whose answer it is.

    Raises:
        LedgerError: A field has a value that cannot be kept.
    """

    promises: Sequence[NewPromise]
    key: str | None = None
    fingerprint: str
    answer: str
    tenant: str = DEFAULT_TENANT

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        if self.key is not None:
            check_name("key", self.key)
        check_name("fingerprint", self.fingerprint)
        check_text("answer", self.answer)


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """An issue was not written, because its key was used for another request before.

    Attributes:
        key: The idempotency key.
    """

    key: str
