"""The rules of a schema that can be loosened, one by one, and how far each has to give way."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rocourse.schema import (
    Categorical,
    Continuous,
    Feature,
    Follows,
    Schema,
    describe_change,
    together_in_words,
)

# Rules of any feature, and what each is without it.
_FREE = {"immutable": False, "direction": None, "bounds": (None, None)}
_LARGEST = ("max_increase", "max_decrease", "max_increase_share", "max_decrease_share")


@dataclass(frozen=True)
class Rule:
    """A rule that can be loosened.

    Attributes:
        feature: Whose it is; None: of the whole schema.
        name: Which of its rules.
        names: All features that it is about.
        loosened: The schema without it.
        words: How it gives way, from what was said of the feature's change: feature, from, to.
    """

    feature: str | None
    name: str
    names: tuple[str, ...]
    loosened: Callable[[Schema], Schema]
    words: Callable[[dict[str, Any]], str]


def rules_of(schema: Schema) -> list[Rule]:
    """All rules of a schema."""
    own = [rule for feature in schema.features for rule in _of_feature(feature)]
    return [*own, *_of_schema(schema)]


def loosened(schema: Schema, freed: Sequence[Rule]) -> Schema:
    """The schema without some rules."""
    for rule in freed:
        schema = rule.loosened(schema)
    return schema


def _of_feature(feature: Feature) -> Iterator[Rule]:
    for name, free in _FREE.items():
        if getattr(feature, name, free) != free:
            yield _changed(feature, name, {name: free})
    if isinstance(feature, Categorical):
        if feature.moves is not None and (feature.moves.allowed or feature.moves.forbidden):
            yield _changed(feature, "moves", {"moves": {"allowed": (), "forbidden": ()}})
    elif feature.change is not None:
        if any(getattr(feature.change, part) is not None for part in _LARGEST):
            free_change = {"change": dict.fromkeys(_LARGEST)}
            yield _changed(feature, "largest change", free_change)
        if feature.change.step is not None:
            yield _changed(feature, "step", {"change": {"step": None}})


def _changed(feature: Feature, name: str, parts: dict[str, Any]) -> Rule:
    """A rule of one feature, which is without it what the parts say."""

    def without(schema: Schema) -> Schema:
        own = schema[feature.name]
        new = {
            part: replace(getattr(own, part), **value) if isinstance(value, dict) else value
            for part, value in parts.items()
        }
        features = (replace(one, **new) if one is own else one for one in schema.features)
        return replace(schema, features=tuple(features))

    def words(change: dict[str, Any]) -> str:
        told = describe_change(feature, change["from"], change["to"])
        allowed = _allowed(feature, name, change["from"], change["to"])
        return f"{feature.name} {allowed}{told.removeprefix(feature.name)}"

    return Rule(feature.name, name, (feature.name,), without, words)


def _allowed(feature: Feature, name: str, before: Any, after: Any) -> str:
    """`may fall`, of `Duration may fall: 24 → 12 months`."""
    if name == "direction":
        up, down = (
            ("may rise", "may fall")
            if isinstance(feature, Continuous)
            else ("may move to a later category", "may move to an earlier category")
        )
        return down if feature.direction == "up" else up
    if name == "moves":
        return "may make a move that is ruled out"
    if name == "step":
        assert isinstance(feature, Continuous) and feature.change is not None
        return f"need not be a multiple of {feature.change.step:g}"
    if name == "largest change":
        return "may rise further" if after > before else "may fall further"
    if name == "bounds":
        assert isinstance(feature, Continuous)
        least, most = feature.bounds
        below = least is not None and after < least
        return f"may go below {least:g}" if below else f"may go above {most:g}"
    return "may change"


def _of_schema(schema: Schema) -> Iterator[Rule]:
    if (count := schema.max_features) is not None:
        yield Rule(
            None,
            "max_features",
            schema.names,
            lambda schema: replace(schema, max_features=None),
            lambda change: f"more than {count} feature{'s' if count > 1 else ''} may change",
        )
    for rule in schema.together:
        pairs = rule.leaders if isinstance(rule, Follows) else rule.factors
        names = tuple(name for name, _ in pairs)
        follower = rule.feature if isinstance(rule, Follows) else None

        def without(schema: Schema, rule: object = rule) -> Schema:
            return replace(schema, together=tuple(one for one in schema.together if one != rule))

        def words(change: dict[str, Any], told: str = together_in_words(rule)) -> str:
            return f"{told} may give way"

        about = names if follower is None else (follower, *names)
        yield Rule(follower, "linear" if follower is None else "follows", about, without, words)
