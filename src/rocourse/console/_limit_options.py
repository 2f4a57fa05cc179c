"""Limits of change as they are written on the command line."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rocourse.errors import ConfigError
from rocourse.schema import Change, Continuous, Schema


def with_limits(
    schema: Schema,
    max_change: Iterable[str] | None,
    step: Iterable[str] | None,
    max_features: int | None,
) -> Schema:
    """A schema with limits added to those that it has.

    Args:
        schema: Of the rows.
        max_change: Texts such as `income=+20%`, `debt=-500` or `age=2` (both ways).
        step: Texts such as `income=100`.
        max_features: The most features that advice may change.
    """
    said: dict[str, dict[str, float]] = {}
    for text in max_change or ():
        name, limits = _max_change(text)
        said.setdefault(name, {}).update(limits)
    for text in step or ():
        name, size = _pair(text, "--step", "COL=SIZE", "income=100")
        said.setdefault(name, {})["step"] = _number(size, text, "--step", "income=100")
    change = {name: _joined(schema, name, limits) for name, limits in said.items()}
    if not change and max_features is None:
        return schema
    return schema.constrain(change=change, max_features=max_features)


def _joined(schema: Schema, name: str, limits: Mapping[str, Any]) -> Change:
    feature = schema[name]
    known = feature.change if isinstance(feature, Continuous) else None
    return replace(known or Change(), **limits)


def _max_change(text: str) -> tuple[str, dict[str, float]]:
    option, example = "--max-change", "income=+20%"
    name, limit = _pair(text, option, "COL=[+|-]SIZE[%]", example)
    sign = limit[0] if limit[0] in "+-" else ""
    size = limit.removeprefix(sign)
    value = _number(size.removesuffix("%"), text, option, example)
    share = size.endswith("%")
    sides = {"+": ("increase",), "-": ("decrease",), "": ("increase", "decrease")}[sign]
    return name, {
        f"max_{side}{'_share' if share else ''}": value / 100.0 if share else value
        for side in sides
    }


def _pair(text: str, option: str, form: str, example: str) -> tuple[str, str]:
    name, _, value = text.rpartition("=")
    if not name or not value:
        raise ConfigError(f"{option} must be {form}, but got {text!r}; write, say, {example}.")
    return name, value


def _number(value: str, text: str, option: str, example: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ConfigError(
            f"{option} must have a number after the equals sign, but got {text!r}; write, say, "
            f"{example}."
        ) from None
