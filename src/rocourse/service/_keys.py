"""API keys: who may do what. Only their hashes are kept."""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from rocourse.artifacts import write_file
from rocourse.errors import ConfigError

FORMAT = "rocourse-keys"
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


@dataclass(frozen=True)
class Caller:
    """Who asks.

    Attributes:
        name: Given when the key was made.
        roles: What the key allows.
    """

    name: str
    roles: frozenset[Role]


class KeyRing:
    """The keys of a service."""

    def __init__(self, callers: dict[str, Caller]) -> None:
        self._callers = callers

    @classmethod
    def read(cls, path: Path) -> "KeyRing":
        """The keys of a file.

        Raises:
            ConfigError: The file is missing or is none of ours.
        """
        return cls(
            {
                entry["sha256"]: Caller(entry["name"], frozenset(map(Role, entry["roles"])))
                for entry in _entries(path)
            }
        )

    def caller(self, key: str) -> Caller | None:
        """Whose key it is.

        A look-up by hash: how long it takes says nothing about keys, which are random.
        """
        return self._callers.get(_hash(key))


def add_key(path: Path, name: str, roles: Sequence[str]) -> str:
    """Makes a key, adds its hash to a file, and gives the key, which is kept nowhere.

    Args:
        path: The file; made if it is not there.
        name: Whose key it is.
        roles: What it allows.
    """
    entries = _entries(path) if path.exists() else []
    _check_name(name, entries)
    unknown = sorted(set(roles) - set(Role))
    if unknown or not roles:
        raise ConfigError(
            f"A key must have roles among {', '.join(Role)}, but {name!r} has "
            f"{repr(unknown[0]) if unknown else 'none'}; give one or more of them."
        )
    key = _PREFIX + secrets.token_urlsafe(32)
    entries.append({"name": name, "roles": sorted(set(roles)), "sha256": _hash(key)})
    _write(path, entries)
    return key


def remove_key(path: Path, name: str) -> None:
    """Takes a key out of a file.

    Raises:
        ConfigError: There is no key of this name.
    """
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
    return list(KeyRing.read(path)._callers.values())


def _hash(key: str) -> str:
    # A key has 256 random bits: nobody guesses it, however fast the hash is.
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _check_name(name: str, entries: list[dict[str, Any]]) -> None:
    if not name or len(name) > 100 or not name.isprintable():
        raise ConfigError(
            "The name of a key must be 1 to 100 printable characters, but got another text; choose "
            "a short name."
        )
    if any(entry["name"] == name for entry in entries):
        raise ConfigError(
            f"The name of a key must be new, but there is a key {name!r} already; remove that one, "
            "or choose another name."
        )


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        entries = content["keys"]
        if content["format"] != FORMAT or not isinstance(entries, list):
            raise ValueError
        for entry in entries:
            if not isinstance(entry["name"], str) or len(bytes.fromhex(entry["sha256"])) != 32:
                raise ValueError
            list(map(Role, entry["roles"]))
    except OSError as error:
        raise ConfigError(
            f"The keys must be in a readable file, but {str(path)!r} is not: "
            f"{error.strerror}; make it with `rocourse keys add`."
        ) from error
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"The keys must be in a file that `rocourse keys add` wrote, but {str(path)!r} is "
            "none; make it anew."
        ) from error
    return entries


def _write(path: Path, entries: list[dict[str, Any]]) -> None:
    text = json.dumps({"format": FORMAT, "keys": entries}, indent=2, ensure_ascii=False) + "\n"
    write_file(path, text.encode(), force=True)
