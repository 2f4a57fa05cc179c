"""Looking for what was changed behind the ledger's back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from rocourse._wording import first_few
from rocourse.ledger._chain import FIRST, Head, leaf, link_hash, read_head, seal
from rocourse.ledger._erasing import ERASING
from rocourse.ledger._tables import CHAINED, PERSONAL, events, links, promises

Connect = Callable[[], AbstractContextManager[sa.Connection]]
"""Gives a connection to ask with: each a new one, so that no transaction is held for long."""

# Rows to hold at a time.
_PAGE = 2000
# Faults to name; the others are counted.
MOST_NAMED = 20

_SHOWN = (*CHAINED, *PERSONAL)
_HAPPENED = [events.c[name] for name in ("number", "link", "at", "status", "model", "detail")]
_EVENTS = (
    sa.select(
        events.c.promise.label("e_promise"),
        *(column.label(f"e_{column.name}") for column in _HAPPENED),
        *_SHOWN,
    )
    .select_from(events.outerjoin(promises, promises.c.id == events.c.promise))
    .order_by(events.c.number)
    .limit(_PAGE)
)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What was found.

    Attributes:
        head: The end of the chain.
        events: How many events were looked at.
        promises: How many promises there are.
        erased: Of how many of them what is personal was erased.
        faults: What is wrong, in sentences without personal data; the first of them.
        count: How many there are.
    """

    head: Head
    events: int
    promises: int
    erased: int
    faults: tuple[str, ...]
    count: int

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return self.count == 0


class _Faults:
    def __init__(self) -> None:
        self.named: list[str] = []
        self.count = 0

    def add(self, sentence: str) -> None:
        self.count += 1
        if len(self.named) < MOST_NAMED:
            self.named.append(sentence)


def verify(connect: Connect, known: Head | None) -> Verification:
    """Walks through the chain, and compares all that is stored with it.

    What is written meanwhile is left for the next time.
    """
    faults = _Faults()
    with connect() as connection:
        head = read_head(connection)
        _check_file(connection, faults)
    looked = _walk(connect, head, faults)
    _check_numbers(connect, head, looked, faults)
    if known is not None:
        _check_known(connect, known, head, faults)
    with connect() as connection:
        _check_rest(connection, faults)
        everything = sa.select(sa.func.count(), sa.func.count(promises.c.salt))
        count, kept = connection.execute(everything.select_from(promises)).one()
    return Verification(
        head=head,
        events=looked,
        promises=count,
        erased=count - kept,
        faults=tuple(faults.named),
        count=faults.count,
    )


def _check_file(connection: sa.Connection, faults: _Faults) -> None:
    if connection.dialect.name == "sqlite":
        said = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
        if said != ["ok"]:
            faults.add(f"The file is damaged: SQLite finds {len(said)} faults in its pages.")


def _walk(connect: Connect, head: Head, faults: _Faults) -> int:
    """Follows the links from the first on; gives the number of events."""
    before, looked, number = FIRST, 0, 0
    waiting = _events(connect, head)
    event = next(waiting, None)
    for link in _links(connect, head):
        number += 1
        if link["number"] != number:
            faults.add(f"Link {number} of the chain is missing.")
            number = link["number"]
        own = []
        while event is not None and event["e_link"] <= link["number"]:
            looked += 1
            if event["e_link"] == link["number"]:
                own.append(event)
            else:
                faults.add(f"An event of promise {event['e_promise']} is not where it belongs.")
            event = next(waiting, None)
        _check_link(link, before, own, faults)
        before = link["hash"]
    if number != head.number:
        faults.add(f"Link {head.number} of the chain is missing.")
    return looked


def _check_numbers(connect: Connect, head: Head, looked: int, faults: _Faults) -> None:
    """Whether the walk came to every event: where each month has a table, numbers may be twice."""
    query = sa.select(sa.func.count()).select_from(events).where(events.c.link <= head.number)
    with connect() as connection:
        count = connection.execute(query).scalar_one()
    if count != looked:
        faults.add(f"Of {count} events, {abs(count - looked)} have the number of another one.")


