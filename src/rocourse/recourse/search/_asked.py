"""Recourses for models that can only be asked: what a search proposes, completed and cut back.

A search in compiled code knows a network that imitates such a model. Here the model itself, and
refits of it on shifted rows, are asked about single edits, many in one call.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rocourse.models import BatchModel, is_quick
from rocourse.recourse.search._edits import EDIT_PRICE, Edits, column_features
from rocourse.schema import NEGLIGIBLE_CHANGE, Layout

# Forests may be certain; no lead is greater than that of this share.
_LEAST_PROBABILITY = 0.002
LEAST_DEVIATION = 0.15
"""Models that agree to the last digit are no surer than this: the deviation of log-odds."""
# The deviation of a model of which there are no refits.
_UNKNOWN_DEVIATION = 0.5
# Edits that members are asked about: the best ones by what the model says.
_SHORT_LIST = 8
_LEAST_GAIN = 1e-4
# How far a number is taken back where it cannot be wholly.
_RETREATS = (0.75, 0.5, 0.25)
# Rows whose edits are asked about in one call.
_BLOCK = 256

Families = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From encoded rows `[n, width]` and targets to how sure others are, `[families, n]`."""


class Asked(NamedTuple):
    """A model that can only be asked, and refits of it."""

    model: BatchModel
    members: tuple[BatchModel, ...]

    def sureness(self, x: np.ndarray, target: np.ndarray) -> np.ndarray:
        """By how many deviations among members the model, and they, lead for the target, `[n]`."""
        return _sureness(leads((self.model, *self.members), x, target))


class Ways(NamedTuple):
    """What may be done to rows.

    Attributes:
        edits: Single changes.
        step: The distance between values of each number that are asked for, `[n_continuous]`.
        first: The least of them, `[n_continuous]`.
        low: The least that each row's numbers may become, `[n, n_continuous]`.
        high: The most, `[n, n_continuous]`.
        allowed: The categories that each may have, bool `[n, width - n_continuous]`.
        layout: Of the encoded rows.
        max_features: The most features that may change; None: any number.
    """

    edits: Edits
    step: np.ndarray
    first: np.ndarray
    low: np.ndarray
    high: np.ndarray
    allowed: np.ndarray
    layout: Layout
    max_features: int | None = None

    def take(self, rows: np.ndarray) -> "Ways":
        """Those of some rows."""
        return self._replace(low=self.low[rows], high=self.high[rows], allowed=self.allowed[rows])


