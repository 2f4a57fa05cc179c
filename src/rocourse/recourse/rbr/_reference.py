"""What RBR keeps of the training rows: rows to walk to, and how far apart rows are."""

from typing import NamedTuple

import numpy as np

from rocourse.models import BatchModel
from rocourse.recourse.search import LEAST_PROBABILITY
from rocourse.schema import Layout, Rows, one_hot

# All pairs of this many rows are compared for the greatest distance.
_PAIRED_ROWS = 2000


class Reference(NamedTuple):
    """Training rows and what the model says of them, as arrays that an artifact can hold."""

    continuous: np.ndarray
    """float32 `[n, C]`."""
    categories: np.ndarray
    """int `[n, K]`."""
    probabilities: np.ndarray
    """float32 `[n, n_classes]`."""
    max_distance: np.ndarray
    """The greatest Euclidean distance between encoded rows, a scalar."""


def learn_reference(
    model: BatchModel, rows: Rows, layout: Layout, *, most: int = 10_000, seed: int
) -> Reference:
    """Keeps what a search needs of the training rows.

    Args:
        model: The classifier that recourses are for.
        rows: The training rows.
        layout: Shape of the encoded vector.
        most: Of more rows, so many are drawn.
        seed: Of the draws.
    """
    rng = np.random.default_rng(seed)
    if len(rows) > most:
        rows = rows.take(np.sort(rng.choice(len(rows), most, replace=False)))
    paired = rows
    if len(rows) > _PAIRED_ROWS:
        paired = rows.take(rng.choice(len(rows), _PAIRED_ROWS, replace=False))
    return Reference(
        continuous=np.array(rows.continuous),
        categories=np.array(rows.categories),
        probabilities=np.asarray(model.probabilities(one_hot(rows, layout)), np.float32),
        max_distance=np.asarray(max_distance(one_hot(paired, layout)), np.float32),
    )


def max_distance(x: np.ndarray) -> float:
    """The greatest Euclidean distance between any two of the vectors `[n, width]`."""
    x = x.astype(np.float64)
    squares = np.sum(np.square(x), axis=1)
    apart = squares[:, None] + squares[None, :] - 2.0 * (x @ x.T)
    return float(np.sqrt(max(apart.max(initial=0.0), 0.0)))


def margins_of(probabilities: np.ndarray, target: np.ndarray) -> np.ndarray:
    """How far the target class leads, from probabilities `[..., n_classes]`; float32 `[...]`.

    The logarithm of its probability over that of the likeliest other class: above zero where the
    model gives the target class.
    """
    p = np.clip(probabilities, LEAST_PROBABILITY, 1.0)
    is_target = np.arange(p.shape[-1]) == np.asarray(target)[..., None]
    other = np.max(np.where(is_target, 0.0, p), axis=-1)
    own = np.sum(np.where(is_target, p, 0.0), axis=-1)
    margins: np.ndarray = np.log(own / other).astype(np.float32)
    return margins


def nearest(
    reference: Reference,
    continuous: np.ndarray,
    categories: np.ndarray,
    target: np.ndarray,
    *,
    count: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The training rows of the target class that are nearest in L1 distance.

    Args:
        reference: The training rows.
        continuous: float32 `[n, C]`.
        categories: int `[n, K]`.
        target: The class wanted for each row, `[n]`.
        count: How many to return, if there are as many.

    Returns:
        Indices into the training rows, int32 `[n, m]` in no order, and their margins, `[n, m]`.
        Where fewer than m training rows are of the target class, the margin is minus infinity.
    """
    classes = np.arange(reference.probabilities.shape[1])
    margins = margins_of(reference.probabilities[None], classes[:, None])[target]
    distance = np.where(margins > 0.0, np.float32(0.0), np.float32(np.inf))
    # Feature by feature: all differences at once would not fit in cache.
    for here, there in zip(continuous.T, reference.continuous.T, strict=True):
        distance += np.abs(here[:, None] - there)
    for own, other in zip(categories.T, reference.categories.T, strict=True):
        distance += np.float32(2.0) * (own[:, None] != other)
    if count < distance.shape[1]:
        index = np.argpartition(distance, count - 1, axis=1)[:, :count]
    else:
        index = np.broadcast_to(np.arange(distance.shape[1]), distance.shape)
    picked = np.take_along_axis(margins, index, axis=1)
    return index.astype(np.int32), np.where(picked > 0.0, picked, np.float32(-np.inf))
