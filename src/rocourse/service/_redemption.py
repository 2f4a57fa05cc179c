"""Whether a returning row fulfils what its recourse asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocourse.schema import Categorical, Continuous, NumberRule, Schema

# Numbers go through JSON and float32 on their way.
_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Comparison:
    """A returning row beside the row it came from and the row that was promised.

    Attributes:
        unmet: Changes that were asked for and not made.
        drifted: Other features that are not what they were.
    """

    unmet: list[dict[str, Any]]
    drifted: list[dict[str, Any]]


def compare(
    schema: Schema,
    before: Mapping[str, Any],
    promised: Mapping[str, Any],
    presented: Mapping[str, Any],
) -> Comparison:
    """Which changes are missing, and what else changed.

    A number that was to rise or fall may go further; a category must be the one that was named.
    """
    unmet, drifted = [], []
    for feature in schema.features:
        name = feature.name
        was, wanted, now = before[name], promised[name], presented[name]
        if was != wanted:
            if isinstance(feature, Categorical):
                met = now == wanted
            else:
                met = _went(schema.rules[name], feature, was, wanted, now)
            if not met:
                unmet.append({"feature": name, "promised": wanted, "presented": now})
        elif now != was:
            drifted.append({"feature": name, "was": was, "presented": now})
    return Comparison(unmet, drifted)


def _went(rule: Any, feature: Continuous, was: Any, wanted: Any, now: Any) -> bool:
    """Whether a number went as far as it should have, or further."""
    start, goal, end = (_number(rule, value) for value in (was, wanted, now))
    slack = _TOLERANCE * feature.span
    if start is None:
        # Whatever it was, nobody knows in which direction to go on.
        return end is not None and goal is not None and abs(end - goal) <= slack
    if end is None or goal is None:
        return False
    return end >= goal - slack if goal > start else end <= goal + slack


def _number(rule: NumberRule, value: Any) -> float | None:
    """The number, or None for a gap."""
    number = rule.number(value)
    return None if number is None or number != number else number
