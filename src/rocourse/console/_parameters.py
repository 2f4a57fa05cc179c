"""Parameters of a method from a file and from the command line."""

import json
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rocourse._wording import did_you_mean
from rocourse.errors import ConfigError

# What is said by options of its own.
_ELSEWHERE = {"schema": "--schema", "random_state": "--seed", "model": "--explain"}


def read_parameters(
    config: Path | None,
    assignments: Iterable[str] | None,
    *,
    known: Collection[str],
    named: Callable[[str, Any], Any] = lambda name, value: None,
) -> dict[str, Any]:
    """Parameters by name; what is set on the command line wins over the file.

    A parameter of an object within is named `attack.steps`, or is in a file as
    `{"attack": {"steps": 7}}`; it is returned under scikit-learn's name, `attack__steps`.

    Args:
        config: A file of parameters: .toml, .yaml or .json.
        assignments: Texts of the form `name=value`.
        known: The parameters that the method has, by scikit-learn's names.
        named: The object that a parameter's value names, such as a trainer by its kind; None for
            any other value. Its own parameters are known then, and may be given beside it.

    Raises:
        ConfigError: A name is unknown, the file cannot be read, or an assignment is malformed.
    """
    parameters: dict[str, Any] = {}
    sources = [] if config is None else [_read(config)]
    for source in (*sources, *(dict([_parse(text)]) for text in assignments or ())):
        for name, value in _flattened(source, known):
            # What is said of an object takes the place of what was said of its parts.
            parameters = {k: v for k, v in parameters.items() if not k.startswith(f"{name}__")}
            parameters[name] = value
    parts = {name: named(name, value) for name, value in parameters.items()}
    for name, part in parts.items():
        if part is not None:
            known = [k for k in known if not k.startswith(f"{name}__")]
            known += [f"{name}__{inner}" for inner in part.get_params()]
    for name in parameters:
        _check_name(name, known)
        _check_whole(name, {k: v for k, v in parameters.items() if parts[k] is None})
    parameters |= {name: part for name, part in parts.items() if part is not None}
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in parameters.items()
    }


def _flattened(
    given: Mapping[str, Any], known: Collection[str], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    for key, value in given.items():
        name = prefix + key.replace(".", "__")
        if isinstance(value, dict) and not _takes_whole(name, known):
            yield from _flattened(value, known, f"{name}__")
        else:
            yield name, value


def _takes_whole(name: str, known: Collection[str]) -> bool:
    """Whether a mapping is the value of this parameter, and not those of the parts it has."""
    return name in known and not any(other.startswith(f"{name}__") for other in known)


def _check_name(name: str, known: Collection[str]) -> None:
    owner = name.partition("__")[0]
    if owner in _ELSEWHERE:
        raise ConfigError(
            f"Parameter {_spelt(name)!r} must be given by {_ELSEWHERE[owner]}, but got it in "
            "--config or --set; move it there."
        )
    if name not in known:
        choices = sorted(_spelt(k) for k in known if k.partition("__")[0] not in _ELSEWHERE)
        # Some methods have dozens.
        near = did_you_mean(_spelt(name), choices) or f": {', '.join(choices)}"
        raise ConfigError(
            f"Parameter {_spelt(name)!r} must be one that the method has{near}; correct the name, "
            "or see `rocourse methods NAME`."
        )


def _check_whole(name: str, parameters: Mapping[str, Any]) -> None:
    """Refuses a part of what is given as a whole as well, where neither can be said to win."""
    whole = name.rpartition("__")[0]
    while whole:
        if whole in parameters:
            raise ConfigError(
                f"Parameter {_spelt(name)!r} must come without a value for {_spelt(whole)!r}, but "
                f"got {parameters[whole]!r} for it; leave out one of them."
            )
        whole = whole.rpartition("__")[0]


def _spelt(name: str) -> str:
    """A parameter's name as people write it."""
    return name.replace("__", ".")


def _read(path: Path) -> dict[str, Any]:
    readers: dict[str, Callable[[str], Any]]
    readers = {".json": json.loads, ".toml": tomllib.loads, ".yaml": _yaml, ".yml": _yaml}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise ConfigError(
            f"Config file {str(path)!r} must end in .toml, .yaml or .json, but it ends in "
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


def _yaml(text: str) -> Any:
    import yaml

    try:
        # An empty file, or one of comments only, says nothing.
        return yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _parse(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ConfigError(
            f"--set must be name=value, but got {text!r}; write, say, --set trainer.epochs=20."
        )
    for candidate in (value, f"[{value}]" if "," in value else value):
        try:
            return name.strip(), json.loads(candidate)
        except ValueError:
            continue
    # Words need no quotes: --set proposer.network=rebuild.
    return name.strip(), value.strip()
