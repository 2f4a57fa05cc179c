"""A ledger made from a copy of another."""

from pathlib import Path

from rocourse.errors import LedgerError
from rocourse.ledger._address import parse
from rocourse.ledger._ledger import Ledger
from rocourse.ledger._verifying import Verification


def restored(copy: str | Path, url_or_path: str | Path) -> Verification:
    """Makes a ledger from a copy that `Upkeep.back_up` wrote, and verifies it.

    Args:
        copy: The file.
        url_or_path: Where the ledger shall be: an empty database, or a file that is not there.

    Raises:
        LedgerError: The copy is none or was changed, or there is something already; nothing is left
            behind then.
    """
    address = parse(url_or_path)
    vacant = address.is_vacant
    try:
        with open(copy, "rb") as lines, Ledger.open(url_or_path) as ledger:
            return ledger.upkeep.restore(lines)
    except OSError as error:
        raise LedgerError(
            f"The copy of a ledger must be a readable file, but {str(copy)!r} is not: "
            f"{error.strerror}; check the path."
        ) from error
    except BaseException:
        if vacant:
            Path(str(address.url.database)).unlink(missing_ok=True)
        raise
