"""The written form of a schema."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from rocourse._wording import did_you_mean, duplicates, listed, show
from rocourse.errors import SchemaError
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

T = TypeVar("T")

FORMAT = "rocourse-schema"
VERSIONS = (1, 2)
"""The second has keys that may be left out; a schema without them is written as the first."""

_CONTINUOUS = {"kind", "name", "low", "high", "integer", "immutable", "direction", "bounds", "unit"}
_CATEGORICAL = {"kind", "name", "categories", "immutable", "direction", "labels"}
# Left out where nothing is said.
_CONTINUOUS_LIMITS = {"change"}
_CATEGORICAL_LIMITS = {"moves"}
_SCHEMA_LIMITS = {"max_features", "together"}
_TARGET = {"name", "classes", "favourable"}


def to_dict(
    features: Iterable[Feature],
    target: Target | None,
    max_features: int | None = None,
    together: Iterable[Together] = (),
) -> dict[str, Any]:
    """The schema in values that JSON knows."""
    written = [_feature_to_dict(feature) for feature in features]
    said: dict[str, Any] = {} if max_features is None else {"max_features": max_features}
    if rules := [together_to_dict(rule) for rule in together]:
        said["together"] = rules
    optional = _CONTINUOUS_LIMITS | _CATEGORICAL_LIMITS
    newer = bool(said) or any(optional & part.keys() for part in written)
    return {
        "format": FORMAT,
        "version": VERSIONS[1] if newer else VERSIONS[0],
        "features": written,
        "target": None
        if target is None
        else {
            "name": target.name,
            "classes": list(target.classes),
            "favourable": target.favourable,
        },
        **said,
    }


def _feature_to_dict(feature: Feature) -> dict[str, Any]:
    if isinstance(feature, Continuous):
        number = int if feature.integer else float
        return {
            "name": feature.name,
            "kind": "continuous",
            "low": number(feature.low),
            "high": number(feature.high),
            "integer": feature.integer,
            "immutable": feature.immutable,
            "direction": feature.direction,
            "bounds": list(feature.bounds),
            "unit": feature.unit,
            **({} if feature.change is None else {"change": change_to_dict(feature.change)}),
        }
    return {
        "name": feature.name,
        "kind": "categorical",
        "categories": list(feature.categories),
        "immutable": feature.immutable,
        "direction": feature.direction,
        "labels": None if feature.labels is None else list(feature.labels),
        **({} if feature.moves is None else {"moves": moves_to_dict(feature.moves)}),
    }


def from_dict(data: object) -> dict[str, Any]:
    """What a written schema is made with; anything unexpected is refused."""
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
    _check_keys(
        data,
        "The schema",
        known={"format", "version", "features", "target"} | _SCHEMA_LIMITS,
        required={"features"},
    )
    if not isinstance(data["features"], list):
        raise SchemaError(
            f"features must be a list, but got {show(data['features'])}; list one object per "
            "feature."
        )
    features = tuple(_feature_from_dict(part, index) for index, part in enumerate(data["features"]))
    target = data.get("target")
    return {
        "features": features,
        "target": None if target is None else _target_from_dict(target),
        "max_features": data.get("max_features"),
        "together": together_from_dict(data.get("together", [])),
    }


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
        known = _CONTINUOUS | _CONTINUOUS_LIMITS
        _check_keys(data, what, known=known, required={"name", "low", "high"})
        if data.get("change") is not None:
            data = {**data, "change": change_from_dict(data["change"], what)}
        return _build(Continuous, data)
    if kind == "categorical":
        known = _CATEGORICAL | _CATEGORICAL_LIMITS
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
                f"{what} must have no other keys than {listed(sorted(known), limit=12)}, but got "
                f"{show(key)}{did_you_mean(key, known)}; remove or rename it."
            )
    for key in sorted(required):
        if key not in data:
            raise SchemaError(
                f"{what} must have the key {key!r}, but got only {listed(data, limit=12)}; add it."
            )


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
