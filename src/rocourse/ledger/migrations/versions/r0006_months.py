"""Promises with the time that their changes take."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("ledger_promises", sa.Column("months", sa.Double))
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE TRIGGER ledger_months_are_kept BEFORE UPDATE OF months ON "
            "ledger_promises FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()"
        )
    else:
        op.execute(
            "CREATE TRIGGER ledger_months_no_update BEFORE UPDATE OF months ON "
            "ledger_promises BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: "
            "ledger_promises are kept'); END"
        )
