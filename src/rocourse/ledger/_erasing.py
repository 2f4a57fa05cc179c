"""Forgetting: what is personal is removed, and that it was removed is recorded.

What is left of a promise is its seal, which says nothing without the salt that was removed with it:
so the chain of hashes goes on to hold.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from rocourse.ledger._months import LAST_ID, month_end
from rocourse.ledger._queries import of_tenant
from rocourse.ledger._records import Event, Status
from rocourse.ledger._tables import CHAINED, answers, events, links, promises
from rocourse.ledger._writing import Kind, append

ERASING: tuple[Kind, ...] = ("erase", "retain")

# At a time, so that others may write in between.
_AT_ONCE = 1000
_ERASED = {
    "subject": None,
    "given_row": "{}",
    "recourse_row": "{}",
    "wishes": sa.null(),
    "salt": None,
}


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """That something was erased.

    Attributes:
        number: Of the link of the chain that says so.
        at: When.
        kind: `erase`, on request, or `retain`, for its age.
        tenant: Of whose promises; None for all.
        note: Why.
        promises: Of how many promises.
    """

    number: int
    at: datetime
    kind: str
    tenant: str | None
    note: str
    promises: int


def erase(
    connection: sa.Connection,
    subject: str | None,
    id: str | None,
    *,
    tenant: str | None,
    note: str,
    now: datetime,
) -> Erasure:
    """Erases the promises of a subject, or one, and the answers that speak of them."""
    own = promises.c.subject == subject if id is None else promises.c.id == id
    rows = _locked(connection, sa.and_(own, promises.c.salt.is_not(None)), tenant, None)
    done = _erase(connection, rows, "erase", "erased on request", tenant, note, now)
    words = [str(row["id"]) for row in rows]
    if subject is not None:
        # As it stands in the text of an answer.
        words += {json.dumps(subject), json.dumps(subject, ensure_ascii=False)}
    for some in _parts(words):
        naming = [_place(connection, word) > 0 for word in some]
        connection.execute(_answers(sa.or_(*naming), tenant))
    return done


def retain(
    connection: sa.Connection,
    before: datetime,
    after: str | None,
    *,
    tenant: str | None,
    note: str,
    now: datetime,
) -> tuple[Erasure, str] | None:
    """Erases some promises that ended by a time, and the answers of before.

    Args:
        connection: In a transaction.
        before: That time.
        after: Id of the last promise that was erased so: what comes before it is not read again.
        tenant: Whose; None for all.
        note: Why.
        now: When.

    Returns:
        What was done, and the id of the last promise; None if there was none left.
    """
    connection.execute(_answers(answers.c.answered_at <= before, tenant))
    binds = [status.value for status in Status if status.binds]
    later = sa.exists().where(events.c.promise == promises.c.id, events.c.at > before)
    settled = sa.and_(promises.c.status.not_in(binds), ~later)
    ended = sa.and_(sa.or_(promises.c.expires_at <= before, settled), promises.c.salt.is_not(None))
    while after != LAST_ID:
        end = month_end(connection, after)
        own = [ended, promises.c.id <= end, *([] if after is None else [promises.c.id > after])]
        rows = _locked(connection, sa.and_(*own), tenant, _AT_ONCE)
        if rows:
            done = _erase(connection, rows, "retain", "erased for its age", tenant, note, now)
            return done, str(rows[-1]["id"])
        after = end
    return None


def erasures(connection: sa.Connection, tenant: str | None) -> list[Erasure]:
    """What was erased so far."""
    query = sa.select(links).where(links.c.kind.in_(ERASING)).order_by(links.c.number)
    if tenant is not None:
        query = query.where(links.c.tenant == tenant)
    return [
        Erasure(
            number=row["number"],
            at=row["at"],
            kind=row["kind"],
            tenant=row["tenant"],
            note=row["note"],
            promises=row["events"],
        )
        for row in connection.execute(query).mappings()
    ]


def _locked(
    connection: sa.Connection, own: sa.ColumnElement[bool], tenant: str | None, limit: int | None
) -> Sequence[Any]:
    query = of_tenant(sa.select(*CHAINED).where(own), tenant).order_by(promises.c.id)
    return connection.execute(query.limit(limit).with_for_update()).mappings().all()


def _erase(
    connection: sa.Connection,
    rows: Sequence[Any],
    kind: Kind,
    detail: str,
    tenant: str | None,
    note: str,
    now: datetime,
) -> Erasure:
    happened = []
    for row in rows:
        before = Status(row["status"])
        after = Status.WITHDRAWN if before.binds else before
        happened.append((row, Event(at=now, status=after, model="", detail=detail)))
    number = append(connection, happened, kind=kind, at=now, tenant=tenant, note=note)
    for some in _parts([row["id"] for row in rows]):
        query = sa.update(promises).where(promises.c.id.in_(some)).values(_ERASED)
        connection.execute(query)
    return Erasure(number=number, at=now, kind=kind, tenant=tenant, note=note, promises=len(rows))


def _answers(which: sa.ColumnElement[bool], tenant: str | None) -> sa.Delete:
    query = sa.delete(answers).where(which)
    return query if tenant is None else query.where(answers.c.tenant == tenant)


def _place(connection: sa.Connection, word: str) -> sa.ColumnElement[int]:
    """Where a word stands in an answer, from 1 on; 0 if nowhere."""
    find = sa.func.strpos if connection.dialect.name == "postgresql" else sa.func.instr
    return find(answers.c.answer, word, type_=sa.Integer)


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), 200):
        yield values[start : start + 200]
