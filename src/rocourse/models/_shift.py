"""Simulated shifts: training rows as they might look when a model is trained anew."""

from functools import lru_cache

import numpy as np

from rocourse.models.training import TrainingRows
from rocourse.options import Options, number, option, share
from rocourse.schema import Rows, Schema


class Shift(Options):
    """How far rows may shift. All is drawn anew for each shift."""

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
    values = rows.continuous[drawn]
    values = np.clip(values + rng.uniform(-shift.noise, shift.noise, values.shape), 0.0, 1.0)
    codes = rows.categories[drawn]
    if shift.ordinal_noise:
        _move_ordered(codes, data.schema, shift.ordinal_noise, rng)
    for size, column in zip(layout.group_sizes, codes.T, strict=True):
        flipped = rng.random(len(column)) < shift.flip
        column[flipped] = _redrawn(column, size, int(flipped.sum()), shift.uniform_flip, rng)
        if rng.random() < shift.shuffle:
            rng.shuffle(column)
    return data._replace(
        rows=Rows(values.astype(np.float32), codes),
        labels=data.labels[drawn],
        groups=None if data.groups is None else data.groups[drawn],
    )


def join_rows(data: TrainingRows, more: TrainingRows) -> TrainingRows:
    """The rows of both, one after the other."""
    groups = None
    if data.groups is not None and more.groups is not None:
        groups = np.concatenate([data.groups, more.groups])
    return data._replace(
        rows=Rows.concatenate([data.rows, more.rows]),
        labels=np.concatenate([data.labels, more.labels]),
        groups=groups,
    )


def some_rows(data: TrainingRows, count: int, rng: np.random.Generator) -> TrainingRows:
    """So many of the rows, drawn without replacement; all of them if there are no more."""
    if count >= len(data.rows):
        return data
    drawn = rng.choice(len(data.rows), count, replace=False)
    return data._replace(
        rows=data.rows.take(drawn),
        labels=data.labels[drawn],
        groups=None if data.groups is None else data.groups[drawn],
    )


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
    columns = zip(schema.layout.group_sizes, codes.T, _ordered_columns(schema), strict=True)
    for size, column, follows in columns:
        if follows:
            reach = share * size
            moves = np.rint(rng.uniform(-reach, reach, len(column))).astype(np.int64)
            column[:] = np.clip(column + moves, 0, size - 1)


def _redrawn(
    column: np.ndarray, size: int, count: int, uniform: float, rng: np.random.Generator
) -> np.ndarray:
    codes: np.ndarray = rng.choice(column, count)
    if uniform:
        new = rng.random(count) < uniform
        codes[new] = rng.integers(size, size=new.sum())
    return codes


def _log_weights(data: TrainingRows, shift: Shift, rng: np.random.Generator) -> np.ndarray:
    """A random direction: which numbers, categories and classes become more frequent.

    Rare classes do so by as much as they shall be evened out.
    """
    rows, labels, layout = data.rows, data.labels, data.schema.layout
    spread = rows.continuous.std(axis=0)
    # A few extreme rows would otherwise have all the weight.
    standard = np.clip((rows.continuous - rows.continuous.mean(axis=0)) / (spread + 1e-6), -3, 3)
    n_features = max(layout.n_continuous + layout.n_categorical, 1)

    def direction() -> np.ndarray:
        weights: np.ndarray = standard @ rng.normal(size=standard.shape[1])
        for size, codes in zip(layout.group_sizes, rows.categories.T, strict=True):
            weights = weights + rng.normal(size=size)[codes]
        return weights

    weights = direction()
    # A class without rows is drawn by none.
    counts = np.maximum(np.bincount(labels, minlength=data.n_classes), 1)
    by_class = shift.label_tilt * rng.normal(size=data.n_classes)
    by_class = by_class - shift.class_evenness * np.log(counts)
    tilted: np.ndarray = shift.tilt * weights / np.sqrt(n_features) + by_class[labels]
    if shift.concept_tilt:
        for c in range(data.n_classes):
            own = labels == c
            tilted[own] += shift.concept_tilt * direction()[own] / np.sqrt(n_features)
    if shift.group_tilt and data.groups is not None:
        tilted += shift.group_tilt * rng.normal(size=data.groups.max() + 1)[data.groups]
    return tilted
