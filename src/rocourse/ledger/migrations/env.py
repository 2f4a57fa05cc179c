"""What Alembic runs to migrate; the connection, and its transaction, come from the caller."""

from alembic import context

from rocourse.ledger._migrate import REVISION_TABLE
from rocourse.ledger._tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=REVISION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
