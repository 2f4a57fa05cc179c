"""Which rule of the schema stands in the way of a row: the one that is cheapest to loosen."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from rocourse.recourse.answer import Advisor
from rocourse.recourse.proof._seek import convincing, seek
from rocourse.recourse.proof._take_back import put, take_back
from rocourse.schema import (
    Continuous,
    Feature,
    Loosening,
    Recourse,
    Rows,
    Schema,
    describe_change,
    proximity,
)

# Rules of features, and what each is without it.
_FREE = {"immutable": False, "direction": None, "bounds": (None, None)}
# Where no rule alone is enough, pairs are tried, if there are no more of them than this.
_MOST_PAIRS = 66
# The most boxes of a row and a loosened schema: many schemas are tried.
_BOXES = 500


@dataclass(frozen=True)
class _Rule:
    """A rule of a feature that can be loosened."""

    feature: str
    name: str


def loosen(
    advisor: Advisor,
    frame: pd.DataFrame,
    rows: Rows,
    target: np.ndarray,
    names: Collection[str],
) -> list[Loosening | None]:
    """The cheapest loosening of each row: of one rule, or of two where none alone is enough.

    Args:
        advisor: What proposes, and the schema that no recourse was found for.
        frame: The rows as they were given.
        rows: The same, encoded.
        target: The class index wanted for each, `[n]`.
        names: The features whose rules may be loosened.
    """
    schema = advisor.context.schema
    rules = [rule for rule in _rules(schema) if rule.feature in names]
    found: list[Loosening | None] = [None] * len(rows)
    pairs = list(combinations(rules, 2))
    for attempts in ([(rule,) for rule in rules], pairs if len(pairs) <= _MOST_PAIRS else []):
        left = np.array([place for place, known in enumerate(found) if known is None], np.intp)
        if not len(left):
            break
        for freed in attempts:
            _try(advisor, frame.iloc[left], rows.take(left), target[left], freed, left, found)
    return found


def _rules(schema: Schema) -> list[_Rule]:
    return [
        _Rule(feature.name, name)
        for feature in schema.features
        for name, free in _FREE.items()
        if getattr(feature, name, free) != free
    ]


def _loosened(schema: Schema, freed: Sequence[_Rule]) -> Schema:
    changes: dict[str, dict[str, Any]] = {}
    for rule in freed:
        changes.setdefault(rule.feature, {})[rule.name] = _FREE[rule.name]
    features = [replace(feature, **changes.get(feature.name, {})) for feature in schema.features]
    return replace(schema, features=tuple(features))


def _try(
    advisor: Advisor,
    frame: pd.DataFrame,
    rows: Rows,
    target: np.ndarray,
    freed: Sequence[_Rule],
    places: np.ndarray,
    found: list[Loosening | None],
) -> None:
    """Puts down what some loosened rules give where that is cheaper than what is known."""
    before = advisor.context.schema
    context = replace(advisor.context, schema=_loosened(before, freed))
    layout = context.schema.layout
    attempt = convincing(context, frame, rows, target)
    proposed = advisor.proposer.propose(advisor.state, context, rows, target)
    good, points = attempt(np.arange(len(rows)), proposed)
    rest = np.flatnonzero(~good)
    if len(rest):
        # The method may miss what there is.
        sought = seek(context, frame.iloc[rest], rows.take(rest), target[rest], boxes=_BOXES)
        points = put(points, rest, sought.points)
        good[rest] = sought.exists
    won = np.flatnonzero(good)
    if not len(won):
        return
    frame, rows, target = frame.iloc[won], rows.take(won), target[won]
    attempt = convincing(context, frame, rows, target)
    points = take_back(rows, points.take(won), attempt, layout)
    costs = proximity(rows, points, layout)
    for k, cost in enumerate(costs.tolist()):
        known = found[places[won[k]]]
        if known is None or cost < known.proximity:
            one = frame.iloc[[k]]
            kept = before.settle(one, rows.take([k]), points.take([k]))
            if kept == points.take([k]):
                # Allowed as it is: no rule was in the way.
                continue
            changes = _changes(context.schema, one, rows.take([k]), points.take([k]))
            found[places[won[k]]] = _told(before, freed, changes, cost)


def _changes(
    schema: Schema, frame: pd.DataFrame, row: Rows, point: Rows
) -> dict[str, dict[str, Any]]:
    """The changes of one row by the names of features."""
    nothing = np.array([""])
    told = Recourse(
        schema=schema,
        original=frame,
        original_rows=row,
        attempts=point,
        status=np.array(["found"]),
        predicted=nothing,
        desired=nothing,
        probability=np.ones(1),
        method="",
    )
    return {change["feature"]: change for change in told.to_records()[0]["changes"]}


def _told(
    schema: Schema,
    freed: Sequence[_Rule],
    changes: dict[str, dict[str, Any]],
    cost: float,
) -> Loosening:
    needed = [rule for rule in freed if rule.feature in changes]
    words = [_in_words(schema[rule.feature], rule, changes[rule.feature]) for rule in needed]
    others = [
        describe_change(schema[name], change["from"], change["to"])
        for name, change in changes.items()
        if name not in {rule.feature for rule in needed}
    ]
    text = f"{' and '.join(words)} would be enough"
    if others:
        text += f", with {'; '.join(others)}"
    return Loosening(
        tuple((rule.feature, rule.name) for rule in needed), tuple(changes.values()), cost, text
    )


def _in_words(feature: Feature, rule: _Rule, change: dict[str, Any]) -> str:
    """`Duration may fall: 24 → 12 months`."""
    before, after = change["from"], change["to"]
    allowed = "may change"
    if rule.name == "direction":
        up, down = (
            ("may rise", "may fall")
            if isinstance(feature, Continuous)
            else ("may move to a later category", "may move to an earlier category")
        )
        allowed = down if feature.direction == "up" else up
    elif rule.name == "bounds":
        assert isinstance(feature, Continuous)
        least, most = feature.bounds
        below = least is not None and after < least
        allowed = f"may go below {least:g}" if below else f"may go above {most:g}"
    told = describe_change(feature, before, after)
    return f"{feature.name} {allowed}{told.removeprefix(feature.name)}"
