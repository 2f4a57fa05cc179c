"""Which rule of the schema stands in the way of a row: the one that is cheapest to loosen."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from rocourse.recourse.answer import Advisor
from rocourse.recourse.proof._rules import Rule, loosened, rules_of
from rocourse.recourse.proof._seek import convincing, seek
from rocourse.recourse.proof._take_back import put, take_back
from rocourse.schema import (
    Loosening,
    Narrowing,
    Recourse,
    Rows,
    Schema,
    Wishes,
    describe_change,
    proximity,
)

# Where no rule alone is enough, pairs are tried, if there are no more of them than this.
_MOST_PAIRS = 66
# The most boxes of a row and a loosened schema: many schemas are tried.
_BOXES = 500


def loosen(
    advisor: Advisor,
    frame: pd.DataFrame,
    rows: Rows,
    target: np.ndarray,
    names: Collection[str],
    wishes: Wishes | None = None,
) -> list[Loosening | None]:
    """The cheapest loosening of each row: of one rule, or of two where none alone is enough.

    Args:
        advisor: What proposes, and the schema that no recourse was found for.
        frame: The rows as they were given.
        rows: The same, encoded.
        target: The class index wanted for each, `[n]`.
        names: The features whose rules may be loosened; those of several features only if all
            of them are named.
        wishes: What advice has to respect besides.
    """
    schema = advisor.context.schema
    rules = [rule for rule in rules_of(schema) if set(rule.names) <= set(names)]
    found: list[Loosening | None] = [None] * len(rows)
    pairs = list(combinations(rules, 2))
    for attempts in ([(rule,) for rule in rules], pairs if len(pairs) <= _MOST_PAIRS else []):
        left = np.array([place for place, known in enumerate(found) if known is None], np.intp)
        if not len(left):
            break
        for freed in attempts:
            some = frame.iloc[left], rows.take(left), target[left]
            _try(advisor, *some, freed, wishes, left, found)
    return found


def _try(
    advisor: Advisor,
    frame: pd.DataFrame,
    rows: Rows,
    target: np.ndarray,
    freed: Sequence[Rule],
    wishes: Wishes | None,
    places: np.ndarray,
    found: list[Loosening | None],
) -> None:
    """Puts down what some loosened rules give where that is cheaper than what is known."""
    before = advisor.context.schema
    schema = loosened(before, freed)
    narrowing = None if wishes is None else Narrowing.of(wishes, schema)
    context = replace(advisor.context, schema=schema, narrowing=narrowing)
    layout = context.schema.layout
    attempt = convincing(context, frame, rows, target)
    start = rows if narrowing is None else narrowing.start(frame, rows).rows
    proposed = advisor.proposer.propose(advisor.state, context, start, target)
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
    freed: Sequence[Rule],
    changes: dict[str, dict[str, Any]],
    cost: float,
) -> Loosening:
    needed = [rule for rule in freed if any(name in changes for name in rule.names)]
    words = [rule.words(changes.get(rule.feature or "", {})) for rule in needed]
    others = [
        describe_change(schema[name], change["from"], change["to"])
        for name, change in changes.items()
        if not any(rule.feature == name and rule.name != "follows" for rule in needed)
    ]
    text = f"{' and '.join(words)} would be enough"
    if others:
        text += f", with {'; '.join(others)}"
    return Loosening(
        tuple((rule.feature, rule.name) for rule in needed), tuple(changes.values()), cost, text
    )
