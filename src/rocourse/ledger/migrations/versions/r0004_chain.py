"""A chain of hashes over all that is written; what is personal can be erased, and is sealed."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from rocourse.ledger import _chain
from rocourse.ledger._tables import Moment

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_PAGE = 1000

# Everything about a promise but its status and what is personal.
_KEPT = (
    "id, model, schema_version, desired, probability_before, probability_after, robustness, "
    "issued_at, expires_at, decision, tenant, seal"
)
_PERSONAL = "subject, given_row, recourse_row, wishes, salt"
_ERASED = (
    "NEW.subject IS NULL AND CAST(NEW.given_row AS TEXT) = '{}' AND "
    "CAST(NEW.recourse_row AS TEXT) = '{}' AND NEW.wishes IS NULL AND NEW.salt IS NULL"
)


def upgrade() -> None:
    op.create_table(
        "ledger_links",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("tenant", sa.String(255)),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("events", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.add_column(
        "ledger_events", sa.Column("link", sa.BigInteger, nullable=False, server_default="0")
    )
    op.add_column("ledger_promises", sa.Column("salt", sa.String(32)))
    op.add_column(
        "ledger_promises", sa.Column("seal", sa.String(64), nullable=False, server_default="")
    )
    op.add_column(
        "ledger_answers",
        sa.Column("tenant", sa.String(255), nullable=False, server_default="default"),
    )
    op.create_index("ledger_answers_by_time", "ledger_answers", ["answered_at"])
    connection = op.get_bind()
    postgresql = connection.dialect.name == "postgresql"
    for table in ("ledger_promises", "ledger_events"):
        op.execute(
            f"DROP TRIGGER {table}_are_kept ON {table}"
            if postgresql
            else f"DROP TRIGGER {table}_no_update"
        )
    _seal(connection)
    _chain_events(connection)
    if postgresql:
        _guard_postgresql()
    else:
        _guard_sqlite()


def _seal(connection: sa.Connection) -> None:
    text = "SELECT id, subject, {0}, {1}, {2} FROM ledger_promises WHERE {3} ORDER BY id LIMIT 1000"
    columns = [
        f"CAST({name} AS TEXT) AS {name}" for name in ("given_row", "recourse_row", "wishes")
    ]
    last: Any = None
    while True:
        where = "1 = 1" if last is None else "id > :last"
        query = sa.text(text.format(*columns, where))
        found = connection.execute(query, {} if last is None else {"last": last}).mappings().all()
        if not found:
            return
        last = found[-1]["id"]
        salts = [_chain.new_salt() for _ in found]
        connection.execute(
            sa.text("UPDATE ledger_promises SET salt = :salt, seal = :seal WHERE id = :own"),
            [
                {"own": row["id"], "salt": salt, "seal": _chain.seal(salt, dict(row))}
                for row, salt in zip(found, salts, strict=True)
            ],
        )


def _chain_events(connection: sa.Connection) -> None:
    """Links of those that are there, a thousand events each."""
    head, now = _chain.Head(0, _chain.FIRST), datetime.now(UTC)
    for page in _pages(connection):
        link = {
            "number": head.number + 1,
            "at": now,
            "kind": "adopt",
            "tenant": None,
            "note": "written before there was a chain",
            "events": len(page),
        }
        ordered = sorted(page, key=lambda row: (row["promise"]["id"], row["number"]))
        leaves = [_chain.leaf(row["promise"], row) for row in ordered]
        head = _chain.Head(head.number + 1, _chain.link_hash(head.hash, link, leaves))
        connection.execute(_links.insert(), {**link, "hash": head.hash})
        connection.execute(
            sa.text("UPDATE ledger_events SET link = :link WHERE number BETWEEN :first AND :last"),
            {"link": head.number, "first": page[0]["number"], "last": page[-1]["number"]},
        )


_links = sa.table(
    "ledger_links",
    *(sa.column(name) for name in ("number", "kind", "tenant", "note", "events", "hash")),
    sa.column("at", Moment),
)


def _pages(connection: sa.Connection) -> Iterator[list[dict[str, Any]]]:
    promised = (
        "id model schema_version probability_before probability_after robustness decision tenant "
        "seal"
    ).split()
    columns = [
        *(f"p.{name} AS p_{name}" for name in promised),
        "CAST(p.desired AS TEXT) AS p_desired",
        *(f"p.{name} AS p_{name}" for name in ("issued_at", "expires_at")),
        *(f"e.{name} AS {name}" for name in ("number", "at", "status", "model", "detail")),
    ]
    query = sa.text(
        f"SELECT {', '.join(columns)} FROM ledger_events e JOIN ledger_promises p ON p.id = "
        f"e.promise WHERE e.number > :last ORDER BY e.number LIMIT {_PAGE}"
    ).columns(at=Moment, p_issued_at=Moment, p_expires_at=Moment)
    last = -1
    while found := connection.execute(query, {"last": last}).mappings().all():
        last = found[-1]["number"]
        yield [
            {
                **{name: row[name] for name in ("number", "at", "status", "model", "detail")},
                "promise": {
                    name.removeprefix("p_"): str(value)
                    if name in ("p_id", "p_decision") and value
                    else value
                    for name, value in row.items()
                    if name.startswith("p_")
                },
            }
            for row in found
        ]


def _guard_postgresql() -> None:
    for table, changes in (
        ("ledger_events", "UPDATE OR DELETE OR TRUNCATE"),
        ("ledger_links", "UPDATE OR DELETE OR TRUNCATE"),
        ("ledger_promises", f"UPDATE OF {_KEPT} OR DELETE OR TRUNCATE"),
    ):
        op.execute(
            f"CREATE TRIGGER {table}_are_kept BEFORE {changes} ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()"
        )
    op.execute(
        f"CREATE TRIGGER ledger_promises_are_erased_whole BEFORE UPDATE OF {_PERSONAL} ON "
        f"ledger_promises FOR EACH ROW WHEN (NOT ({_ERASED})) EXECUTE FUNCTION ledger_refuse()"
    )


def _guard_sqlite() -> None:
    def refuse(table: str) -> str:
        return f"BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: {table} are kept'); END"

    for table, columns in (
        ("ledger_events", ""),
        ("ledger_links", ""),
        ("ledger_promises", f"OF {_KEPT}"),
    ):
        op.execute(
            f"CREATE TRIGGER {table}_no_update BEFORE UPDATE {columns} ON {table} {refuse(table)}"
        )
    op.execute(
        f"CREATE TRIGGER ledger_promises_erased_whole BEFORE UPDATE OF {_PERSONAL} ON "
        f"ledger_promises WHEN NOT ({_ERASED}) {refuse('ledger_promises')}"
    )
    op.execute(
        f"CREATE TRIGGER ledger_links_no_delete BEFORE DELETE ON ledger_links "
        f"{refuse('ledger_links')}"
    )
    op.execute(
        "CREATE TRIGGER ledger_links_no_replace BEFORE INSERT ON ledger_links WHEN EXISTS "
        f"(SELECT 1 FROM ledger_links WHERE number = NEW.number) {refuse('ledger_links')}"
    )
