"""Limits of change, added to features that have none yet or others."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rocourse._wording import show
from rocourse.errors import SchemaError
from rocourse.schema._features import Categorical, Feature, Target
from rocourse.schema._limits import Change, Moves
from rocourse.schema._values import Scalar

Bounds = tuple[float | None, float | None]


def column_names(option: str, named: Iterable[str], target: str | None) -> list[str]:
    """The names in an option that maps or lists features.

    Args:
        option: Its name.
        named: What was given.
        target: Name of the target, which is no feature.
    """
    if option in ("bounds", "units", "change", "moves") and not isinstance(named, Mapping):
        raise SchemaError(
            f"{option} must map column names to values, but got {show(named)}; write a dictionary."
        )
    if isinstance(named, str) or not isinstance(named, Iterable):
        raise SchemaError(
            f"{option} must be a list of column names, but got {show(named)}; write "
            f"[{show(named)}]."
        )
    names = list(named)
    if target is not None and target in names:
        raise SchemaError(
            f"{option} must name features, but got the target {target!r}; leave it out."
        )
    return names


def constrain(
    features: Iterable[Feature],
    *,
    immutable: Collection[str],
    increase_only: Collection[str],
    decrease_only: Collection[str],
    bounds: Mapping[str, Bounds],
    change: Mapping[str, Change] = MappingProxyType({}),
    moves: Mapping[str, Moves] = MappingProxyType({}),
) -> tuple[Feature, ...]:
    """The features with limits of change, by names that they have; see `Schema.constrain`."""

    def constrained(feature: Feature) -> Feature:
        name = feature.name
        changes: dict[str, Any] = {}
        if name in immutable:
            # Stronger than any direction that the feature had.
            changes |= {"immutable": True, "direction": None}
        if name in increase_only and name in decrease_only:
            raise SchemaError(
                f"Feature {name!r} must be in increase_only or in decrease_only, but got it in "
                "both; keep one, or make it immutable."
            )
        if name in increase_only:
            changes["direction"] = "up"
        if name in decrease_only:
            changes["direction"] = "down"
        if name in bounds:
            if isinstance(feature, Categorical):
                raise SchemaError(
                    f"bounds must name continuous features, but {name!r} is categorical; leave it "
                    "out, or convert the column to numbers."
                )
            changes["bounds"] = bounds[name]
        if name in change:
            if isinstance(feature, Categorical):
                raise SchemaError(
                    f"change must name continuous features, but {name!r} is categorical; use moves."
                )
            changes["change"] = change[name]
        if name in moves:
            if not isinstance(feature, Categorical):
                raise SchemaError(
                    f"moves must name categorical features, but {name!r} is continuous; use change."
                )
            changes["moves"] = moves[name]
        return replace(feature, **changes) if changes else feature

    return tuple(constrained(feature) for feature in features)


def favouring(target: Target | None, favourable: Scalar) -> Target:
    """The target with another favourable class."""
    if target is None:
        raise SchemaError(
            "favourable must come with a schema that knows the target, but got "
            f"{show(favourable)} and a schema without one; infer the schema with a target."
        )
    return replace(target, favourable=favourable)
