"""Brings the tables of a database up to this release."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from rocourse.errors import LedgerError
from rocourse.ledger._engine import WRITING

REVISION_TABLE = "ledger_revision"

_MIGRATIONS = Path(__file__).parent / "migrations"
# Any number will do, as long as every release waits for the same one.
_LOCK = 0x726F_636F_7572_7365


def migrate(engine: sa.Engine, *, name: str, create: bool = True) -> None:
    """Makes the tables, or alters those of an older release; one process at a time.

    Args:
        engine: The database.
        name: What to call the database in messages.
        create: Whether tables are made where there are none.

    Raises:
        LedgerError: The tables are those of a newer release, or of another program; or there are
            none, and none shall be made.
    """
    scripts = ScriptDirectory(str(_MIGRATIONS))
    head = scripts.get_current_head()
    # Almost always there is nothing to do, and then nobody has to wait for a lock.
    with engine.connect() as connection:
        revision = _revision(connection)
        if revision == head:
            return
        if revision is None and not create:
            raise LedgerError(
                f"Ledger {name} must hold promises already, but it is no ledger; check the path or "
                "the URL."
            )
    with engine.execution_options(**WRITING).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        revision = _revision(connection)
        if revision is None:
            _check_vacant(connection, name)
        elif revision not in {script.revision for script in scripts.walk_revisions()}:
            raise LedgerError(
                f"Ledger {name} must have a revision up to {head}, which this release knows, but "
                f"it has {revision}; use the release of rocourse that wrote it, or a newer one."
            )
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _revision(connection: sa.Connection) -> str | None:
    context = MigrationContext.configure(connection, opts={"version_table": REVISION_TABLE})
    return context.get_current_revision()


def _check_vacant(connection: sa.Connection, name: str) -> None:
    """Keeps from writing into the file of another program, as after a slip in a path.

    A database on a server is often shared on purpose.
    """
    if connection.dialect.name == "sqlite" and sa.inspect(connection).get_table_names():
        raise LedgerError(
            f"Ledger {name} must be a new file or a ledger, but it is the SQLite database of "
            "another program; choose another path."
        )
