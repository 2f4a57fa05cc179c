"""Identifiers of promises: in the order of time, and not to be guessed."""

import os
import re
import time
import uuid

_CANONICAL = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def new_id() -> str:
    """A fresh id: a UUID of version 7 (RFC 9562), in lower case.

    The leading 48 bits are the time in milliseconds, so that new promises are appended to the end
    of an index; the other 74 free bits come from the operating system's source of secrets, so that
    whoever holds one id cannot guess another.
    """
    milliseconds = (time.time_ns() // 1_000_000) & 0xFFFF_FFFF_FFFF
    number = (milliseconds << 80) | int.from_bytes(os.urandom(10))
    number = (number & ~(0xF << 76)) | (0x7 << 76)
    number = (number & ~(0x3 << 62)) | (0x2 << 62)
    return str(uuid.UUID(int=number))


def is_id(text: object) -> bool:
    """Whether this is the text of a UUID as `new_id` writes it.

    One spelling only: ids are compared as text in SQLite and as UUIDs in PostgreSQL, and both must
    find, and order, the same.
    """
    return isinstance(text, str) and _CANONICAL.fullmatch(text) is not None