def _check_link(
    link: Mapping[str, Any], before: str, own: Sequence[Mapping[str, Any]], faults: _Faults
) -> None:
    leaves = []
    for event in sorted(own, key=lambda event: (event["e_promise"], event["e_number"])):
        if event["id"] is None:
            faults.add(f"Promise {event['e_promise']} is missing.")
            continue
        _check_seal(event, faults)
        happened = {name: event[f"e_{name}"] for name in ("at", "status", "model", "detail")}
        leaves.append(leaf(event, happened))
    if len(own) != link["events"] or link_hash(before, link, leaves) != link["hash"]:
        ids = sorted({str(event["e_promise"]) for event in own})
        faults.add(
            f"Link {link['number']} ({link['kind']}, {link['at']:%Y-%m-%d %H:%M}) does not fit "
            f"what is written of {first_few(ids, 3) or 'no promise'}."
        )


def _check_seal(promise: Mapping[str, Any], faults: _Faults) -> None:
    if promise["salt"] is not None:
        if seal(promise["salt"], promise) != promise["seal"]:
            faults.add(f"The subject, rows or wishes of promise {promise['id']} were changed.")
        return
    left = (promise["subject"], promise["given_row"], promise["recourse_row"], promise["wishes"])
    if left != (None, "{}", "{}", None):
        faults.add(f"Promise {promise['id']} was erased, but something of it is there.")


def _check_known(connect: Connect, known: Head, head: Head, faults: _Faults) -> None:
    found = FIRST if known.number == 0 else None
    if 0 < known.number <= head.number:
        query = sa.select(links.c.hash).where(links.c.number == known.number)
        with connect() as connection:
            found = connection.execute(query).scalar_one_or_none()
    if found != known.hash:
        faults.add(
            f"The chain does not go through link {known.number} as it was known: the ledger was "
            "cut off, put back to an earlier state or written anew."
        )


def _check_rest(connection: sa.Connection, faults: _Faults) -> None:
    """What the chain does not say by itself: statuses, what is outside of it, what was erased."""
    own = events.c.promise == promises.c.id
    history = sa.select(events.c.status).where(own).order_by(events.c.number.desc())
    status = history.limit(1).scalar_subquery()
    end = sa.select(sa.func.coalesce(sa.func.max(links.c.number), 0)).scalar_subquery()
    erasing = sa.exists().where(own, events.c.link == links.c.number, links.c.kind.in_(ERASING))
    for which, said in (
        (~sa.exists().where(own), "Promise {} has no history."),
        (promises.c.status != status, "The status of promise {} is not that of its history."),
        (
            sa.and_(promises.c.salt.is_(None), ~erasing),
            "Promise {} was erased, and nothing says so.",
        ),
        (
            sa.and_(promises.c.salt.is_not(None), erasing),
            "Promise {} is said to be erased, and is not.",
        ),
    ):
        query = sa.select(promises.c.id).where(which).order_by(promises.c.id).limit(MOST_NAMED)
        for id in connection.execute(query).scalars():
            faults.add(said.format(id))
    outside = sa.or_(events.c.link > end, events.c.link < 1)
    query = sa.select(events.c.promise).where(outside).limit(MOST_NAMED)
    for id in connection.execute(query).scalars():
        faults.add(f"An event of promise {id} is not in the chain.")


def _links(connect: Connect, head: Head) -> Iterator[Mapping[str, Any]]:
    query = sa.select(links).where(links.c.number <= head.number).order_by(links.c.number)
    last = 0
    while True:
        with connect() as connection:
            page = connection.execute(query.where(links.c.number > last).limit(_PAGE))
            found = page.mappings().all()
        if not found:
            return
        yield from map(dict, found)
        last = found[-1]["number"]


def _events(connect: Connect, head: Head) -> Iterator[Mapping[str, Any]]:
    query = _EVENTS.where(events.c.link <= head.number)
    last = -1
    while True:
        with connect() as connection:
            page = connection.execute(query.where(events.c.number > last))
            found = page.mappings().all()
        if not found:
            return
        yield from map(dict, found)
        last = found[-1]["e_number"]
