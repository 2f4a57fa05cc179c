"""Where a ledger lives, without its secrets."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from rocourse.errors import LedgerError

_SCHEMED = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_POSTGRESQL = frozenset({"postgres", "postgresql", "postgresql+psycopg"})
# Stricter than the URLs that would be understood: a stray '@', '/' or '?' means a password that is
# not encoded, and that would end up, in part, as the name of a host in an error message.
_SERVER = re.compile(
    r"(?:[^@/?#\[\]:]*(?::[^@/?#\[\]]*)?@)?"
    r"(?P<place>(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])?(?::[0-9]+)?(?:/[^@/?#:]*)?)"
    r"(?:\?[^@?#]*)?"
)


@dataclass(frozen=True, kw_only=True)
class Address:
    """A database.

    Attributes:
        url: What to connect to; it may hold a password.
        place: The path, or the URL without what is secret or a setting.
    """

    url: sa.URL
    place: str

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return repr(self.place)

    @property
    def is_vacant(self) -> bool:
        """Whether it is a file that is not there, or an empty one."""
        if self.url.get_backend_name() != "sqlite" or self.url.database is None:
            return False
        path = Path(self.url.database)
        # SQLite writes to an empty file as soon as it is opened.
        return not path.exists() or (path.is_file() and path.stat().st_size == 0)

    def make_private(self) -> None:
        """Makes a file that is not there for its owner alone, and closes one to strangers.

        SQLite gives the files beside it, such as its write-ahead log, the same permissions. A group
        that was let in stays so.
        """
        if self.url.get_backend_name() != "sqlite" or os.name != "posix":
            return
        path = Path(str(self.url.database))
        with suppress(PermissionError, FileNotFoundError):
            if self.is_vacant:
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
                path.chmod(0o600)
            for one in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
                # Looked at first: another process may be about to remove it.
                mode = one.stat().st_mode & 0o777
                if mode & 0o007 and one.stat().st_uid == os.geteuid():
                    one.chmod(mode & 0o770)

    @property
    def secrets(self) -> list[str]:
        """What must not be told."""
        given = [self.url.password, *self.url.normalized_query.get("password", ())]
        return [secret for secret in given if secret]


def parse(url_or_path: str | Path) -> Address:
    """Reads a path of a file, or a URL of SQLite or PostgreSQL.

    Raises:
        LedgerError: It is neither, or there can be no file.
    """
    schemed = _SCHEMED.fullmatch(url_or_path) if isinstance(url_or_path, str) else None
    if schemed is None:
        return _file(Path(url_or_path), str(url_or_path))
    scheme, rest = schemed["scheme"], schemed["rest"]
    if scheme == "sqlite":
        # After "sqlite://" and a slash comes the path, which has one more if it is absolute.
        if not rest.startswith("/") or "?" in rest:
            raise LedgerError(
                "The URL of a ledger in SQLite must be sqlite:/// and a path, but got another "
                "form; give the path of a file."
            )
        return _file(Path(rest[1:]), rest[1:])
    if scheme in _POSTGRESQL:
        return _server(rest)
    raise LedgerError(
        "The address of a ledger must be a path, or a URL of sqlite or postgresql, but got the "
        f"scheme {scheme!r}; use SQLite, or PostgreSQL with the driver psycopg."
    )


def _file(path: Path, text: str) -> Address:
    name = repr(text)
    if text in ("", ":memory:"):
        raise LedgerError(
            f"A ledger must be a file, but got {name}, which would forget the promises when the "
            "program ends; give the path of a file."
        )
    if "\x00" in text:
        raise LedgerError(
            f"Ledger {name} must have a path that a file can have, but it has a null character; "
            "check the path."
        )
    try:
        directory_exists, is_directory = path.parent.is_dir(), path.is_dir()
    except OSError as error:
        raise LedgerError(
            f"Ledger {name} must have a path that can be looked up, but got {error.strerror}; "
            "check the path."
        ) from error
    if not directory_exists:
        raise LedgerError(
            f"Ledger {name} must be in a directory that exists, but {str(path.parent)!r} does not; "
            "make the directory, or check the path."
        )
    if is_directory:
        raise LedgerError(
            f"Ledger {name} must be a file, but it is a directory; give the path of a file in it."
        )
    return Address(url=sa.URL.create("sqlite+pysqlite", database=str(path)), place=text)


def _server(rest: str) -> Address:
    server = _SERVER.fullmatch(rest)
    try:
        if server is None:
            raise ValueError
        url = sa.make_url(f"postgresql+psycopg://{rest}")
    except (ValueError, sa.exc.ArgumentError):
        # Not chained and not shown: the parts at fault may be parts of a password.
        raise LedgerError(
            "The URL of a ledger in PostgreSQL must be postgresql://user:password@host:port/name, "
            "but got another form; write special characters of the password with percent signs, as "
            "in %40 for @."
        ) from None
    return Address(url=url, place=f"postgresql://{server['place']}")
