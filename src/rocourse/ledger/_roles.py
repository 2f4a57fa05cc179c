"""Two roles in PostgreSQL: who owns the tables, and who may only add to them."""

import re

from rocourse.errors import LedgerError

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,62}")
_APPENDED = "ledger_promises, ledger_events, ledger_links"
_CHANGED = "ledger_answers, ledger_audits"


def writer_grants(role: str) -> list[str]:
    """The statements that let a role write a ledger, and change or delete no promise.

    A service that is opened with such a role can issue, record and read. Erasing, retaining and
    bringing the tables up to date is for their owner, who runs these statements.

    Args:
        role: One that exists, made with `CREATE ROLE … LOGIN`.

    Raises:
        LedgerError: The name is none that can be written without quotes.
    """
    if not _NAME.fullmatch(role):
        raise LedgerError(
            "The role must have a name of letters, digits and underscores, but got another one; "
            "rename it."
        )
    name = f'"{role}"'
    return [
        f"REVOKE ALL ON {_APPENDED}, {_CHANGED}, ledger_revision FROM PUBLIC, {name}",
        f"GRANT SELECT, INSERT ON {_APPENDED} TO {name}",
        f"GRANT UPDATE (status) ON ledger_promises TO {name}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {_CHANGED} TO {name}",
        f"GRANT SELECT ON ledger_revision TO {name}",
        f"GRANT USAGE ON SEQUENCE ledger_events_number_seq TO {name}",
        f"GRANT EXECUTE ON FUNCTION ledger_make_months() TO {name}",
    ]
