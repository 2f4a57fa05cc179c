"""Promises of which a decision made several, and the wishes that they were made by."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ID = sa.String(36).with_variant(postgresql.UUID(as_uuid=False), "postgresql")
_DOCUMENT = sa.Text().with_variant(postgresql.JSON(), "postgresql")

# Everything about a promise but its status.
_PROMISED = (
    "id, subject, model, schema_version, given_row, recourse_row, desired, probability_before, "
    "probability_after, robustness, issued_at, expires_at, decision, wishes"
)


def upgrade() -> None:
    op.add_column("ledger_promises", sa.Column("decision", _ID))
    op.add_column("ledger_promises", sa.Column("wishes", _DOCUMENT))
    several = sa.text("decision IS NOT NULL")
    op.create_index(
        "ledger_promises_by_decision",
        "ledger_promises",
        ["decision", "id"],
        sqlite_where=several,
        postgresql_where=several,
    )
    # The guards name the columns that they guard.
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP TRIGGER ledger_promises_are_kept ON ledger_promises")
        op.execute(
            f"CREATE TRIGGER ledger_promises_are_kept BEFORE UPDATE OF {_PROMISED} OR DELETE OR "
            "TRUNCATE ON ledger_promises FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()"
        )
    else:
        op.execute("DROP TRIGGER ledger_promises_no_update")
        op.execute(
            f"CREATE TRIGGER ledger_promises_no_update BEFORE UPDATE OF {_PROMISED} ON "
            "ledger_promises BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: "
            "ledger_promises are kept'); END"
        )
