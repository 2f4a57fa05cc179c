"""Verdicts that are about as frequent as the labels are: a part of what steadies a model."""

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from rocourse.models._cut_off import add_to_logits
from rocourse.models.training import TrainingRows
from rocourse.networks import Predictor
from rocourse.schema import one_hot

# Of setting one class's offset after the other's, when there are more than two.
_BALANCING_ROUNDS = 30


def balanced(networks: list[Predictor], data: TrainingRows, balance: float) -> list[Predictor]:
    """The networks with verdicts about as frequent as the labels of training rows are."""
    if not balance:
        return networks
    scores = class_scores(networks, one_hot(data.rows, data.schema.layout))
    offsets = balancing_offsets(scores, data.labels, balance)
    # One logit is the lead of the second class over the first.
    moved = offsets[1:] - offsets[0] if len(networks[0].output.bias) == 1 else offsets
    return [add_to_logits(network, moved) for network in networks]


def class_scores(networks: Sequence[Predictor], x: np.ndarray) -> np.ndarray:
    """The committee's score of each class for encoded rows `[n, width]`, as `[classes, n]`."""
    columns = jnp.asarray(x.T)
    logits = np.mean([np.asarray(network(columns)) for network in networks], axis=0)
    return np.concatenate([np.zeros_like(logits), logits]) if len(logits) == 1 else logits


def balancing_offsets(scores: np.ndarray, labels: np.ndarray, balance: float = 1.0) -> np.ndarray:
    """What to add to scores `[classes, n]` so that verdicts are about as frequent as labels are.

    A class is given to at least `balance` times as many rows as have it, and at most as many times
    as few; within this most rows are told right. A class without rows keeps its score.
    """
    n_classes, n = scores.shape
    wanted = np.bincount(labels, minlength=n_classes)
    offsets = np.zeros(n_classes, np.float32)
    # Of two classes the second one's is enough, once.
    order = [1] if n_classes == 2 else _BALANCING_ROUNDS * list(range(n_classes))
    for c in order:
        if not wanted[c]:
            continue
        others = scores + offsets[:, None]
        others[c] = -np.inf
        # What the class needs to win each row: it wins as many as need less than it is given.
        needed = others.max(axis=0) - scores[c]
        rows = np.argsort(needed, kind="stable")
        won = (labels[rows] == c).astype(int) - (labels[rows] == others.argmax(axis=0)[rows])
        right = np.concatenate([[0], np.cumsum(won)])
        least, most = _allowed_counts(int(wanted[c]), n, balance)
        count = least + int(np.argmax(right[least : most + 1]))
        last = needed[rows[count - 1]]
        offsets[c] = 0.5 * (last + needed[rows[count]]) if count < n else last + 1.0
    return offsets


def _allowed_counts(wanted: int, n: int, balance: float) -> tuple[int, int]:
    """The fewest and the most of `n` rows that a class of `wanted` rows, and the rest, may have."""
    others = n - wanted
    least = math.ceil(max(balance * wanted, n - others / balance))
    most = math.floor(min(wanted / balance, n - balance * others))
    # Rounded shares must not shut out the exact count.
    return min(least, wanted), max(most, wanted)
