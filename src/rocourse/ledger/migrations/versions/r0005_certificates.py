"""Promises with what is proved of them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_DOCUMENT = sa.Text().with_variant(postgresql.JSON(), "postgresql")


def upgrade() -> None:
    op.add_column("ledger_promises", sa.Column("certificate", _DOCUMENT))
    # Guards of its own: those that are there name the columns that they guard.
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE TRIGGER ledger_certificates_are_kept BEFORE UPDATE OF certificate ON "
            "ledger_promises FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()"
        )
    else:
        op.execute(
            "CREATE TRIGGER ledger_certificates_no_update BEFORE UPDATE OF certificate ON "
            "ledger_promises BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: "
            "ledger_promises are kept'); END"
        )