def leads(models: Sequence[BatchModel], x: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The log-odds of the target class against the likeliest other, `[models, n]`."""
    told, read = [], None
    for model in models:
        if is_quick(model):
            # What rows are to one of them, they are to all: refits have the model's schema.
            read = model.read_rows(x) if read is None else read
            shares = model.quick_probabilities(x, read)
        else:
            shares = model.probabilities(x)
        shares = np.clip(shares, _LEAST_PROBABILITY, 1.0)
        mine = np.take_along_axis(shares, target[:, None], axis=1)[:, 0]
        np.put_along_axis(shares, target[:, None], 0.0, axis=1)
        told.append(np.log(mine) - np.log(shares.max(axis=1)))
    return np.stack(told)


def _sureness(leads: np.ndarray) -> np.ndarray:
    """The lesser standing of the model, which comes first, and of the members on average."""
    model, members = leads[0], leads[1:]
    if not len(members):
        return np.asarray(model / _UNKNOWN_DEVIATION)
    deviation = np.maximum(members.std(axis=0, ddof=min(1, len(members) - 1)), LEAST_DEVIATION)
    least: np.ndarray = np.minimum(model, members.mean(axis=0)) / deviation
    return least


def complete(
    asked: Asked,
    ways: Ways,
    row: np.ndarray,
    x: np.ndarray,
    target: np.ndarray,
    level: np.ndarray,
    *,
    max_changes: int,
) -> np.ndarray:
    """Edits rows until those who are asked are sure, or nothing makes them surer.

    Args:
        asked: The model and its members.
        ways: What may be done.
        row: The encoded rows as they were, `[n, width]`.
        x: What has been proposed, `[n, width]`.
        target: Class indices, `[n]`.
        level: How sure is sure enough, `[n]`.
        max_changes: The most edits of a row.
    """
    x, going = x.copy(), np.arange(len(x))
    for _ in range(max_changes):
        sure = asked.sureness(x[going], target[going])
        unsure = sure < level[going]
        going, sure = going[unsure], sure[unsure]
        if not len(going):
            break
        useful = np.zeros(len(going), dtype=bool)
        for start in range(0, len(going), _BLOCK):
            part = slice(start, start + _BLOCK)
            some = going[part]
            better, useful[part] = _best_edit(
                asked, ways.take(some), row[some], x[some], target[some], level[some], sure[part]
            )
            x[some] = better
        going = going[useful]
    return x


def _best_edit(
    asked: Asked,
    ways: Ways,
    row: np.ndarray,
    x: np.ndarray,
    target: np.ndarray,
    level: np.ndarray,
    sure: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The edit of each row that gains most for its price, and whether there is one."""
    edits, n = ways.edits, len(x)
    value, column, feature = (
        np.asarray(part) for part in (edits.value, edits.column, edits.feature)
    )
    usable = _allowed(ways) & (np.abs(value - x[:, column]) >= NEGLIGIBLE_CHANGE)
    costs = _feature_costs(x, row, ways.layout)
    if ways.max_features is not None:
        room = (costs > 0.0).sum(axis=1) < ways.max_features
        usable &= room[:, None] | (costs[:, feature] > 0.0)
    is_number = feature < ways.layout.n_continuous
    away = np.abs(value - row[:, column]) * np.where(is_number, 1.0, 2.0)
    price = np.maximum(away - costs[:, feature], 0.0) + EDIT_PRICE

    who, what = np.nonzero(usable)
    rates = np.full(usable.shape, -np.inf)
    said = leads((asked.model,), _edited(x[who], what, ways), target[who])[0]
    here = leads((asked.model,), x, target)[0]
    rates[who, what] = (said - here[who]) / price[who, what]

    count = min(_SHORT_LIST, rates.shape[1])
    listed = np.argpartition(-rates, count - 1, axis=1)[:, :count]
    finite = np.isfinite(np.take_along_axis(rates, listed, axis=1))
    tried = _edited(np.repeat(x, count, axis=0), listed.ravel(), ways)
    surer = asked.sureness(tried, np.repeat(target, count)).reshape(n, count)
    gains = np.minimum(surer, level[:, None]) - sure[:, None]
    found = np.where(
        finite & (gains > _LEAST_GAIN), gains / np.take_along_axis(price, listed, axis=1), -np.inf
    )
    best = found.argmax(axis=1)
    useful = np.isfinite(found[np.arange(n), best])
    chosen = tried.reshape(n, count, -1)[np.arange(n), best]
    return np.where(useful[:, None], chosen, x), useful


def cut_back(
    asked: Asked,
    families: Families,
    ways: Ways,
    row: np.ndarray,
    x: np.ndarray,
    target: np.ndarray,
    level: np.ndarray,
) -> np.ndarray:
    """Takes back what nobody needs, the dearest change first: wholly, or numbers in part.

    Args:
        asked: The model and its members.
        families: Who else is not to become less sure.
        ways: What may be done.
        row: The encoded rows as they were, `[n, width]`.
        x: What has been proposed, `[n, width]`.
        target: Class indices, `[n]`.
        level: How sure is sure enough, `[n]`.
    """

    def sure(x: np.ndarray, where: np.ndarray) -> np.ndarray:
        told = np.vstack([asked.sureness(x, target[where]), families(x, target[where])])
        return np.asarray(np.minimum(told, level[where]))

    x, everyone = x.copy(), np.arange(len(x))
    before = sure(x, everyone)
    costs = _feature_costs(x, row, ways.layout)
    order = np.argsort(-costs, axis=1, kind="stable")
    for feature in order[:, : int((costs > 0.0).sum(axis=1).max(initial=0))].T:
        where = everyone[costs[everyone, feature] > 0.0]
        # The most that can be taken back first: who can is done.
        for share in (1.0, *_RETREATS):
            if not len(where):
                break
            tried = _retreat(x[where], row[where], feature[where], share, ways)
            now = sure(tried, where)
            moved = (tried != x[where]).any(axis=1)
            held = moved & (now >= before[:, where] - 1e-4).all(axis=0)
            x[where[held]], before[:, where[held]] = tried[held], now[:, held]
            where = where[~held]
    return x


def _retreat(
    x: np.ndarray, row: np.ndarray, feature: np.ndarray, share: float, ways: Ways
) -> np.ndarray:
    """One feature of each row taken back by a share of its way; a category wholly or not at all."""
    layout, each = ways.layout, np.arange(len(x))
    tried, cut = x.copy(), layout.n_continuous
    if share == 1.0:
        owned = column_features(layout)[None] == feature[:, None]
        return np.where(owned, row, x)
    number = np.minimum(feature, max(cut - 1, 0))
    if not cut:
        return tried
    here, far = row[each, number], x[each, number]
    step, first = ways.step[number], ways.first[number]
    place = first + step * np.round((far + share * (here - far) - first) / step)
    between = (place - here) * (place - far) < 0.0
    tried[each, number] = np.where((feature < cut) & between, place, far)
    return tried


def _allowed(ways: Ways) -> np.ndarray:
    """Which edits keep to the limits of rows, `[n, edits]`."""
    edits, cut = ways.edits, ways.layout.n_continuous
    feature, column, value = (
        np.asarray(part) for part in (edits.feature, edits.column, edits.value)
    )
    is_number = feature < cut
    allowed = np.empty((len(ways.low), len(feature)), dtype=bool)
    low, high = ways.low[:, feature[is_number]], ways.high[:, feature[is_number]]
    allowed[:, is_number] = (low <= value[is_number]) & (value[is_number] <= high)
    allowed[:, ~is_number] = ways.allowed[:, column[~is_number] - cut]
    return allowed


def _edited(x: np.ndarray, edit: np.ndarray, ways: Ways) -> np.ndarray:
    """Each row with an edit of its own."""
    edits = ways.edits
    feature, column = np.asarray(edits.feature)[edit], np.asarray(edits.column)[edit]
    result = np.where(column_features(ways.layout)[None] == feature[:, None], np.float32(0.0), x)
    result[np.arange(len(x)), column] = np.asarray(edits.value)[edit]
    return result


def _feature_costs(x: np.ndarray, row: np.ndarray, layout: Layout) -> np.ndarray:
    """How far each feature is from where it was, `[n, features]`."""
    moved = np.abs(x - row)
    starts = np.flatnonzero(np.diff(column_features(layout), prepend=-1))
    return np.add.reduceat(moved, starts, axis=1)
