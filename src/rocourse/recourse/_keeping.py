"""What is left of proposals when every constraint is kept, and every wish."""

from dataclasses import replace

import numpy as np
import pandas as pd

from rocourse.recourse._fewer import chance, fewer_changes, where_rows, with_feature
from rocourse.recourse._proposer import Context
from rocourse.schema import Narrowing, Rows


def kept(
    context: Context,
    frame: pd.DataFrame,
    rows: Rows,
    proposed: Rows,
    target: np.ndarray,
    start: Rows | None = None,
    *,
    thrifty: bool = False,
) -> Rows:
    """What is left of proposals when every constraint is kept.

    Args:
        context: The model and the schema.
        frame: The rows as they were given.
        rows: The same, encoded.
        proposed: What to turn them into.
        target: The class index wanted for each.
        start: Changes that are made in any case; None: none.
        thrifty: Whether changes that cost something and gain nothing are taken back.
    """
    schema = context.schema
    if schema.max_features is not None:
        settled = replace(schema, max_features=None).settle(frame, rows, proposed)
        raw = schema.actions.numbers(frame)
        proposed = fewer_changes(context, raw, rows, settled, target, start)
    settled = schema.settle(frame, rows, proposed)
    return _without_waste(context, frame, rows, settled, target, start) if thrifty else settled


def _without_waste(
    context: Context,
    frame: pd.DataFrame,
    rows: Rows,
    attempts: Rows,
    target: np.ndarray,
    start: Rows | None,
) -> Rows:
    """Attempts without changes that do not make the model surer, the dearest taken back first.

    Methods that search without knowing prices may ask for something dear that is of no use.
    """
    schema, back = context.schema, rows if start is None else start
    raw, pricing = schema.actions.numbers(frame), schema.actions.pricing
    sure = chance(context, attempts, target)
    costs = pricing.costs(rows, attempts)
    for _ in range(int((costs > 0).sum(axis=1).max(initial=0))):
        feature = costs.argmax(axis=1)
        left = np.flatnonzero(costs[np.arange(len(costs)), feature] > 0)
        tried, own = attempts.take(left), feature[left]
        for one in np.unique(own):
            tried = where_rows(own == one, with_feature(tried, back.take(left), one), tried)
        tried = schema.settle(frame.iloc[left], rows.take(left), tried)
        now = chance(context, tried, target[left])
        spent = [pricing.cost(rows.take(left), some) for some in (attempts.take(left), tried)]
        fine = (now >= sure[left]) & (spent[1] < spent[0])
        if schema.actions.limited:
            fine &= ~schema.actions.breaches(raw[left], rows.take(left), tried)
        costs[left, own] = 0.0
        continuous, categories = attempts.continuous.copy(), attempts.categories.copy()
        taken = left[fine]
        continuous[taken], categories[taken] = tried.continuous[fine], tried.categories[fine]
        attempts = Rows(continuous, categories)
        sure[taken] = now[fine]
    return attempts


def kept_by_wishes(
    context: Context,
    narrowing: Narrowing,
    frame: pd.DataFrame,
    rows: Rows,
    proposed: Rows,
    target: np.ndarray,
    start: Rows,
    *,
    thrifty: bool = False,
) -> Rows:
    """As `kept`, when every wish is kept as well.

    Args:
        context: The model and the schema.
        narrowing: The wishes.
        frame: The rows as they were given.
        rows: The same, encoded.
        proposed: What to turn them into.
        target: The class index wanted for each.
        start: The rows as near to themselves as the wishes allow.
        thrifty: As for `kept`.
    """
    inside = narrowing.clipped(proposed, start)
    settled = kept(context, frame, rows, inside, target, start, thrifty=thrifty)
    attempts = narrowing.kept(frame, rows, settled, start)
    schema = context.schema
    if not schema.actions.limited:
        return attempts
    # What was put back for a wish may be tied to something else.
    attempts = schema.settle(frame, rows, attempts)
    fulfilled = narrowing.fulfilled(frame, rows, attempts)
    return where_rows(np.asarray(fulfilled.all(axis=1)), attempts, start)
