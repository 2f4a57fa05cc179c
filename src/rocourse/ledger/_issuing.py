"""Writing issues: each key once, each issue whole."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from operator import itemgetter

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from rocourse.errors import LedgerError
from rocourse.ledger._chain import leaf
from rocourse.ledger._database import Database
from rocourse.ledger._months import Months
from rocourse.ledger._records import Conflict, Issue
from rocourse.ledger._tables import answers, events, promise_values, promises
from rocourse.ledger._writing import add_link

# Databases limit the number of parameters of a statement.
_AT_ONCE = 1000
# New answers after which old ones are looked for.
_ANSWERS_BETWEEN = 100

_ISSUED = "issued"

ANSWERS_KEPT = timedelta(days=7)
"""How long the answer to a request is kept for whoever repeats it with its key."""

# Built once: building them takes a good part of the time of a small write.
_CLAIM = {
    dialect: insert(answers).on_conflict_do_nothing().returning(answers.c.key)
    for dialect, insert in (("postgresql", postgresql.insert), ("sqlite", sqlite.insert))
}
_FIND_ANSWERS = sa.select(answers.c.key, answers.c.fingerprint, answers.c.answer).where(
    answers.c.key.in_(sa.bindparam("keys", expanding=True))
)
_OLDEST = (
    sa.select(answers.c.key)
    .where(answers.c.answered_at < sa.bindparam("before", type_=answers.c.answered_at.type))
    .order_by(answers.c.answered_at)
    .limit(sa.bindparam("most", type_=sa.Integer))
    # Those that somebody else is about to delete are left to them. SQLite ignores the clause.
    .with_for_update(skip_locked=True)
)
_FORGET_ANSWERS = sa.delete(answers).where(answers.c.key.in_(_OLDEST))
_INSERT_PROMISES = sa.insert(promises)
# Copied inside the database, which is quicker than sending each once more.
_INSERT_FIRST_EVENTS = sa.insert(events).from_select(
    ["promise", "at", "status", "model", "detail", "link"],
    sa.select(
        promises.c.id,
        promises.c.issued_at,
        promises.c.status,
        promises.c.model,
        sa.literal_column(f"'{_ISSUED}'"),
        sa.bindparam("link", type_=sa.BigInteger),
    )
    .where(promises.c.id.in_(sa.bindparam("ids", expanding=True)))
    .order_by(promises.c.id),
)


class Issuing:
    """Writes issues, and sees to it that there is room for those to come."""

    def __init__(self, database: Database) -> None:
        self._database, self._months = database, Months(database)
        self._answers = 0

    def write(self, issues: Sequence[Issue], now: datetime) -> list[str | Conflict]:
        """Writes issues in one transaction; as `Ledger.issue`, at a time."""
        self._months.look_after(now)
        self._answers += sum(issue.key is not None for issue in issues)
        with self._database.write() as connection:
            if self._answers >= _ANSWERS_BETWEEN:
                # Twice as many as came, a few at a time: nobody has to wait for it.
                _forget_answers(connection, now, 2 * self._answers)
                self._answers = 0
            return _write_issues(connection, issues, now)


def _write_issues(
    connection: sa.Connection, issues: Sequence[Issue], now: datetime
) -> list[str | Conflict]:
    firsts: dict[str, Issue] = {}
    for issue in issues:
        if issue.key is not None:
            firsts.setdefault(issue.key, issue)
    won = _claim(connection, firsts, now)
    unkeyed = [issue for issue in issues if issue.key is None]
    _write_promises(connection, unkeyed + [firsts[key] for key in firsts if key in won], now)
    stored = {key: (firsts[key].fingerprint, firsts[key].answer) for key in won}
    stored.update(_stored(connection, firsts.keys() - won))
    return [_outcome(issue, stored) for issue in issues]


def _forget_answers(connection: sa.Connection, now: datetime, most: int) -> None:
    """Deletes the oldest answers whose requests nobody will repeat any more."""
    connection.execute(_FORGET_ANSWERS, {"before": now - ANSWERS_KEPT, "most": most})


def _claim(connection: sa.Connection, firsts: dict[str, Issue], now: datetime) -> set[str]:
    """Stores the answers under their keys, and returns the keys that were free.

    In PostgreSQL, a key that another transaction is about to store makes this one wait for its
    end. In the order of keys, no two of them can wait for each other.
    """
    if not firsts:
        return set()
    rows = [
        {
            "key": key,
            "fingerprint": firsts[key].fingerprint,
            "answer": firsts[key].answer,
            "answered_at": now,
            "tenant": firsts[key].tenant,
        }
        for key in sorted(firsts)
    ]
    return set(connection.execute(_CLAIM[connection.dialect.name], rows).scalars())


def _write_promises(connection: sa.Connection, issues: Iterable[Issue], now: datetime) -> None:
    made = [promise_values(promise) for issue in issues for promise in issue.promises]
    if not made:
        return
    made.sort(key=itemgetter("id"))
    leaves = [leaf(row, {**row, "at": row["issued_at"], "detail": _ISSUED}) for row in made]
    link = add_link(connection, leaves, kind="issue", at=now)
    connection.execute(_INSERT_PROMISES, made)
    ids = [row["id"] for row in made]
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        connection.execute(_INSERT_FIRST_EVENTS, {"ids": some, "link": link})


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
