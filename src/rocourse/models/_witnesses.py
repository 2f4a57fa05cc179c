"""Witnesses: models of shifted rows that say how likely a recourse is to be honoured later.

They take no part in training and no recourse was made to please them, so that their consent is
evidence and not a repetition.
"""

from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models._blocks import bound, in_blocks
from rocourse.models._cut_off import move_networks
from rocourse.models._shift import Shift, shift_rows
from rocourse.models.training import Trainer, TrainingRows
from rocourse.networks import Predictor, join, probabilities
from rocourse.schema import Layout, Rows
from rocourse.schema.constraints import expand

# Apart from the seeds of training and of a panel, which start from the model's own.
_STREAM = 0x57495433

# What a year may do to rows.
_USUAL = Shift()


def train_witnesses(
    trainer: Trainer, data: TrainingRows, *, count: int, seed: int, shift: Shift = _USUAL
) -> list[Predictor]:
    """Models of the same kind and cut-off, each of training rows that were shifted at random.

    Args:
        trainer: How the model was trained.
        data: The training rows.
        count: How many witnesses.
        seed: Decides the shifts and the starts.
        shift: How far rows may shift.
    """
    rng = np.random.default_rng([seed, _STREAM])
    witnesses = []
    for _ in range(count):
        shifted = shift_rows(data, shift, rng)
        witnesses.append(join(trainer.train(shifted, seed=int(rng.integers(2**31))).networks))
    return move_networks(witnesses, data.cut_off)


def share_of_witnesses(
    witnesses: list[Predictor], rows: Rows, target: np.ndarray, layout: Layout
) -> np.ndarray:
    """The share of the witnesses that give each row its target class, float64 `[n]`."""
    share: np.ndarray = votes_of_witnesses(witnesses, rows, target, layout).mean(axis=0)
    return share


def votes_of_witnesses(
    witnesses: list[Predictor], rows: Rows, target: np.ndarray, layout: Layout
) -> np.ndarray:
    """Which of the witnesses give each row its target class, bool `[witnesses, n]`."""
    bind = partial(bound, _votes, tuple(witnesses), layout)
    (votes,) = in_blocks(bind, rows.continuous, rows.categories, target.astype(np.int32))
    return np.asarray(votes).T


def _votes(
    witnesses: tuple[Predictor, ...],
    layout: Layout,
    continuous: Array,
    categories: Array,
    target: Array,
) -> tuple[Array]:
    """Which witnesses give each row its target, all asked in one call: `[n, witnesses]`."""
    x = expand(continuous.T, categories.T, layout)
    verdicts = [jnp.argmax(probabilities(witness(x)), axis=0) for witness in witnesses]
    return ((jnp.stack(verdicts) == target).T,)
