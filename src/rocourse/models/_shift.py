"""Simulated shifts: training rows as they might look when a model is trained anew."""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rocourse.models.training import TrainingRows
from rocourse.options import Options, number, option, share
from rocourse.schema import Rows, Schema, one_hot

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

# Of a logistic regression: enough for columns that are scaled to [0, 1], as all encoded ones are.
_STEPS = 300


class Shift(Options):
    """How far rows may shift. All is drawn anew for each shift.

    Examples:
        >>> rocourse.RoCoursePanel(schema, proposer__shift=Shift(noise=0.2)).proposer.shift.noise
        0.2
    """

    noise: float = option(
        default=0.1,
        doc="How far numbers move at most, as a share of their range.",
        rule=number(at_least=0.0),
    )
    flip: float = option(
        default=0.05, doc="The share of categories that are redrawn.", rule=share()
    )
    uniform_flip: float = option(
        default=0.0,
        doc="From 0, redrawn categories as frequent as they are, to 1: all alike, so that models "
        "make nothing of a category that they have seldom or never seen. For columns whose "
        "categories come and go.",
        rule=share(all_of_it=True),
    )
    ordinal_noise: float = option(
        default=0.0,
        doc="How far categories that are numbers move at most, as a share of the column's "
        "categories: each then says what its neighbours say. For amounts that are told in "
        "steps, such as years.",
        rule=share(all_of_it=True),
    )
    shuffle: float = option(
        default=0.0,
        doc="The probability that a categorical column is shuffled, so that models do without it. "
        "For shifts in which codes change their meaning.",
        rule=share(all_of_it=True),
    )
    tilt: float = option(
        default=0.5,
        doc="How unequally rows are drawn by their features: the standard deviation of their "
        "log-weights.",
        rule=number(at_least=0.0),
    )
    label_tilt: float = option(
        default=0.3, doc="How unequally rows are drawn by their class.", rule=number(at_least=0.0)
    )
    concept_tilt: float = option(
        default=0.0,
        doc="How unequally the rows of each class are drawn by their features, each class in a "
        "direction of its own, so that features come to say something else about the class.",
        rule=number(at_least=0.0),
    )
    drift: float = option(
        default=0.0,
        doc="How far what decides the class moves, as a share of the spread of the classes' "
        "scores: for everybody alike, and by features. Labels are redrawn where it matters. For "
        "rows whose scores are known.",
        rule=number(at_least=0.0),
    )
    group_tilt: float = option(
        default=0.0,
        doc="How unequally rows are drawn by their group (a year, a branch), where groups are "
        "known.",
        rule=number(at_least=0.0),
    )
    class_evenness: float = option(
        default=0.0,
        doc="From 0, classes as frequent as they are, to 1: all alike. For classes that are rare, "
        "or more frequent in some years than in others.",
        rule=share(all_of_it=True),
    )


def shift_rows(data: TrainingRows, shift: Shift, rng: np.random.Generator) -> TrainingRows:
    """As many rows, drawn with unequal weights and then moved."""
    rows, layout = data.rows, data.schema.layout
    weights = _log_weights(data, shift, rng)
    shares = np.exp(weights - weights.max())
    drawn = rng.choice(len(rows), len(rows), p=shares / shares.sum())
    data = data._replace(labels=_drifted(data, shift.drift, rng)).take(drawn)
    values = data.rows.continuous
    values = np.clip(values + rng.uniform(-shift.noise, shift.noise, values.shape), 0.0, 1.0)
    codes = data.rows.categories.copy()
    if shift.ordinal_noise:
        _move_ordered(codes, data.schema, shift.ordinal_noise, rng)
    for size, column in zip(layout.group_sizes, codes.T, strict=True):
        flipped = rng.random(len(column)) < shift.flip
        column[flipped] = _redrawn(column, size, int(flipped.sum()), shift.uniform_flip, rng)
        if rng.random() < shift.shuffle:
            rng.shuffle(column)
    return data._replace(rows=Rows(values.astype(np.float32), codes))


def with_scores(data: TrainingRows) -> TrainingRows:
    """The rows with scores of their classes, as a logistic regression has them."""
    x = one_hot(data.rows, data.schema.layout)
    fitted = fit_logistic(x, data.labels)
    scores = np.full((len(x), data.n_classes), -np.inf)
    # Of two classes, the score is the second one's lead.
    told = fitted.decision_function(x).reshape(len(x), -1)
    known = fitted.classes_
    scores[:, known] = np.column_stack([np.zeros(len(x)), told]) if len(known) == 2 else told
    return data._replace(scores=scores)


