"""API keys: who may do what. Only their hashes are kept."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from rocourse.artifacts import write_file
from rocourse.errors import ConfigError
from rocourse.ledger import DEFAULT_TENANT

FORMAT = "rocourse-keys-2"
# Without tenants and expiry. What knows only this one refuses the other: it would let keys see
# everything, for ever.
_FIRST_FORMAT = "rocourse-keys"
_PREFIX = "rck_"


class Role(StrEnum):
    """What a caller may do."""

    DECIDE = "decide"
    """Ask for decisions, and return with a recourse."""
    READ = "read"
    """Read what was promised."""
    AUDIT = "audit"
    """See how promises fare."""
    OPERATE = "operate"
    """Put another model in service."""
    ERASE = "erase"
    """Have the ledger forget a person, or what is old."""


@dataclass(frozen=True)
class Caller:
    """Who asks.

    Attributes:
        name: Given when the key was made.
        roles: What the key allows.
        tenant: Whose promises the key is about.
        expires: From when on the key is worth nothing; None for never.
    """

    name: str
    roles: frozenset[Role]
    tenant: str = DEFAULT_TENANT
    expires: datetime | None = None


class KeyRing:
    """The keys of a file, as they are now: a key that is taken out opens nothing any more."""

    def __init__(self, path: Path, callers: dict[str, Caller], look: tuple[int, ...]) -> None:
        self._path, self._callers, self._look = path, callers, look

    @classmethod
    def read(cls, path: Path) -> "KeyRing":
        """The keys of a file.

        Raises:
            ConfigError: The file is missing or is none of ours.
        """
        # Looked at first: what is written meanwhile is read the next time.
        look = _look(path)
        return cls(path, {entry["sha256"]: _caller(entry) for entry in _entries(path)}, look)

    @property
    def callers(self) -> list[Caller]:
        """Whose keys there are, in the order of the file."""
        return list(self._callers.values())

    def caller(self, key: str) -> Caller | None:
        """Whose key it is; None for one that is unknown or has expired.

        A look-up by hash: how long it takes says nothing about keys, which are random.

        Raises:
            ConfigError: The file has changed, and cannot be read now: nobody is let in.
        """
        if _look(self._path) != self._look:
            fresh = KeyRing.read(self._path)
            self._callers, self._look = fresh._callers, fresh._look
        found = self._callers.get(_hash(key))
        if found is None or (found.expires is not None and found.expires <= datetime.now(UTC)):
            return None
        return found


def add_key(
    path: Path,
    name: str,
    roles: Sequence[str],
    *,
    tenant: str = DEFAULT_TENANT,
    expires: datetime | None = None,
) -> str:
    """Makes a key, adds its hash to a file, and gives the key, which is kept nowhere.

    Args:
        path: The file; made if it is not there.
        name: Whose key it is.
        roles: What it allows.
        tenant: Whose promises it is about.
        expires: From when on it is worth nothing, with a time zone; None for never.
    """
    unknown = sorted(set(roles) - set(Role))
    if unknown or not roles:
        raise ConfigError(
            f"A key must have roles among {', '.join(Role)}, but {name!r} has "
            f"{repr(unknown[0]) if unknown else 'none'}; give one or more of them."
        )
    _check_text("tenant", tenant)
    if expires is not None and expires.utcoffset() is None:
        raise ConfigError(
            "The expiry of a key must have a time zone, but got one without; give, for instance, "
            "datetime(2027, 1, 1, tzinfo=UTC)."
        )
    key = _PREFIX + secrets.token_urlsafe(32)
    entry = {"name": name, "roles": sorted(set(roles)), "tenant": tenant, "sha256": _hash(key)}
    if expires is not None:
        entry["expires"] = expires.astimezone(UTC).isoformat()
    with _alone(path):
        entries = _entries(path) if path.exists() else []
        _check_name(name, entries)
        _write(path, [*entries, entry])
    return key


def remove_key(path: Path, name: str) -> None:
    """Takes a key out of a file.

    Raises:
        ConfigError: There is no key of this name.
    """
    with _alone(path):
        entries = _entries(path)
        left = [entry for entry in entries if entry["name"] != name]
        if len(left) == len(entries):
            raise ConfigError(
                f"The key to remove must be in {str(path)!r}, but {name!r} is not; it has "
                f"{', '.join(repr(entry['name']) for entry in entries) or 'none'}."
            )
        _write(path, left)


def list_keys(path: Path) -> list[Caller]:
    """Whose keys a file has."""
    return KeyRing.read(path).callers


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keeps others from changing the keys meanwhile: what one reads, another would overwrite.

    The file itself is replaced as a whole, so that its directory is what can be locked. Where
    there are no such locks, whoever changes keys has to be alone.
    """
    folder = path.resolve().parent
    if os.name != "posix" or not folder.is_dir():
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _look(path: Path) -> tuple[int, ...]:
    """What differs when a file was replaced; cheap enough for every request."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _caller(entry: dict[str, Any]) -> Caller:
    expires = entry.get("expires")
    return Caller(
        entry["name"],
        frozenset(map(Role, entry["roles"])),
        entry.get("tenant", DEFAULT_TENANT),
        None if expires is None else datetime.fromisoformat(expires),
    )


def _hash(key: str) -> str:
    # A key has 256 random bits: nobody guesses it, however fast the hash is.
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _check_text(what: str, text: str) -> None:
    if not text or len(text) > 100 or not text.isprintable():
        raise ConfigError(
            f"The {what} of a key must be 1 to 100 printable characters, but got another text; "
            f"choose a short {what}."
        )


def _check_name(name: str, entries: list[dict[str, Any]]) -> None:
    _check_text("name", name)
    if any(entry["name"] == name for entry in entries):
        raise ConfigError(
            f"The name of a key must be new, but there is a key {name!r} already; remove that one, "
            "or choose another name."
        )


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        entries = content["keys"]
        if content["format"] not in (FORMAT, _FIRST_FORMAT) or not isinstance(entries, list):
            raise ValueError
        for entry in entries:
            caller = _caller(entry)
            if not isinstance(caller.name, str) or len(bytes.fromhex(entry["sha256"])) != 32:
                raise ValueError
            if not isinstance(caller.tenant, str) or not caller.tenant:
                raise ValueError
            if caller.expires is not None and caller.expires.utcoffset() is None:
                raise ValueError
    except OSError as error:
        raise ConfigError(
            f"The keys must be in a readable file, but {str(path)!r} is not: "
            f"{error.strerror}; make it with `rocourse keys add`."
        ) from error
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"The keys must be in a file that `rocourse keys add` wrote, but {str(path)!r} is "
            "none; make it anew."
        ) from error
    return entries


def _write(path: Path, entries: list[dict[str, Any]]) -> None:
    text = json.dumps({"format": FORMAT, "keys": entries}, indent=2, ensure_ascii=False) + "\n"
    write_file(path, text.encode(), force=True, private=True)
