"""Writing issues: each key once, each issue whole."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from rocourse.errors import LedgerError
from rocourse.ledger._records import Conflict, Issue
from rocourse.ledger._tables import answers, events, promise_values, promises

# Databases limit the number of parameters of a statement.
_AT_ONCE = 1000

# Built once: building them takes a good part of the time of a small write.
_CLAIM = {
    dialect: insert(answers).on_conflict_do_nothing().returning(answers.c.key)
    for dialect, insert in (("postgresql", postgresql.insert), ("sqlite", sqlite.insert))
}
_FIND_ANSWERS = sa.select(answers.c.key, answers.c.fingerprint, answers.c.answer).where(
    answers.c.key.in_(sa.bindparam("keys", expanding=True))
)
_INSERT_PROMISES = sa.insert(promises)
# Copied inside the database, which is quicker than sending each once more.
_INSERT_FIRST_EVENTS = sa.insert(events).from_select(
    ["promise", "at", "status", "model", "detail"],
    sa.select(
        promises.c.id,
        promises.c.issued_at,
        promises.c.status,
        promises.c.model,
        sa.literal_column("''"),
    )
    .where(promises.c.id.in_(sa.bindparam("ids", expanding=True)))
    .order_by(promises.c.id),
)


def write_issues(connection: sa.Connection, issues: Sequence[Issue]) -> list[str | Conflict]:
    """Writes issues inside a transaction that the caller commits.

    Returns:
        As `Ledger.issue`.
    """
    firsts: dict[str, Issue] = {}
    for issue in issues:
        if issue.key is not None:
            firsts.setdefault(issue.key, issue)
    won = _claim(connection, firsts)
    unkeyed = [issue for issue in issues if issue.key is None]
    _write_promises(connection, unkeyed + [firsts[key] for key in firsts if key in won])
    stored = {key: (firsts[key].fingerprint, firsts[key].answer) for key in won}
    stored.update(_stored(connection, firsts.keys() - won))
    return [_outcome(issue, stored) for issue in issues]


def _claim(connection: sa.Connection, firsts: dict[str, Issue]) -> set[str]:
    """Stores the answers under their keys, and returns the keys that were free.

    In PostgreSQL, a key that another transaction is about to store makes this one wait for its
    end. In the order of keys, no two of them can wait for each other.
    """
    if not firsts:
        return set()
    now = datetime.now(UTC)
    rows = [
        {
            "key": key,
            "fingerprint": firsts[key].fingerprint,
            "answer": firsts[key].answer,
            "answered_at": now,
        }
        for key in sorted(firsts)
    ]
    return set(connection.execute(_CLAIM[connection.dialect.name], rows).scalars())


def _write_promises(connection: sa.Connection, issues: Iterable[Issue]) -> None:
    made = [promise for issue in issues for promise in issue.promises]
    if not made:
        return
    connection.execute(_INSERT_PROMISES, [promise_values(promise) for promise in made])
    ids = [promise.id for promise in made]
    for start in range(0, len(ids), _AT_ONCE):
        connection.execute(_INSERT_FIRST_EVENTS, {"ids": ids[start : start + _AT_ONCE]})


def _stored(connection: sa.Connection, keys: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Fingerprints and answers that were stored before."""
    wanted = sorted(keys)
    found: dict[str, tuple[str, str]] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        rows = connection.execute(_FIND_ANSWERS, {"keys": wanted[start : start + _AT_ONCE]})
        found.update({key: (fingerprint, answer) for key, fingerprint, answer in rows})
    if len(found) < len(wanted):
        raise LedgerError(
            "The answer under a key must stay while it is being read, but it was deleted in that "
            "moment; try again."
        )
    return found


def _outcome(issue: Issue, stored: dict[str, tuple[str, str]]) -> str | Conflict:
    if issue.key is None:
        return issue.answer
    fingerprint, answer = stored[issue.key]
    return answer if fingerprint == issue.fingerprint else Conflict(key=issue.key)
