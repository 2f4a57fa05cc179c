"""Schemas as TOML: what people edit, with comments that say what else may be said."""

import datetime as dt
import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from rocourse.errors import SchemaError

_HEAD = """\
# What the features are, and what advice may do to them. Take away a # to say more; all limits:
# docs/actions.md, and in words: rocourse schema show FILE."""
_SILENT = (("bounds", [None, None]), ("unit", ""))
_ABOUT = {
    "favourable": "what people are told to become",
    "low": "the least of the training rows",
    "immutable": "true: advice leaves it alone",
}
# What else may be said: of the schema, and of a feature of each kind.
_MORE = {
    "schema": ("max_features = 3  # advice changes at most so many",),
    "continuous": (
        'direction = "up"  # advice may only raise it; "down": only lower it',
        "bounds = [-inf, inf]  # which rows and advice have to keep",
        "change = { max_increase_share = 0.2, max_decrease_share = 0.5, weight = 2 }",
    ),
    "categorical": ('moves = { allowed = { none = ["part", "full"] } }  # from none to these',),
}


def dump(data: Mapping[str, Any], remarks: Mapping[str, str]) -> str:
    """A written schema with comments.

    Args:
        data: The schema in values that JSON knows.
        remarks: What to say of features, by name.
    """
    tables = {"features", "target"}
    whole = {key: value for key, value in data.items() if key not in tables}
    lines = [_HEAD, "", *_lines(whole, "schema")]
    if data["target"] is not None:
        lines += ["", "[target]", *_lines(data["target"], "target")]
    explained = set()
    for feature in data["features"]:
        kind = feature["kind"]
        remark = remarks.get(feature["name"])
        lines += ["", "[[features]]", *([] if remark is None else [f"# {remark}"])]
        # Once of each kind is enough.
        lines += _lines(feature, None if kind in explained else kind)
        explained.add(kind)
    return "\n".join(lines) + "\n"


def _lines(table: Mapping[str, Any], explained: str | None) -> Iterator[str]:
    """What is said, and with comments, if they are asked for, what else could be."""
    said = {key: value for key, value in table.items() if (key, value) not in _SILENT}
    said = {key: value for key, value in said.items() if value is not None}
    for key, value in said.items():
        about = _ABOUT.get(key) if explained else None
        ends = zip(value, (-math.inf, math.inf), strict=True) if key == "bounds" else ()
        text = _value([none if end is None else end for end, none in ends] or value)
        yield f"{key} = {text}" + (f"  # {about}" if about else "")
    for line in _MORE.get(explained or "", ()):
        if line.partition(" ")[0] not in said:
            yield f"# {line}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # JSON's texts are TOML's but for one character.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_value(str(name))} = {_value(part)}" for name, part in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def parse(text: str) -> object:
    """The values that JSON knows of a schema in TOML, where no bound is an infinite one."""
    try:
        return _plain(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(
            f"A schema that ends in .toml must be TOML, but it is not ({error}); correct it."
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, (dt.date, dt.datetime)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            raise SchemaError("A schema must hold numbers, but got nan; replace it.")
        return None
    return value
