"""Whose promise it is: those of before belong to one tenant. And which still bind, in order."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# Everything about a promise but its status.
_PROMISED = (
    "id, subject, model, schema_version, given_row, recourse_row, desired, probability_before, "
    "probability_after, robustness, issued_at, expires_at, decision, wishes, tenant"
)


def upgrade() -> None:
    op.add_column(
        "ledger_promises",
        sa.Column("tenant", sa.String(255), nullable=False, server_default="default"),
    )
    binding = sa.text("status IN ('open', 'broken')")
    op.create_index(
        "ledger_promises_that_bind",
        "ledger_promises",
        ["id", "expires_at"],
        sqlite_where=binding,
        postgresql_where=binding,
    )
    op.drop_index("ledger_promises_by_model", "ledger_promises")
    op.drop_index("ledger_promises_by_status", "ledger_promises")
    op.create_index("ledger_promises_by_expiry", "ledger_promises", ["expires_at", "status"])
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
