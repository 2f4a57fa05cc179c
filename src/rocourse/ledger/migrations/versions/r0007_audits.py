"""Audits that were asked for."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_ID = sa.String(36).with_variant(postgresql.UUID(as_uuid=False), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "ledger_audits",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("tenant", sa.String(255), nullable=False),
        sa.Column("model", sa.String(255), nullable=False),
        sa.Column("runner", sa.String(255), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("seen", _MOMENT, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Index("ledger_audits_by_tenant", "tenant", "id"),
    )
