"""The parameters of a method as a file to begin with: each with its default, meaning and a `#`."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from rocourse.estimators import describe_parameters
from rocourse.options import NESTED, Options

# What options of `train` say.
_ELSEWHERE = frozenset({"schema", "random_state", "model", "attack"})
_WIDTH = 96


def starting_config(method: str, estimator: type[Any]) -> str:
    """A TOML file for `--config` that changes nothing yet.

    Args:
        method: The method's name on the command line.
        estimator: Its class.
    """
    whole: list[str] = []
    parts: dict[str, list[str]] = {}
    for name, (default, doc) in describe_parameters(estimator).items():
        part, _, inner = name.partition(NESTED)
        # What parts of parts may be is too much to begin with.
        if part in _ELSEWHERE or NESTED in inner or isinstance(default, Options):
            continue
        lines = parts.setdefault(part, ["", f"[{part}]"]) if inner else whole
        lines += ["", *_commented(doc), f"# {inner or name} = {_value(default)}"]
    return "\n".join(
        [
            f"# Parameters of {method}, for --config: take away a # to set one. What stands there",
            f"# is the default, if there is one. Parts of parts: rocourse methods {method}.",
            *whole,
            *(line for lines in parts.values() for line in lines),
            "",
        ]
    )


def _commented(doc: str) -> Iterator[str]:
    for line in textwrap.wrap(" ".join(doc.split()), _WIDTH):
        yield f"# {line}"


def _value(default: Any) -> str:
    """As TOML writes it, which has no word for nothing."""
    return "" if default is None else json.dumps(default)
