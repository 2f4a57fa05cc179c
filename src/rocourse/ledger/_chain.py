"""A chain of hashes over all that was written, so that a change of any of it is found.

```
seal  = H(salt, what is personal)             of a promise; what is erased leaves its seal behind
leaf  = H(all else of the promise, its seal; the event)
link  = H(the link before; its own number, time, kind, …; its leaves in the order of ids)
```

Every transaction that writes events appends one link. What is hashed is fixed: ledgers that were
written by it exist.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa

from rocourse.ledger._checks import encode

FIRST = "0" * 64
"""What stands in the place of the link before the first."""

# Any number will do, as long as every release waits for the same one.
_LOCK = 0x726F_6C69_6E6B_7321
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Head(NamedTuple):
    """The end of a chain: who keeps it elsewhere can tell whether the chain still goes through it.

    Attributes:
        number: Of the last link, counted from 1; 0 for none.
        hash: Of the last link.
    """

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"


def new_salt() -> str:
    """What keeps others from guessing, by its seal, what was erased."""
    return os.urandom(16).hex()


def seal(salt: str, promise: Mapping[str, Any]) -> str:
    """The seal of what is personal about a promise, by the names of its columns."""
    names = ("subject", "given_row", "recourse_row", "wishes")
    return _hash(salt, encode([promise[name] for name in names]))


def leaf(promise: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """The hash of an event and of the promise that it is about.

    Args:
        promise: By the names of its columns; documents as they are stored, with its `seal`.
        event: Its `at`, `status`, `model` and `detail`.
    """
    names = ("id", "tenant", "model", "schema_version", "desired", "decision", "seal")
    numbers = ("probability_before", "probability_after", "robustness")
    about = [promise[name] for name in (*names, *numbers)]
    about += [_micros(promise["issued_at"]), _micros(promise["expires_at"])]
    if promise.get("certificate") is not None:
        # Left out where there is none: so it is in ledgers that knew of none.
        about.append(promise["certificate"])
    if promise.get("months") is not None:
        about.append(promise["months"])
    happened = [_micros(event["at"]), event["status"], event["model"], event["detail"]]
    return _hash(encode([about, happened]))


def link_hash(before: str, link: Mapping[str, Any], leaves: Iterable[str]) -> str:
    """The hash of a link.

    Args:
        before: That of the one before.
        link: By the names of its columns.
        leaves: Of its events, in the order of promises.
    """
    own = [link["number"], _micros(link["at"]), link["kind"], link["tenant"], link["note"]]
    return _hash(before, encode([*own, link["events"]]), *leaves)


def take_head(connection: sa.Connection) -> Head:
    """The end of the chain, for nobody else to go on from until the transaction ends.

    Whoever takes it locks nothing more: all that is to be locked is locked before.
    """
    if connection.dialect.name == "postgresql":
        # SQLite lets one write at a time. The lock is let go of when the commit can be seen.
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    return read_head(connection)


def read_head(connection: sa.Connection) -> Head:
    """The end of the chain."""
    found = connection.execute(_HEAD).one_or_none()
    return Head(0, FIRST) if found is None else Head(*found)


# Not the table: migrations read it while there is no more of it.
_HEAD = sa.text("SELECT number, hash FROM ledger_links ORDER BY number DESC LIMIT 1")


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def _hash(*parts: str) -> str:
    # All but the last of a few have a fixed length, and leaves as well: nothing can be shifted
    # from one part to another.
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
