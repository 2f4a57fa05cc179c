"""One ledger, by several connections."""

from typing import NamedTuple

from rocourse.ledger import Ledger

# Of the time that a request has, what is spent on waiting for a database.
_PATIENCE = 0.75
# Seconds that an audit waits for one.
_AUDIT_PATIENCE = 30.0


def database_seconds(deadline: float) -> float:
    """How long a database is waited for, so that a request is yet answered with what went wrong.

    Args:
        deadline: Seconds that a request may take.
    """
    return _PATIENCE * deadline


class Ledgers(NamedTuple):
    """A ledger whose readers keep nobody from writing.

    Attributes:
        writing: For decisions and redemptions.
        reading: For who looks a promise up.
        auditing: For who looks at all of them, and may wait.
    """

    writing: Ledger
    reading: Ledger
    auditing: Ledger

    @classmethod
    def open(cls, address: str, deadline: float) -> "Ledgers":
        """Opens all of them.

        Args:
            address: Of the ledger.
            deadline: Seconds that a request may take.
        """
        soon = database_seconds(deadline)
        return cls(*(Ledger.open(address, patience=one) for one in (soon, soon, _AUDIT_PATIENCE)))
