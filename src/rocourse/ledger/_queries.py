"""What is asked of the tables."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from rocourse.errors import UnknownPromise
from rocourse.ledger._ids import is_id
from rocourse.ledger._records import Promise, Status
from rocourse.ledger._tables import BINDING, CHAINED, events, promises, to_promise


def of_tenant(query: sa.Select[Any], tenant: str | None) -> sa.Select[Any]:
    """The same about one tenant's promises; None for all."""
    return query if tenant is None else query.where(promises.c.tenant == tenant)


def find(connection: sa.Connection, id: str, tenant: str | None) -> Promise:
    """A promise.

    Raises:
        UnknownPromise: There is none of this id and tenant.
    """
    query = of_tenant(sa.select(promises).where(promises.c.id == checked_id(id)), tenant)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise UnknownPromise(
            f"The id must be one of a promise in the ledger, but {id} is not; check the id, and "
            "that this is the right ledger."
        )
    return to_promise(dict(row))


def options(connection: sa.Connection, id: str, tenant: str | None) -> list[Promise]:
    """A promise and after it the other options of its decision.

    Raises:
        UnknownPromise: There is none of this id and tenant.
    """
    found = find(connection, id, tenant)
    if found.decision is None:
        return [found]
    query = sa.select(promises).where(promises.c.decision == found.decision)
    rows = connection.execute(query.order_by(promises.c.id)).mappings()
    others = [to_promise(dict(row)) for row in rows]
    return [found, *(other for other in others if other.id != id)]


def lock(connection: sa.Connection, id: str, tenant: str | None) -> list[dict[str, Any]]:
    """A promise and after it the other options of its decision, for nobody else to change.

    Returns:
        Rows with the columns of the chain.
    """
    found = find(connection, id, tenant)
    own = promises.c.id == id if found.decision is None else promises.c.decision == found.decision
    # All in one order, so that no two wait for each other. SQLite ignores the clause: there,
    # whoever writes is alone.
    query = sa.select(*CHAINED).where(own).order_by(promises.c.id).with_for_update()
    rows = [dict(row) for row in connection.execute(query).mappings()]
    return sorted(rows, key=lambda row: row["id"] != id)


def owed(at: datetime, since: datetime | None) -> sa.ColumnElement[bool]:
    """Of promises that bind at a time, or that did so at some time since an earlier one."""
    if since is None:
        return sa.and_(BINDING, promises.c.expires_at > at)
    settled = sa.exists().where(
        events.c.promise == promises.c.id,
        events.c.status.not_in([status.value for status in Status if status.binds]),
        events.c.at <= since,
    )
    # What was erased cannot be judged.
    kept = promises.c.salt.is_not(None)
    return sa.and_(promises.c.issued_at <= at, promises.c.expires_at > since, ~settled, kept)


def outcomes(connection: sa.Connection, tenant: str | None) -> list[bool]:
    """Whether promises were kept that people came back with, in the order of time.

    Of each the first time: a broken one that is presented again tells nothing new.
    """
    told = (Status.REDEEMED.value, Status.BROKEN.value)
    first = (
        sa.select(sa.func.min(events.c.number))
        .where(events.c.status.in_(told))
        .group_by(events.c.promise)
    )
    query = sa.select(events.c.status).where(events.c.number.in_(first))
    if tenant is not None:
        query = query.join(promises, promises.c.id == events.c.promise)
        query = query.where(promises.c.tenant == tenant)
    found = connection.execute(query.order_by(events.c.number)).scalars()
    return [status == Status.REDEEMED.value for status in found]


def every_nth(n: int, which: sa.ColumnElement[bool], tenant: str | None) -> sa.Select[Any]:
    """The id of every n-th of some promises, in the order of their ids."""
    number = sa.func.row_number().over(order_by=promises.c.id).label("number")
    numbered = of_tenant(sa.select(promises.c.id, number).where(which), tenant).subquery()
    return sa.select(numbered.c.id).where(numbered.c.number % n == 0).order_by(numbered.c.id)


def checked_id(id: str) -> str:
    """The id.

    Raises:
        UnknownPromise: It is none.
    """
    if not is_id(id):
        # What is no id may be anything, a person's name included: it is not shown.
        raise UnknownPromise(
            "The id of a promise must be a UUID in lower case, but got another text or value; give "
            "the id that came with the promise."
        )
    return id