def _drifted(data: TrainingRows, drift: float, rng: np.random.Generator) -> np.ndarray:
    """Labels as they would be, had what speaks for each class moved."""
    if not drift or data.scores is None:
        return data.labels
    scores = data.scores
    present = np.isfinite(scores)
    centred = np.where(present, scores - scores.max(axis=1, keepdims=True), 0.0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    spread = drift * np.sqrt(2.0 * centred.var(axis=0).mean())
    values, direction = noisy_scores(scores, data.labels, rng), _directions(data, rng)
    moves = np.column_stack([rng.normal() + direction() for _ in range(data.n_classes)])
    moved = values + np.where(present, spread * moves, 0.0)
    drifted: np.ndarray = moved.argmax(axis=1).astype(data.labels.dtype)
    return drifted


def noisy_scores(scores: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Scores with noise for which each row's label is the greatest, `[n, classes]`.

    A label is drawn as the greatest of scores with Gumbel's noise, which gives the probabilities
    of a logistic regression. Here it is known, and the noise is drawn given it.
    """
    n = len(labels)
    top = np.logaddexp.reduce(scores, axis=1) + rng.gumbel(size=n)
    values: np.ndarray = -np.logaddexp(-top[:, None], -(scores + rng.gumbel(size=scores.shape)))
    values[np.arange(n), labels] = top
    return values


def join_rows(data: TrainingRows, more: TrainingRows) -> TrainingRows:
    """The rows of both, one after the other."""

    def both(mine: np.ndarray | None, theirs: np.ndarray | None) -> np.ndarray | None:
        known = mine is not None and theirs is not None
        return np.concatenate([mine, theirs]) if known else None

    return data._replace(
        rows=Rows.concatenate([data.rows, more.rows]),
        labels=np.concatenate([data.labels, more.labels]),
        groups=both(data.groups, more.groups),
        scores=both(data.scores, more.scores),
    )


def some_rows(data: TrainingRows, count: int, rng: np.random.Generator) -> TrainingRows:
    """So many of the rows, drawn without replacement; all of them if there are no more."""
    if count >= len(data.rows):
        return data
    return data.take(rng.choice(len(data.rows), count, replace=False))


@lru_cache(maxsize=8)
def _ordered_columns(schema: Schema) -> tuple[bool, ...]:
    """Whether each categorical feature's categories are numbers, one greater than the other."""
    return tuple(
        feature.kind in ("integer", "number")
        and bool((np.diff(np.asarray(feature.categories, np.float64)) > 0.0).all())
        for feature in schema.categorical
    )


def _move_ordered(
    codes: np.ndarray, schema: Schema, share: float, rng: np.random.Generator
) -> None:
    columns = zip(schema.categorical, codes.T, _ordered_columns(schema), strict=True)
    for feature, column, follows in columns:
        if follows:
            size = len(feature.categories)
            reach = share * size
            moves = np.rint(rng.uniform(-reach, reach, len(column))).astype(np.int64)
            # What is missing is neither more nor less.
            column[:] = np.where(column == size, size, np.clip(column + moves, 0, size - 1))


def _redrawn(
    column: np.ndarray, size: int, count: int, uniform: float, rng: np.random.Generator
) -> np.ndarray:
    codes: np.ndarray = rng.choice(column, count)
    if uniform:
        new = rng.random(count) < uniform
        codes[new] = rng.integers(size, size=new.sum())
    return codes


def _directions(data: TrainingRows, rng: np.random.Generator) -> Callable[[], np.ndarray]:
    """What draws a random direction: a number for each row, of about unit variance, `[n]`."""
    rows, layout = data.rows, data.schema.layout
    spread = rows.continuous.std(axis=0)
    # A few extreme rows would otherwise have all the weight.
    standard = np.clip((rows.continuous - rows.continuous.mean(axis=0)) / (spread + 1e-6), -3, 3)
    n_features = max(layout.n_continuous + layout.n_categorical, 1)

    def direction() -> np.ndarray:
        weights: np.ndarray = standard @ rng.normal(size=standard.shape[1])
        for size, codes in zip(layout.group_sizes, rows.categories.T, strict=True):
            weights = weights + rng.normal(size=size)[codes]
        weights /= np.sqrt(n_features)
        return weights

    return direction


def _log_weights(data: TrainingRows, shift: Shift, rng: np.random.Generator) -> np.ndarray:
    """A random direction: which numbers, categories and classes become more frequent.

    Rare classes do so by as much as they shall be evened out.
    """
    labels, direction = data.labels, _directions(data, rng)
    weights = direction()
    # A class without rows is drawn by none.
    counts = np.maximum(np.bincount(labels, minlength=data.n_classes), 1)
    by_class = shift.label_tilt * rng.normal(size=data.n_classes)
    by_class = by_class - shift.class_evenness * np.log(counts)
    tilted: np.ndarray = shift.tilt * weights + by_class[labels]
    if shift.concept_tilt:
        for c in range(data.n_classes):
            own = labels == c
            tilted[own] += shift.concept_tilt * direction()[own]
    if shift.group_tilt and data.groups is not None:
        tilted += shift.group_tilt * rng.normal(size=data.groups.max() + 1)[data.groups]
    return tilted


def fit_logistic(x: np.ndarray, labels: np.ndarray) -> "LogisticRegression":
    """A logistic regression of encoded rows `[n, width]` and class indices `[n]`."""
    # Imported by what fits alone: a stored model is loaded and asked without it.
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=_STEPS).fit(x, labels)
