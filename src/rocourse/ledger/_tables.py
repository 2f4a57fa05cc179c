"""The tables, and the passage of records into and out of their rows.

The tables as they are now; `migrations` holds how they came to be, and the triggers that guard
them. A test compares the two.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from rocourse.ledger._chain import new_salt, seal
from rocourse.ledger._checks import LONGEST_NAME
from rocourse.ledger._records import (
    DEFAULT_TENANT,
    Event,
    NewPromise,
    Promise,
    PromisedRows,
    Status,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Moment(sa.types.TypeDecorator[datetime]):
    """A point in time: `timestamptz`, or microseconds since 1970 where there is no such type."""

    impl = sa.BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(sa.TIMESTAMP(timezone=True))
        return dialect.type_descriptor(sa.BigInteger())

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        return (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        return _EPOCH + int(value) * _MICROSECOND


class Document(sa.types.TypeDecorator[Any]):
    """JSON, given as text, that comes back as it was, to the order of keys and the last digit.

    PostgreSQL's `jsonb` sorts keys and rewrites numbers, and a column that SQLite knows as `JSON`
    turns the text `1.0` into the integer 1; hence `json` and plain text.
    """

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.JSON(none_as_null=True))
        return dialect.type_descriptor(sa.Text())

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        return value if value is None or dialect.name == "postgresql" else json.loads(value)


_ID = sa.String(36).with_variant(postgresql.UUID(as_uuid=False), "postgresql")
# SQLite numbers rows by itself only where the column is called INTEGER.
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_NAME = sa.String(LONGEST_NAME)
_STATUS = sa.String(16)

BINDING = sa.text("status IN ('open', 'broken')")
"""Of promises that bind until they expire; spelled as in their index, which is not used else."""

metadata = sa.MetaData()

promises = sa.Table(
    "ledger_promises",
    metadata,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("subject", _NAME),
    sa.Column("model", _NAME, nullable=False),
    sa.Column("schema_version", _NAME, nullable=False),
    # Not "row", which is a word of SQL.
    sa.Column("given_row", Document, nullable=False),
    sa.Column("recourse_row", Document, nullable=False),
    sa.Column("desired", Document, nullable=False),
    sa.Column("probability_before", sa.Double, nullable=False),
    sa.Column("probability_after", sa.Double, nullable=False),
    sa.Column("robustness", sa.Double),
    sa.Column("issued_at", Moment, nullable=False),
    sa.Column("expires_at", Moment, nullable=False),
    sa.Column("status", _STATUS, nullable=False),
    sa.Column("decision", _ID),
    sa.Column("wishes", Document),
    sa.Column("tenant", _NAME, nullable=False, server_default=DEFAULT_TENANT),
    # Erased with what is personal.
    sa.Column("salt", sa.String(32)),
    sa.Column("seal", sa.String(64), nullable=False, server_default=""),
    sa.Column("certificate", Document),
    sa.Column("months", sa.Double),
    # With the status in it, counting reads the index alone. Not the status first: SQLite would
    # take it for paging as well, and sort all promises for every page.
    sa.Index("ledger_promises_by_expiry", "expires_at", "status"),
    # In the order of ids, whatever their status: paging need not sort.
    sa.Index(
        "ledger_promises_that_bind",
        "id",
        "expires_at",
        sqlite_where=BINDING,
        postgresql_where=BINDING,
    ),
    sa.Index("ledger_promises_by_subject", "subject", "id"),
    # Most promises stand alone, and need not pay for it.
    sa.Index(
        "ledger_promises_by_decision",
        "decision",
        "id",
        sqlite_where=sa.text("decision IS NOT NULL"),
        postgresql_where=sa.text("decision IS NOT NULL"),
    ),
)

events = sa.Table(
    "ledger_events",
    metadata,
    sa.Column("number", _NUMBER, primary_key=True),
    sa.Column("promise", _ID, sa.ForeignKey("ledger_promises.id"), nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("status", _STATUS, nullable=False),
    sa.Column("model", _NAME, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("link", sa.BigInteger, nullable=False, server_default="0"),
    sa.Index("ledger_events_by_promise", "promise", "number"),
)

links = sa.Table(
    "ledger_links",
    metadata,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("kind", _STATUS, nullable=False),
    sa.Column("tenant", _NAME),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("events", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)

answers = sa.Table(
    "ledger_answers",
    metadata,
    sa.Column("key", _NAME, primary_key=True),
    sa.Column("fingerprint", _NAME, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("answered_at", Moment, nullable=False),
    sa.Column("tenant", _NAME, nullable=False, server_default=DEFAULT_TENANT),
    sa.Index("ledger_answers_by_time", "answered_at"),
)

audits = sa.Table(
    "ledger_audits",
    metadata,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("tenant", _NAME, nullable=False),
    sa.Column("model", _NAME, nullable=False),
    sa.Column("runner", _NAME, nullable=False),
    sa.Column("state", _STATUS, nullable=False),
    sa.Column("seen", Moment, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Index("ledger_audits_by_tenant", "tenant", "id"),
)


def as_text(column: sa.Column[Any]) -> sa.ColumnElement[str]:
    """A document as it is stored."""
    return sa.cast(column, sa.Text).label(column.name)


PERSONAL = (
    promises.c.subject,
    as_text(promises.c.given_row),
    as_text(promises.c.recourse_row),
    as_text(promises.c.wishes),
    promises.c.salt,
)
"""What is erased of a promise."""

CHAINED = (
    *(
        column
        for column in promises.c
        if column.name
        not in ("subject", "given_row", "recourse_row", "wishes", "salt", "desired", "certificate")
    ),
    as_text(promises.c.desired),
    as_text(promises.c.certificate),
)
"""What the chain knows of a promise besides, and its status."""


PROMISED = (
    *(
        promises.c[name]
        for name in ("id", "subject", "model", "status", "issued_at", "probability_after")
    ),
    as_text(promises.c.desired),
    as_text(promises.c.recourse_row),
)
"""What an audit needs of a promise."""


def to_promised_rows(found: Sequence[Sequence[Any]]) -> PromisedRows:
    """The columns of some rows of `PROMISED`."""
    ids, subjects, models, statuses, issued, probabilities, desired, rows = zip(*found, strict=True)
    return PromisedRows(
        ids=ids,
        subjects=subjects,
        models=models,
        statuses=statuses,
        issued=issued,
        probabilities=probabilities,
        # As one list each: a call of its own for each of them takes longer than reading it.
        desired=json.loads(f"[{','.join(desired)}]"),
        rows=json.loads(f"[{','.join(rows)}]"),
    )


def promise_values(promise: NewPromise) -> dict[str, Any]:
    """The row of a promise that is being issued."""
    salt = new_salt()
    row = {
        "id": promise.id,
        "subject": promise.subject,
        "model": promise.model,
        "schema_version": promise.schema_version,
        **promise.documents,
        "probability_before": float(promise.probability_before),
        "probability_after": float(promise.probability_after),
        "robustness": None if promise.robustness is None else float(promise.robustness),
        "months": None if promise.months is None else float(promise.months),
        "issued_at": promise.issued_at,
        "expires_at": promise.expires_at,
        "status": Status.OPEN.value,
        "decision": promise.decision,
        "tenant": promise.tenant,
        "salt": salt,
    }
    return {**row, "seal": seal(salt, row)}


def event_values(promise: str, event: Event, link: int) -> dict[str, Any]:
    """The row of an event of a promise, in a link of the chain."""
    return {
        "link": link,
        "promise": promise,
        "at": event.at,
        "status": event.status.value,
        "model": event.model,
        "detail": event.detail,
    }


def to_promise(row: Mapping[str, Any]) -> Promise:
    """The promise of a row."""
    fields = dict(row)
    del fields["seal"]
    return Promise(
        erased=fields.pop("salt") is None,
        row=fields.pop("given_row"),
        recourse=fields.pop("recourse_row"),
        status=Status(fields.pop("status")),
        **fields,
    )


def to_event(row: Mapping[str, Any]) -> Event:
    """The event of a row."""
    return Event(
        at=row["at"], status=Status(row["status"]), model=row["model"], detail=row["detail"]
    )
