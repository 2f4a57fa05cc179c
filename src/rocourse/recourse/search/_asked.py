"""Recourses for models that can only be asked: what a search proposes, completed and cut back.

A search in compiled code knows a network that imitates such a model. Here the model itself, and
refits of it on shifted rows, are asked about single edits, many in one call.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rocourse.models import BatchModel, QuickModel, is_quick
from rocourse.recourse.search._edits import (
    EDIT_PRICE,
    Edits,
    Numbers,
    column_features,
)
from rocourse.schema import NEGLIGIBLE_CHANGE, Layout

# Forests may be certain; no lead is greater than that of this share.
_LEAST_PROBABILITY = 0.002
LEAST_DEVIATION = 0.15
"""Models that agree to the last digit are no surer than this: the deviation of log-odds."""
# How much of the variance among few models is the usual one: the rest is what they say of a row.
_USUAL_WEIGHT = 0.5
# The deviation of a model of which there are no refits.
_UNKNOWN_DEVIATION = 0.5
# Edits that members are asked about: the best ones by what the model says.
_SHORT_LIST = 8
_LEAST_GAIN = 1e-4
ROUNDING = 1e-4
"""Sureness that rounding takes away is not missed."""
# Where trees turn between two amounts that people use, so many times finer ones are looked for.
_FINER = (10.0, 100.0)
# A value is so far from where a tree turns, in amounts: encoded values are float32.
_CLEAR = 1e-3
# Rows whose edits are asked about in one call.
_BLOCK = 256

Families = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From encoded rows `[n, width]` and targets to how sure others are, `[families, n]`."""


class Asked(NamedTuple):
    """A model that can only be asked, and refits of it."""

    model: BatchModel
    members: tuple[BatchModel, ...]
    margins: np.ndarray | None = None
    """The lead that each model has to have for each class, `[models, classes]`; None: as many
    deviations among the members as a search asks for."""
    usual: float | None = None
    """The deviation among members that is usual among training rows; None: not known."""

    def sureness(self, x: np.ndarray, target: np.ndarray) -> np.ndarray:
        """How sure the model and its members are of the target, `[n]`.

        By how many deviations they lead; or the share of their margins, 1 where all have theirs.
        """
        told = leads((self.model, *self.members), x, target)
        if self.margins is None:
            return _sureness(told, self.usual)
        shares = np.minimum(told / self.margins[:, target], 1.0)
        # The model counts as much as all members together: where not all can be convinced, it has
        # to be.
        others: np.ndarray = shares[1:].mean(axis=0) if len(shares) > 1 else shares[0]
        return np.asarray(0.5 * (shares[0] + others))


class Ways(NamedTuple):
    """What may be done to rows.

    Attributes:
        edits: Single changes.
        stops: The values of each number that it may be taken back to, ascending.
        low: The least that each row's numbers may become, `[n, n_continuous]`.
        high: The most, `[n, n_continuous]`.
        allowed: The categories that each may have, bool `[n, width - n_continuous]`.
        layout: Of the encoded rows.
        max_features: The most features that may change; None: any number.
    """

    edits: Edits
    stops: tuple[np.ndarray, ...]
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
        shares = _kept_above(shares)
        mine = np.take_along_axis(shares, target[:, None], axis=1)[:, 0]
        np.put_along_axis(shares, target[:, None], 0.0, axis=1)
        told.append(np.log(mine) - np.log(shares.max(axis=1)))
    return np.stack(told)


def log_shares(model: BatchModel, x: np.ndarray) -> np.ndarray:
    """The logarithms of the classes' probabilities, as `leads` takes them, `[n, classes]`."""
    told: np.ndarray = np.log(_kept_above(model.probabilities(x)))
    return told


def _kept_above(shares: np.ndarray) -> np.ndarray:
    above: np.ndarray = np.clip(shares, _LEAST_PROBABILITY, 1.0)
    return above


