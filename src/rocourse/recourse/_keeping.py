"""What is left of proposals when every constraint is kept, and every wish."""

from dataclasses import replace

import numpy as np
import pandas as pd

from rocourse.recourse._fewer import fewer_changes, where_rows
from rocourse.recourse._proposer import Context
from rocourse.schema import Narrowing, Rows


def kept(
    context: Context,
    frame: pd.DataFrame,
    rows: Rows,
    proposed: Rows,
    target: np.ndarray,
    start: Rows | None = None,
) -> Rows:
    """What is left of proposals when every constraint is kept.

    Args:
        context: The model and the schema.
        frame: The rows as they were given.
        rows: The same, encoded.
        proposed: What to turn them into.
        target: The class index wanted for each.
        start: Changes that are made in any case; None: none.
    """
    schema = context.schema
    if schema.max_features is not None:
        settled = replace(schema, max_features=None).settle(frame, rows, proposed)
        raw = schema.actions.numbers(frame)
        proposed = fewer_changes(context, raw, rows, settled, target, start)
    return schema.settle(frame, rows, proposed)


def kept_by_wishes(
    context: Context,
    narrowing: Narrowing,
    frame: pd.DataFrame,
    rows: Rows,
    proposed: Rows,
    target: np.ndarray,
    start: Rows,
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
    """
    inside = narrowing.clipped(proposed, start)
    settled = kept(context, frame, rows, inside, target, start)
    attempts = narrowing.kept(frame, rows, settled, start)
    schema = context.schema
    if not schema.actions.limited:
        return attempts
    # What was put back for a wish may be tied to something else.
    attempts = schema.settle(frame, rows, attempts)
    fulfilled = narrowing.fulfilled(frame, rows, attempts)
    return where_rows(np.asarray(fulfilled.all(axis=1)), attempts, start)
