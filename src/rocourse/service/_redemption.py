"""Whether a returning row fulfils what its recourse asked for, and is one that may be presented."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rocourse.schema import (
    Categorical,
    CategoryRule,
    Continuous,
    Linear,
    NumberRule,
    Schema,
    Wishes,
)

# Numbers go through JSON and float32 on their way.
_TOLERANCE = 1e-4
# Of a range: who earns a little more than anybody did in training has done what was asked.
_BEYOND = 0.1

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """A returning row beside the row it came from and the row that was promised.

    Attributes:
        unmet: Changes that were asked for and not made.
        drifted: Other features that are not what they were.
        forbidden: Features that are not as they may be: another value of what cannot change, a
            number where no training row is, a change that no advice could have asked for.
    """

    unmet: list[dict[str, Any]]
    drifted: list[dict[str, Any]]
    forbidden: list[dict[str, Any]]

    @property
    def fulfilled(self) -> bool:
        """Whether the row is one that the promise was made for."""
        return not self.unmet and not self.forbidden


def compare(
    schema: Schema, before: Row, promised: Row, presented: Row, wishes: Wishes | None = None
) -> Comparison:
    """Which changes are missing, what else changed, and what of it may not be.

    A number that was to rise or fall may go further, as far as advice may go; a category must be
    the one that was named.

    Args:
        schema: What may change, and how far.
        before: The row that the promise was made for, as the ledger has it.
        promised: The row after the change.
        presented: The row that returns.
        wishes: What the applicant asked of the advice.
    """
    unmet, drifted, forbidden = [], [], []
    wishes = wishes or Wishes()
    ends = _reaches(schema, before)
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
        if now in (was, wanted):
            continue
        rule = _wished(schema, feature, wishes, now)
        if rule is None:
            if isinstance(feature, Categorical):
                rule = _no_category(schema, feature, was, now)
            else:
                rule = _no_number(schema, feature, ends[name], was, wanted, now)
        if rule is not None:
            forbidden.append({"feature": name, "was": was, "presented": now, "rule": rule})
    forbidden += _joint(schema, before, promised, presented)
    return Comparison(unmet, drifted, forbidden)


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


def _wished(schema: Schema, feature: Any, wishes: Wishes, now: Any) -> str | None:
    """What the applicant's own wishes say against a value that is not the promised one."""
    name = feature.name
    if name in wishes.lock or (wishes.only is not None and name not in wishes.only):
        return "must stay as it was, by the applicant's wish"
    if name not in wishes.ranges:
        return None
    given, rule = wishes.ranges[name], schema.rules[name]
    if isinstance(rule, CategoryRule):
        inside = rule.code(now) in {rule.code(value) for value in given}
    else:
        least, most, end = (_number(rule, value) for value in (*given, now))
        slack = _TOLERANCE * rule.feature.span
        inside = end is not None and not (
            (least is not None and end < least - slack) or (most is not None and end > most + slack)
        )
    return None if inside else "must be in the range that the applicant wished for"


def _no_category(schema: Schema, feature: Categorical, was: Any, now: Any) -> str | None:
    """What the schema says against another category, whether it was asked for or not."""
    if feature.immutable:
        return "must stay as it was"
    if now is None:
        return "must have a value, as it had"
    rule = schema.rules[feature.name]
    assert isinstance(rule, CategoryRule)
    here, there = (rule.gap if value is None else rule.code(value) for value in (was, now))
    allowed = here is not None and there is not None and rule.settle(here, there) == there
    return None if allowed else "must not change in this way"


def _no_number(
    schema: Schema, feature: Continuous, ends: tuple[float, float], was: Any, wanted: Any, now: Any
) -> str | None:
    """What the schema says against another number, whether it was asked for or not."""
    if feature.immutable:
        return "must stay as it was"
    rule = schema.rules[feature.name]
    assert isinstance(rule, NumberRule)
    numbers = [_number(rule, value) for value in (was, wanted)]
    known = [number for number in numbers if number is not None]
    end = _number(rule, now)
    if end is None:
        return None if was is None else "must have a value, as it had"
    # Who was outside, or was told to go there, may be there.
    low, high = min(ends[0], *known, ends[1]), max(ends[1], *known, ends[0])
    slack = _TOLERANCE * feature.span
    if low - slack <= end <= high + slack:
        return None
    return f"must be from {feature.word(low)} to {feature.word(high)}"


def _reaches(schema: Schema, before: Row) -> dict[str, tuple[float, float]]:
    """How far each number of a row may go: range, bounds, direction and limits of change."""
    features = schema.continuous
    if not features:
        return {}
    raw = np.array([[_filled(schema, feature, before[feature.name]) for feature in features]])
    low, high = schema.actions.reach(raw)
    return {
        feature.name: _widened(feature, float(least), float(most))
        for feature, least, most in zip(features, low[0], high[0], strict=True)
    }


def _widened(feature: Continuous, low: float, high: float) -> tuple[float, float]:
    """The reach of a number, a little further where nothing but the training rows ends it."""
    (first, last), (least, most) = feature.limits, feature.bounds
    beyond = _BEYOND * feature.span
    return (
        low - beyond if low == first and least is None else low,
        high + beyond if high == last and most is None else high,
    )


def _joint(schema: Schema, before: Row, promised: Row, presented: Row) -> Iterator[dict[str, Any]]:
    """Sums that are over their limits, and further than both rows that are known."""
    for rule in schema.together:
        if not isinstance(rule, Linear):
            continue
        parts = [(schema[name], factor) for name, factor in rule.factors]
        sums = [
            sum(factor * _filled(schema, feature, row[feature.name]) for feature, factor in parts)
            for row in (before, promised, presented)
        ]
        spans = [abs(f) * feature.span for feature, f in parts if isinstance(feature, Continuous)]
        slack = _TOLERANCE * sum(spans)
        most = max(np.inf if rule.at_most is None else rule.at_most, *sums[:2])
        least = min(-np.inf if rule.at_least is None else rule.at_least, *sums[:2])
        if not least - slack <= sums[2] <= most + slack:
            for name, _ in rule.factors:
                yield {
                    "feature": name,
                    "was": before[name],
                    "presented": presented[name],
                    "rule": "is beyond what the features that go together may come to",
                }


def _filled(schema: Schema, feature: Any, value: Any) -> float:
    """The number, or what a gap is read as."""
    number = _number(schema.rules[feature.name], value)
    if number is not None:
        return number
    return feature.low if feature.fill is None else float(feature.fill)


def _number(rule: Any, value: Any) -> float | None:
    """The number, or None for a gap."""
    if value is None:
        return None
    number = rule.number(value)
    return None if number is None or number != number else number
