"""Parameters of a method from a file and from the command line."""

import json
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from rocourse.cli._rows import did_you_mean
from rocourse.errors import ConfigError

# What is said by options of its own.
_ELSEWHERE = {"schema": "--schema", "random_state": "--seed", "model": "--explain"}


def read_parameters(
    config: Path | None, assignments: Iterable[str] | None, *, known: Collection[str]
) -> dict[str, Any]:
    """Parameters by name; what is set on the command line wins over the file.

    Args:
        config: A .json or .toml file of parameters.
        assignments: Texts of the form `name=value`.
        known: The parameters that the method has.

    Raises:
        ConfigError: A name is unknown, the file cannot be read, or an assignment is malformed.
    """
    parameters = {} if config is None else _read(config)
    parameters |= dict(_parse(text) for text in assignments or ())
    for name in parameters:
        if name in _ELSEWHERE:
            raise ConfigError(
                f"Parameter {name!r} must be given by {_ELSEWHERE[name]}, but got it in --config "
                "or --set; move it there."
            )
        if name not in known:
            choices = sorted(set(known) - set(_ELSEWHERE))
            raise ConfigError(
                f"Parameter {name!r} must be one that the method has"
                f"{did_you_mean(name, choices)}: {', '.join(choices)}; correct the name."
            )
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in parameters.items()
    }


def _read(path: Path) -> dict[str, Any]:
    readers = {".json": json.loads, ".toml": tomllib.loads}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise ConfigError(
            f"Config file {str(path)!r} must end in .json or .toml, but it ends in "
            f"{path.suffix!r}; convert or rename it."
        )
    try:
        parameters = reader(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"Config file {str(path)!r} must be readable, but got {error.strerror or error}; check "
            "the path."
        ) from error
    except ValueError as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"Config file {str(path)!r} must be {path.suffix[1:].upper()}, but it is malformed "
            f"({reason}); correct it."
        ) from error
    if not isinstance(parameters, dict):
        raise ConfigError(
            f"Config file {str(path)!r} must map names to values, but got "
            f"{type(parameters).__name__}; write an object."
        )
    return parameters


def _parse(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ConfigError(
            f"--set must be name=value, but got {text!r}; write, say, --set epochs=20."
        )
    for candidate in (value, f"[{value}]" if "," in value else value):
        try:
            return name.strip(), json.loads(candidate)
        except ValueError:
            continue
    # Words need no quotes: --set generator=rebuild.
    return name.strip(), value.strip()
