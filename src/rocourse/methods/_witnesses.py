"""Witnesses: models of shifted rows that say how likely a recourse is to be honoured later.

They take no part in training and no recourse was made to please them, so that their consent is
evidence and not a repetition.
"""

from collections.abc import Callable
from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.methods._inference import bound, in_blocks
from rocourse.methods._shifted_rows import USUAL_SHIFT, shift_rows
from rocourse.networks import Predictor, probabilities
from rocourse.schema import Layout, Rows
from rocourse.schema.constraints import expand

# Apart from the seeds of training and of a panel, which start from the model's own.
_STREAM = 0x57495433

Retrain = Callable[[Rows, np.ndarray, int], Predictor]


def train_witnesses(
    retrain: Retrain,
    rows: Rows,
    labels: np.ndarray,
    n_classes: int,
    layout: Layout,
    *,
    count: int,
    seed: int,
) -> list[Predictor]:
    """Models of the same kind, each of training rows that were shifted at random.

    Args:
        retrain: Trains a model anew, from rows, class indices and a seed.
        rows: The training rows.
        labels: Class indices, `[n]`.
        n_classes: How many classes there are.
        layout: Of the rows.
        count: How many witnesses.
        seed: Decides the shifts and the starts.
    """
    rng = np.random.default_rng([seed, _STREAM])
    witnesses = []
    for _ in range(count):
        shifted, shifted_labels = shift_rows(rows, labels, n_classes, layout, USUAL_SHIFT, rng)
        witnesses.append(retrain(shifted, shifted_labels, int(rng.integers(2**31))))
    return witnesses


def share_of_witnesses(
    witnesses: list[Predictor], rows: Rows, target: np.ndarray, layout: Layout
) -> np.ndarray:
    """The share of the witnesses that give each row its target class, float64 `[n]`."""
    bind = partial(bound, _votes, tuple(witnesses), layout)
    (votes,) = in_blocks(bind, rows.continuous, rows.categories, target.astype(np.int32))
    share: np.ndarray = votes / len(witnesses)
    return share


def _votes(
    witnesses: tuple[Predictor, ...],
    layout: Layout,
    continuous: Array,
    categories: Array,
    target: Array,
) -> tuple[Array]:
    """How many witnesses give each row its target, all asked in one call: `[n]`."""
    x = expand(continuous.T, categories.T, layout)
    verdicts = [jnp.argmax(probabilities(witness(x)), axis=0) for witness in witnesses]
    return (jnp.sum(jnp.stack(verdicts) == target, axis=0),)
