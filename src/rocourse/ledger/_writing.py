"""Appending to histories, each time with a link of the chain."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from rocourse.ledger._chain import leaf, link_hash, take_head
from rocourse.ledger._records import Event, Status
from rocourse.ledger._tables import event_values, events, links, promises

Kind = Literal["issue", "record", "erase", "retain", "adopt"]

_INSERT_LINK = sa.insert(links)
_INSERT_EVENTS = sa.insert(events)
_SET_STATUS = (
    sa.update(promises)
    .where(promises.c.id == sa.bindparam("own"))
    .values(status=sa.bindparam("became"))
)


def add_link(
    connection: sa.Connection,
    leaves: Sequence[str],
    *,
    kind: Kind,
    at: datetime,
    tenant: str | None = None,
    note: str = "",
) -> int:
    """Goes on with the chain, and gives the number of the link; all other locks are taken before.

    Args:
        connection: In a transaction that writes, which the caller commits.
        leaves: Of the events that it is about, in the order of promises.
        kind: What was done.
        at: When.
        tenant: Whose promises it was done to, if that was said.
        note: Why, in words without personal data.
    """
    head = take_head(connection)
    link = {
        "number": head.number + 1,
        "at": at,
        "kind": kind,
        "tenant": tenant,
        "note": note,
        "events": len(leaves),
    }
    connection.execute(_INSERT_LINK, {**link, "hash": link_hash(head.hash, link, leaves)})
    return head.number + 1


def append(
    connection: sa.Connection,
    happened: Sequence[tuple[Mapping[str, Any], Event]],
    *,
    kind: Kind,
    at: datetime,
    tenant: str | None = None,
    note: str = "",
) -> int:
    """Appends events to the histories of promises, one each, and sets their statuses.

    Args:
        connection: In a transaction that has locked the promises.
        happened: Rows of promises with the columns of the chain, and their events.
        kind: As for `add_link`, as are the others.
        at: When.
        tenant: Whose.
        note: Why.
    """
    ordered = sorted(happened, key=lambda pair: str(pair[0]["id"]))
    leaves = [leaf(row, _values(event)) for row, event in ordered]
    link = add_link(connection, leaves, kind=kind, at=at, tenant=tenant, note=note)
    if ordered:
        rows = [event_values(row["id"], event, link) for row, event in ordered]
        connection.execute(_INSERT_EVENTS, rows)
    changed = [
        {"own": row["id"], "became": event.status.value}
        for row, event in ordered
        if Status(row["status"]) is not event.status
    ]
    if changed:
        connection.execute(_SET_STATUS, changed)
    return link


def _values(event: Event) -> dict[str, Any]:
    return {
        "at": event.at,
        "status": event.status.value,
        "model": event.model,
        "detail": event.detail,
    }
