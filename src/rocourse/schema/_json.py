"""The written form of a schema."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rocourse._wording import did_you_mean, duplicates, listed, show
from rocourse.errors import SchemaError
from rocourse.schema import _toml
from rocourse.schema._codes import MissingCodes
from rocourse.schema._features import Categorical, Continuous, Feature, Target
from rocourse.schema._json_limits import (
    change_from_dict,
    change_to_dict,
    moves_from_dict,
    moves_to_dict,
    together_from_dict,
    together_to_dict,
)
from rocourse.schema._limits import Together
from rocourse.schema._row import jsonable

if TYPE_CHECKING:
    from rocourse.schema._schema import Schema

T = TypeVar("T")

FORMAT = "rocourse-schema"
VERSIONS = (1, 2)
"""The second has keys that may be left out; a schema without them is written as the first."""

_FEATURE = {"kind", "name", "immutable", "direction"}
_CONTINUOUS = _FEATURE | {"low", "high", "integer", "bounds", "unit"}
_CATEGORICAL = _FEATURE | {"categories", "labels"}
_SCHEMA = {"format", "version", "features", "target"}
# Of the second version, left out where nothing is said.
_NEWER_CONTINUOUS = {"change", "date", "missing", "fill", "written"}
_NEWER_CATEGORICAL = {"moves", "missing", "fill"}
_NEWER_SCHEMA = {"max_features", "together", "ignored", "id", "missing_codes"}
_TARGET = {"name", "classes", "favourable"}


class Parts(NamedTuple):
    """What a schema is made of, in the order of its attributes."""

    features: tuple[Feature, ...]
    target: Target | None
    max_features: int | None
    together: tuple[Together, ...]
    ignored: tuple[str, ...]
    id: str | None
    missing_codes: MissingCodes


def to_dict(parts: "Parts | Schema") -> dict[str, Any]:
    """The schema in values that JSON knows."""
    written = [_feature_to_dict(feature) for feature in parts.features]
    said = _said(
        max_features=parts.max_features,
        together=[together_to_dict(rule) for rule in parts.together] or None,
        ignored=list(parts.ignored) or None,
        id=parts.id,
        missing_codes={name: list(codes) for name, codes in parts.missing_codes.items()} or None,
    )
    optional = _NEWER_CONTINUOUS | _NEWER_CATEGORICAL
    newer = bool(said) or any(optional & part.keys() for part in written)
    return {
        "format": FORMAT,
        "version": VERSIONS[1] if newer else VERSIONS[0],
        "features": written,
        "target": None
        if parts.target is None
        else {
            "name": parts.target.name,
            "classes": list(parts.target.classes),
            "favourable": parts.target.favourable,
        },
        **said,
    }


def _said(**values: Any) -> dict[str, Any]:
    """What is said: None is not written."""
    return {key: value for key, value in values.items() if value is not None}


def _feature_to_dict(feature: Feature) -> dict[str, Any]:
    if isinstance(feature, Continuous):

        def number(value: float) -> float | int | str:
            return jsonable(feature, value)

        bounds: list[float | int | str | None] = list(feature.bounds)
        if feature.date:
            bounds = [None if bound is None else number(bound) for bound in feature.bounds]
        return {
            "name": feature.name,
            "kind": "continuous",
            "low": number(feature.low),
            "high": number(feature.high),
            "integer": feature.integer,
            "immutable": feature.immutable,
            "direction": feature.direction,
            "bounds": bounds,
            "unit": feature.unit,
            **_said(
                change=None if feature.change is None else change_to_dict(feature.change),
                date=feature.date or None,
                missing=None if feature.missing == "error" else feature.missing,
                fill=None if feature.fill is None else number(feature.fill),
                written=feature.written,
            ),
        }
    return {
        "name": feature.name,
        "kind": "categorical",
        "categories": list(feature.categories),
        "immutable": feature.immutable,
        "direction": feature.direction,
        "labels": None if feature.labels is None else list(feature.labels),
        **_said(
            moves=None if feature.moves is None else moves_to_dict(feature.moves),
            missing=None if feature.missing == "error" else feature.missing,
            fill=feature.fill,
        ),
    }


def from_dict(data: object) -> Parts:
    """The parts of a written schema; anything unexpected is refused."""
    if not isinstance(data, Mapping):
        raise SchemaError(
            f"A schema must be a JSON object, but got {show(data)}; write it with Schema.save."
        )
    if data.get("format") != FORMAT:
        raise SchemaError(
            f"A schema must have the format {FORMAT!r}, but got {show(data.get('format'))}; give a "
            "file that Schema.save wrote."
        )
    version = data.get("version")
    if version not in VERSIONS or isinstance(version, bool):
        raise SchemaError(
            f"The schema must have format version {VERSIONS[0]} or {VERSIONS[1]}, but got "
            f"{show(version)}; use the release of rocourse that wrote it, or infer it anew."
        )
    _check_keys(data, "The schema", known=_SCHEMA | _NEWER_SCHEMA, required={"features"})
    if not isinstance(data["features"], list):
        raise SchemaError(
            f"features must be a list, but got {show(data['features'])}; list one object per "
            "feature."
        )
    features = tuple(_feature_from_dict(part, index) for index, part in enumerate(data["features"]))
    target = data.get("target")
    return Parts(
        features,
        None if target is None else _target_from_dict(target),
        data.get("max_features"),
        together_from_dict(data.get("together", [])),
        data.get("ignored", ()),
        data.get("id"),
        data.get("missing_codes", {}),
    )


def _feature_from_dict(data: object, index: int) -> Feature:
    what = f"Feature {index + 1} of the schema"
    if not isinstance(data, Mapping):
        raise SchemaError(
            f"{what} must be a JSON object, but got {show(data)}; give its name and kind."
        )
    if isinstance(data.get("name"), str):
        what = f"Feature {data['name']!r}"
    kind = data.get("kind")
    if kind == "continuous":
        known = _CONTINUOUS | _NEWER_CONTINUOUS
        _check_keys(data, what, known=known, required={"name", "low", "high"})
        if data.get("change") is not None:
            data = {**data, "change": change_from_dict(data["change"], what)}
        return _build(Continuous, data)
    if kind == "categorical":
        known = _CATEGORICAL | _NEWER_CATEGORICAL
        _check_keys(data, what, known=known, required={"name", "categories"})
        if data.get("moves") is not None:
            data = {**data, "moves": moves_from_dict(data["moves"], what)}
        return _build(Categorical, data)
    raise SchemaError(
        f"{what}: kind must be 'continuous' or 'categorical', but got {show(kind)}; choose one of "
        "them."
    )


def _target_from_dict(data: object) -> Target:
    if not isinstance(data, Mapping):
        raise SchemaError(
            f"target must be a JSON object or null, but got {show(data)}; give its name and "
            "classes."
        )
    _check_keys(data, "The target", known=_TARGET, required={"name", "classes"})
    return _build(Target, data)


def _build(make: Callable[..., T], data: Mapping[str, Any]) -> T:
    return make(**{key: value for key, value in data.items() if key != "kind"})


def _check_keys(data: Mapping[str, Any], what: str, *, known: set[str], required: set[str]) -> None:
    for key in data:
        if key not in known:
            raise SchemaError(
                f"{what} must have no other keys than {listed(sorted(known), limit=16)}, but got "
                f"{show(key)}{did_you_mean(key, known)}; remove or rename it."
            )
    for key in sorted(required):
        if key not in data:
            raise SchemaError(
                f"{what} must have the key {key!r}, but got only {listed(data, limit=16)}; add it."
            )


def read(path: str | os.PathLike[str]) -> Parts:
    """The parts of the schema in a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise SchemaError(
            f"Schema file {str(path)!r} must be readable, but got {error.strerror or error}; "
            "give a file that Schema.save wrote."
        ) from error
    except UnicodeDecodeError as error:
        raise SchemaError(
            f"Schema file {str(path)!r} must be text in UTF-8, but got other bytes; give a "
            "file that Schema.save wrote."
        ) from error
    try:
        return from_dict(_toml.parse(text) if is_toml(path) else parse(text))
    except SchemaError as error:
        raise SchemaError(f"Schema file {str(path)!r} cannot be used: {error}") from error


def is_toml(path: str | os.PathLike[str]) -> bool:
    """Whether a file is TOML, by its name; all others are JSON."""
    return Path(path).suffix.lower() == ".toml"


def dump(data: Mapping[str, Any]) -> str:
    """JSON for people: indented, in the order of the schema."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def canonical(data: Mapping[str, Any]) -> str:
    """JSON for digests: the same text for the same schema."""
    return json.dumps(
        data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def parse(text: str) -> object:
    """Strict JSON: no NaN, no infinity, no key given twice."""
    try:
        return json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
        )
    except json.JSONDecodeError as error:
        raise SchemaError(
            f"A schema must be JSON, but line {error.lineno}, column {error.colno} is not "
            f"({error.msg}); correct it, or write it anew with Schema.save."
        ) from None


def _refuse_constant(name: str) -> None:
    raise SchemaError(
        f"A schema must hold finite numbers, but got {name}; replace it, or use null for no bound."
    )


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if repeated := duplicates([key for key, _ in pairs]):
        raise SchemaError(
            f"Keys of a schema must be unique, but got {listed(repeated)} twice; remove one of "
            "them."
        )
    return dict(pairs)
