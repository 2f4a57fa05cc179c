"""What a lender says once, in a file: who it is, under which law, and what it calls features."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocourse._wording import did_you_mean, listed, show
from rocourse.errors import ConfigError
from rocourse.schema import Schema

Texts = Mapping[str, str]
"""By language."""


@dataclass(frozen=True)
class FeatureWords:
    """What a lender calls a feature.

    Attributes:
        code: The lender's own code for it as a reason.
        name: What applicants know it by.
        unit: What follows its numbers.
        reason: The sentence that tells it as a reason, in which {value} is the applicant's; a
            protected attribute is told as a reason only if it has one.
        values: What applicants know its categories, or numbers that are codes, by: by language,
            then by value or label.
    """

    code: str | None = None
    name: Texts = field(default_factory=dict)
    unit: Texts = field(default_factory=dict)
    reason: Texts = field(default_factory=dict)
    values: Mapping[str, Texts] = field(default_factory=dict)


@dataclass(frozen=True)
class Lender:
    """Who writes to applicants.

    Attributes:
        name: Of the lender.
        address: Its lines.
        contact: Where to ask.
        law: Under which law: a section of the language's file; None: the language's own.
        agency: Who supervises it for the Equal Credit Opportunity Act, with the address.
        bureau: The consumer reporting agency whose report was used, with the address, if one was.
        officer: How to reach the data protection officer, if there is one.
        authority: The data protection authority, with the address.
        reviewed: Which lawyer has read the letters, and when; until then they are drafts.
        features: By name.
    """

    name: str = ""
    address: tuple[str, ...] = ()
    contact: str = ""
    law: str | None = None
    agency: str = ""
    bureau: str = ""
    officer: str = ""
    authority: str = ""
    reviewed: str = ""
    features: Mapping[str, FeatureWords] = field(default_factory=dict)


_TEXTS = ("name", "contact", "law", "agency", "bureau", "officer", "authority", "reviewed")


def read_lender(path: Path, schema: Schema) -> Lender:
    """Reads the file of a lender, TOML or JSON.

    Args:
        path: The file.
        schema: Whose features it may name.

    Raises:
        ConfigError: It cannot be read, or says what is not known.
    """
    what = f"The lender's file {str(path)!r}"
    content = _content(path, what)
    _known(content, ("lender", "features"), what)
    own = _table(content.get("lender", {}), f"{what}: lender")
    _known(own, (*_TEXTS, "address"), f"{what}: lender")
    texts = {name: _text(own[name], f"{what}: lender.{name}") for name in _TEXTS if name in own}
    lines = own.get("address", [])
    if not isinstance(lines, list):
        raise ConfigError(f"{what}: lender.address must be a list of lines; write it in brackets.")
    address = tuple(_text(line, f"{what}: a line of lender.address") for line in lines)
    features = {}
    for name, told in _table(content.get("features", {}), f"{what}: features").items():
        if name not in schema.names:
            raise ConfigError(
                f"{what} must name features of the model, but got {name!r}"
                f"{did_you_mean(name, schema.names)}; it has {listed(schema.names)}."
            )
        features[name] = _feature(told, f"{what}: features.{name}")
    return Lender(**texts, address=address, features=features)


def _content(path: Path, what: str) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        return _table(json.loads(text) if path.suffix == ".json" else tomllib.loads(text), what)
    except OSError as error:
        raise ConfigError(f"{what} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise ConfigError(f"{what} must be TOML or .json, but it is not: {error}.") from error


def _feature(told: Any, what: str) -> FeatureWords:
    table = _table(told, what)
    _known(table, ("code", "name", "unit", "reason", "values"), what)
    texts = {
        part: {
            language: _text(text, f"{what}.{part}.{language}")
            for language, text in _table(table.get(part, {}), f"{what}.{part}").items()
        }
        for part in ("name", "unit", "reason")
    }
    values = {
        language: {
            label: _text(text, f"{what}.values.{language}")
            for label, text in _table(labels, f"{what}.values.{language}").items()
        }
        for language, labels in _table(table.get("values", {}), f"{what}.values").items()
    }
    code = None if "code" not in table else _text(table["code"], f"{what}.code")
    return FeatureWords(code=code, **texts, values=values)


def _table(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{what} must be a table, but got {show(value)}; see docs/notices.md.")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{what} must be text, but got {show(value)}; put it in quotes.")
    return value


def _known(table: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
    for name in table:
        if name not in names:
            raise ConfigError(
                f"{what} must say {listed(names)}, but got {name!r}{did_you_mean(name, names)}; "
                "leave it out or correct it."
            )