def moderated(variance: Numbers, usual: Numbers | float) -> Numbers:
    """The deviation among few members of a family, moderated by the usual one.

    What a handful says of its own spread is mostly chance. Unmoderated, the rows that seem surest
    would be those whose members happen to agree.
    """
    deviation: Numbers = ((1.0 - _USUAL_WEIGHT) * variance + _USUAL_WEIGHT * usual**2) ** 0.5
    return deviation


def _sureness(leads: np.ndarray, usual: float | None) -> np.ndarray:
    """The lesser standing of the model, which comes first, and of the members on average."""
    model, members = leads[0], leads[1:]
    if not len(members):
        return np.asarray(model / _UNKNOWN_DEVIATION)
    deviation = members.std(axis=0, ddof=min(1, len(members) - 1))
    if usual is not None:
        deviation = moderated(deviation**2, usual)
    deviation = np.maximum(deviation, LEAST_DEVIATION)
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
    costs = feature_costs(x, row, ways.layout)
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


def usual_stops(
    asked: Asked,
    step: np.ndarray,
    first: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    whole: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """The values of each number that rows may be taken back to, float32 in ascending order.

    Amounts that people use, and values on either side of each threshold of trees: an amount where
    one lies before the next threshold, else a finer one.

    Args:
        asked: Who may have trees.
        step: The distance between amounts of each number, `[n_continuous]`.
        first: The least amount of each, `[n_continuous]`.
        low: The least value of each that is ever asked for, `[n_continuous]`.
        high: The greatest, `[n_continuous]`.
        whole: The least step of each, `[n_continuous]`; 0 where any value goes.
    """
    quick = tuple(model for model in (asked.model, *asked.members) if is_quick(model))
    ranges = (step, first, low, high, whole)
    return _stops(quick, *(np.asarray(part, np.float64).tobytes() for part in ranges))


@lru_cache(maxsize=16)
def _stops(quick: tuple[QuickModel, ...], *ranges: bytes) -> tuple[np.ndarray, ...]:
    """As `usual_stops`: thresholds are thousands, and the same for every applicant."""
    step, first, low, high, whole = (np.frombuffer(part) for part in ranges)
    told = [model.turns() for model in quick]
    stops = []
    for k, (size, start) in enumerate(zip(step, first, strict=True)):
        ends = np.ceil((low[k] - start) / size), np.floor((high[k] - start) / size)
        amounts = start + size * np.arange(ends[0], ends[1] + 1.0)
        turns = [turns[k] for turns in told if len(turns)]
        finer = [whole[k]] if whole[k] > 0.0 else [size / times for times in _FINER]
        between = _beside(np.concatenate([[low[k], high[k]], *turns]), [size, *finer], start)
        usual = (low[k] <= between) & (between <= high[k])
        stops.append(np.unique(np.concatenate([amounts, between[usual]]).astype(np.float32)))
    return tuple(stops)


def _beside(turns: np.ndarray, amounts: Sequence[float], start: float) -> np.ndarray:
    """The least and the greatest values between turns: of the first amount that lies there."""
    turns = np.unique(turns)
    low, high = turns[:-1], turns[1:]
    ends = np.full((2, len(low)), np.nan)
    for amount in amounts:
        up = start + amount * np.ceil((low - start) / amount + _CLEAR)
        down = start + amount * np.floor((high - start) / amount - _CLEAR)
        better = np.isnan(ends[0]) & (up < high)
        ends[:, better] = np.stack([up, down])[:, better]
    found: np.ndarray = ends[np.isfinite(ends)]
    return found


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


def feature_costs(x: np.ndarray, row: np.ndarray, layout: Layout) -> np.ndarray:
    """How far each feature is from where it was, `[n, features]`."""
    moved = np.abs(x - row)
    starts = np.flatnonzero(np.diff(column_features(layout), prepend=-1))
    return np.add.reduceat(moved, starts, axis=1)
