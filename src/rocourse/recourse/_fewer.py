"""Of too many changes, those that bring the model round: as many as the schema allows."""

from dataclasses import replace

import numpy as np

from rocourse.recourse._proposer import Context
from rocourse.schema import Rows


def fewer_changes(
    context: Context,
    raw: np.ndarray,
    rows: Rows,
    settled: Rows,
    target: np.ndarray,
    start: Rows | None = None,
) -> Rows:
    """Leaves no more changes than `max_features`, chosen one by one for what they do to the model.

    Methods that search know how many changes they may make. The others propose as many as they
    like, and which of them matter is only known by asking the model.

    Args:
        context: The model and the schema.
        raw: The numbers that the rows have, `[n, C]`.
        rows: The rows.
        settled: What they become by all other rules.
        target: The class index wanted for each.
        start: Changes that are made in any case; None: none.
    """
    joint = context.schema.actions.joint
    if joint is None or joint.max_features is None:
        return settled
    loose = replace(joint, max_features=None)
    many = np.flatnonzero(joint.broken(raw, rows, settled))
    if not len(many):
        return settled
    raw, before, after, wanted = raw[many], rows.take(many), settled.take(many), target[many]
    chosen = before if start is None else start.take(many)
    for _ in range(joint.max_features):
        best, most = chosen, chance(context, chosen, wanted)
        done = context.verdicts(context.predict(chosen)) == wanted
        for feature in range(before.continuous.shape[1] + before.categories.shape[1]):
            tried = loose.settle(raw, before, with_feature(chosen, after, feature))
            likely = np.where(done, -1.0, chance(context, tried, wanted))
            better = likely > most
            if start is not None:
                better &= ~joint.broken(raw, before, tried)
            best = where_rows(better, tried, best)
            most = np.where(better, likely, most)
        chosen = best
    continuous, categories = settled.continuous.copy(), settled.categories.copy()
    continuous[many], categories[many] = chosen.continuous, chosen.categories
    return Rows(continuous, categories)


def chance(context: Context, rows: Rows, target: np.ndarray) -> np.ndarray:
    """The probability of each row's target class, `[n]`."""
    shares = context.predict(rows)
    likely: np.ndarray = shares[np.arange(len(shares)), target]
    return likely


def with_feature(rows: Rows, other: Rows, feature: int) -> Rows:
    """The rows with one feature of others, numbers first."""
    continuous, categories = rows.continuous.copy(), rows.categories.copy()
    cut = continuous.shape[1]
    if feature < cut:
        continuous[:, feature] = other.continuous[:, feature]
    else:
        categories[:, feature - cut] = other.categories[:, feature - cut]
    return Rows(continuous, categories)


def where_rows(condition: np.ndarray, chosen: Rows, other: Rows) -> Rows:
    """The chosen rows where the condition holds, `[n]`, else the others."""
    return Rows(
        np.where(condition[:, None], chosen.continuous, other.continuous),
        np.where(condition[:, None], chosen.categories, other.categories),
    )
