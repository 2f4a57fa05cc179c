"""Points that convince the model, made cheaper: whatever is not needed is taken back."""

from collections.abc import Callable

import numpy as np

from rocourse.schema import Layout, Rows, proximity

# How much of a number's change may be taken back at once, all of it first.
_SHARES = (1.0, 0.75, 0.5, 0.25, 0.1, 0.03, 0.01, 0.003, 0.001)
_MOST_ROUNDS = 100

Try = Callable[[np.ndarray, Rows], tuple[np.ndarray, Rows]]


def take_back(rows: Rows, points: Rows, attempt: Try, layout: Layout) -> Rows:
    """Takes back, again and again, what saves most, while the model stays convinced.

    Args:
        rows: As they are.
        points: What each of them becomes, a recourse already.
        attempt: From positions of rows and points for them to whether the model is convinced by
            what settling leaves of the points, and that.
        layout: Of the rows.
    """
    active = np.arange(len(rows))
    for _ in range(_MOST_ROUNDS):
        owner, changed = _variants(rows.take(active), points.take(active))
        owner = active[owner]
        if not len(owner):
            break
        convinced, settled = attempt(owner, changed)
        cost = proximity(rows.take(owner), settled, layout)
        saved = proximity(rows, points, layout)[owner] - cost
        good = np.flatnonzero(convinced & (saved > 1e-9))
        if not len(good):
            break
        order = good[np.argsort(-saved[good], kind="stable")]
        active, best = np.unique(owner[order], return_index=True)
        points = put(points, active, settled.take(order[best]))
    return points


def _variants(rows: Rows, points: Rows) -> tuple[np.ndarray, Rows]:
    """Each point with a single change taken back, wholly or in part, and whose point it is."""
    owners, parts = [], []
    for k in range(rows.continuous.shape[1]):
        where = np.flatnonzero(rows.continuous[:, k] != points.continuous[:, k])
        for share in _SHARES:
            values = points.continuous[where].copy()
            values[:, k] += share * (rows.continuous[where, k] - values[:, k])
            if share == 1.0:
                values[:, k] = rows.continuous[where, k]
            owners.append(where)
            parts.append(Rows(values, points.categories[where]))
    for k in range(rows.categories.shape[1]):
        where = np.flatnonzero(rows.categories[:, k] != points.categories[:, k])
        codes = points.categories[where].copy()
        codes[:, k] = rows.categories[where, k]
        owners.append(where)
        parts.append(Rows(points.continuous[where], codes))
    return np.concatenate(owners), Rows.concatenate(parts)


def put(rows: Rows, where: np.ndarray, others: Rows) -> Rows:
    """The rows with others in some places."""
    values, codes = rows.continuous.copy(), rows.categories.copy()
    values[where], codes[where] = others.continuous, others.categories
    return Rows(values, codes)
