"""What the ledger can keep.

Records are checked when they are made, in the request they belong to: once they are written
together with those of others, one that the database refuses would take the others with it. The
messages name the field and the rule, and never the value, which may be about a person.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime

from rocourse.errors import LedgerError
from rocourse.ledger._ids import is_id

# PostgreSQL refuses to index texts of more than some 2,700 bytes; 255 characters take at most 1,020
# and leave room for the other columns of an index.
LONGEST_NAME = 255

_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def encode(value: object) -> str:
    """The JSON text of a value, in ASCII.

    Raises:
        LedgerError: The value cannot be written as JSON.
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        # Not chained: the encoder's message may quote the value.
        raise LedgerError(
            "The rows and the class of a promise must be JSON (text, finite numbers, booleans, "
            f"null, lists and mappings), but writing one failed with {type(error).__name__}; "
            "convert the values before issuing."
        ) from None


def check_id(field: str, value: object) -> None:
    """Refuses what is no id."""
    if not is_id(value):
        raise LedgerError(
            f"The {field} of a promise must be a UUID in lower case, but got another text or "
            "value; make it with new_id()."
        )


def check_row(field: str, value: object) -> None:
    """Refuses a row that is no mapping from names."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise LedgerError(
            f"The {field} of a promise must be a mapping from column names to values, but got a "
            f"{type(value).__name__}{' with other keys' if isinstance(value, Mapping) else ''}; "
            "give a dictionary with text as keys."
        )


def check_name(field: str, value: object) -> None:
    """Refuses what is no short text: a key, a digest, a reference."""
    check_text(field, value)
    length = len(str(value))
    if not 1 <= length <= LONGEST_NAME:
        raise LedgerError(
            f"The {field} must have 1 to {LONGEST_NAME} characters, but got {length}; shorten it, "
            "or give a digest of it."
        )


def check_text(field: str, value: object) -> None:
    """Refuses what a database cannot hold as text."""
    if not isinstance(value, str):
        raise LedgerError(f"The {field} must be text, but got a {type(value).__name__}; give text.")
    if "\x00" in value or not _is_unicode(value):
        raise LedgerError(
            f"The {field} must be text that a database can hold, but it has a null character or "
            "half of a surrogate pair; remove that character."
        )


def check_share(field: str, value: object) -> None:
    """Refuses what is no number from 0 to 1."""
    if not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1:
        raise LedgerError(
            f"The {field} of a promise must be a number from 0 to 1, but got another value of type "
            f"{type(value).__name__}; give a probability or a share."
        )


def check_time(field: str, value: object) -> None:
    """Refuses what is no length of time."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value < math.inf:  # type: ignore[operator]
        raise LedgerError(
            f"The {field} of a promise must be a number of 0 or more, but got another value of "
            f"type {type(value).__name__}; leave it out where it is not known."
        )


def check_moment(field: str, value: object) -> None:
    """Refuses what is no point in time."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        got = "one without a time zone" if isinstance(value, datetime) else type(value).__name__
        raise LedgerError(
            f"The {field} must be a datetime with a time zone, but got {got}; give, for instance, "
            "datetime.now(UTC)."
        )
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise LedgerError(
            f"The {field} must be in the years 1 to 9999 of UTC, but it is just outside of them; "
            "give a time that a calendar has."
        ) from None


def check_page(value: object) -> None:
    """Refuses what is no size of a page."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise LedgerError(
            f"The page must be a whole number of at least 1, but got {value!r}; give the number of "
            "promises to read at a time."
        )


def check_days(value: object) -> None:
    """Refuses what is no number of days."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 100_000:
        raise LedgerError(
            f"The days must be a whole number from 0 to 100000, but got {value!r}; give how long "
            "promises are kept after they have ended."
        )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
