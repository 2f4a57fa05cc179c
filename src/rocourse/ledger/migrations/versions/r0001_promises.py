"""Promises, their events, the answers under idempotency keys, and what guards them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Spelled out, not imported: what this step does must not change when the tables do.
_ID = sa.String(36).with_variant(postgresql.UUID(as_uuid=False), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_DOCUMENT = sa.Text().with_variant(postgresql.JSON(), "postgresql")
_NAME = sa.String(255)
_STATUS = sa.String(16)
_STATUSES = "status IN ('open', 'redeemed', 'broken', 'withdrawn', 'expired')"

# Everything about a promise but its status.
_PROMISED = (
    "id, subject, model, schema_version, given_row, recourse_row, desired, probability_before, "
    "probability_after, robustness, issued_at, expires_at"
)


def upgrade() -> None:
    _create_tables()
    if op.get_context().dialect.name == "postgresql":
        _guard_postgresql()
    else:
        _guard_sqlite()


def _create_tables() -> None:
    op.create_table(
        "ledger_promises",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("subject", _NAME),
        sa.Column("model", _NAME, nullable=False),
        sa.Column("schema_version", _NAME, nullable=False),
        sa.Column("given_row", _DOCUMENT, nullable=False),
        sa.Column("recourse_row", _DOCUMENT, nullable=False),
        sa.Column("desired", _DOCUMENT, nullable=False),
        sa.Column("probability_before", sa.Double, nullable=False),
        sa.Column("probability_after", sa.Double, nullable=False),
        sa.Column("robustness", sa.Double),
        sa.Column("issued_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.Column("status", _STATUS, nullable=False),
        sa.CheckConstraint(_STATUSES, name="ledger_promises_status"),
    )
    op.create_index("ledger_promises_by_status", "ledger_promises", ["status", "id", "expires_at"])
    op.create_index("ledger_promises_by_model", "ledger_promises", ["model", "status", "id"])
    op.create_index("ledger_promises_by_subject", "ledger_promises", ["subject", "id"])
    op.create_table(
        "ledger_events",
        sa.Column("number", _NUMBER, primary_key=True),
        sa.Column("promise", _ID, sa.ForeignKey("ledger_promises.id"), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("status", _STATUS, nullable=False),
        sa.Column("model", _NAME, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.CheckConstraint(_STATUSES, name="ledger_events_status"),
    )
    op.create_index("ledger_events_by_promise", "ledger_events", ["promise", "number"])
    op.create_table(
        "ledger_answers",
        sa.Column("key", _NAME, primary_key=True),
        sa.Column("fingerprint", _NAME, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("answered_at", _MOMENT, nullable=False),
    )


def _guard_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'the ledger is append-only: % of % is refused', TG_OP, TG_TABLE_NAME; "
        "END $$"
    )
    # For each statement, so that TRUNCATE is refused too, and a statement that touches no row.
    for table, changes in (
        ("ledger_events", "UPDATE OR DELETE OR TRUNCATE"),
        ("ledger_promises", f"UPDATE OF {_PROMISED} OR DELETE OR TRUNCATE"),
    ):
        op.execute(
            f"CREATE TRIGGER {table}_are_kept BEFORE {changes} ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()"
        )


def _guard_sqlite() -> None:
    for table, key, columns in (
        ("ledger_events", "number", ""),
        ("ledger_promises", "id", f"OF {_PROMISED}"),
    ):
        refuse = f"BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: {table} are kept'); END"
        op.execute(f"CREATE TRIGGER {table}_no_update BEFORE UPDATE {columns} ON {table} {refuse}")
        op.execute(f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {refuse}")
        # REPLACE deletes without asking the trigger above.
        op.execute(
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
            f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {key} = NEW.{key}) {refuse}"
        )
