"""Virtual Data Shift against the recourses that a fitted model gives (the paper's Algorithm 1)."""

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jax import Array

from rocourse.attack import Attack, virtual_data_shift
from rocourse.errors import ConfigError
from rocourse.estimators import RecourseClassifier
from rocourse.models import has_network
from rocourse.networks import Predictor, probabilities
from rocourse.schema import one_hot

_BATCH_SIZE = 128


@dataclass(frozen=True)
class AttackScores:
    """What became of the recourses.

    Attributes:
        rows: How many recourses were attacked.
        validity: The share honoured by the model itself.
        robust_validity: The share honoured by the model that the attacker has retrained.
        accuracy: The share of the rows, as they are, that the model predicts right.
        attacked_accuracy: The same of the retrained model.
    """

    rows: int
    validity: float
    robust_validity: float
    accuracy: float
    attacked_accuracy: float


def attack_recourses(
    model: RecourseClassifier, X: pd.DataFrame, y: Any, attack: Attack, *, seed: int
) -> AttackScores:
    """Attacks the recourses of some rows, batch by batch as in training.

    The recourses are those that the model gives out, with whole categories, and stay as they are.

    Args:
        model: A model with a network of its own.
        X: Raw rows, which the virtual retraining shifts.
        y: Their labels.
        attack: The attacker.
        seed: Decides the attacker's starting shifts.
    """
    if not has_network(model.model_) or len(model.classes_) != 2:
        raise ConfigError(
            "An attack must have a model of two classes with a network of its own: got "
            f"{type(model).__name__} with {len(model.classes_)} classes; fit such a model."
        )
    predictor = model.model_.predictor
    recourse = model.recourse(X)
    layout = recourse.schema.layout
    columns = (
        one_hot(recourse.original_rows, layout).T,
        one_hot(recourse.attempts, layout).T,
        np.searchsorted(model.classes_, np.asarray(y)).astype(np.int32),
        np.searchsorted(model.classes_, recourse.desired).astype(np.int32),
    )
    # Radius and rate are arrays, so that other values of them compile nothing anew.
    radius, rate = np.asarray([attack.epsilon, attack.learning_rate], np.float32)[:, None]
    fixed = attack(epsilon=0.0, learning_rate=1.0)
    keys = jax.random.split(jax.random.key(seed), math.ceil(len(X) / _BATCH_SIZE))
    hits = np.zeros(4)
    for number, key in enumerate(keys):
        start = number * _BATCH_SIZE
        stop = min(start + _BATCH_SIZE, len(X))
        # The last batch is filled up with rows that weigh nothing: one shape is compiled.
        chosen = np.resize(np.arange(start, stop), _BATCH_SIZE)
        weight = (np.arange(_BATCH_SIZE) < stop - start).astype(np.float32)
        batch = (*(part[..., chosen] for part in columns), weight)
        hits += np.asarray(
            _count_hits(
                predictor, batch, radius, rate, fixed, model.trainer_.loss == "mse", key=key
            )
        )
    validity, robust, right, right_after = (float(count) / len(X) for count in hits)
    return AttackScores(len(X), validity, robust, right, right_after)


@eqx.filter_jit
def _count_hits(
    predictor: Predictor,
    batch: tuple[np.ndarray, ...],
    epsilon: Array,
    rate: Array,
    attack: Attack,
    squared: bool,
    *,
    key: Array,
) -> Array:
    """How many recourses and rows are given their class, before and after the attack, `[4]`."""
    x, recourses, labels, desired, weight = map(jnp.asarray, batch)
    weights, fixed = eqx.partition(predictor, eqx.is_array)

    def loss(moved: Predictor, rows: Array, wanted: Array) -> Array:
        share = probabilities(eqx.combine(moved, fixed)(rows))
        share = jnp.take_along_axis(share, wanted[None], axis=0)[0]
        # Of two classes, both are off by the same amount.
        off = jnp.square(1.0 - share) if squared else -jnp.log(jnp.maximum(share, 1e-7))
        return jnp.sum(weight * off) / jnp.sum(weight)

    shift = virtual_data_shift(
        lambda moved, shifted: loss(moved, shifted, labels),
        lambda moved: loss(moved, recourses, desired),
        weights,
        x,
        key=key,
        epsilon=epsilon[0],
        steps=attack.steps,
        unroll=attack.unroll,
        rate=rate[0],
        optimizer=attack.optimizer,
        norm=attack.norm,
        axis=0,
        last_ascent=False,
    )
    shifted: Predictor = eqx.combine(shift.params, fixed)

    def hits(judge: Predictor, rows: Array, wanted: Array) -> Array:
        chosen = jnp.argmax(probabilities(judge(rows)), axis=0)
        return jnp.sum(weight * (chosen == wanted))

    return jnp.stack(
        [
            hits(predictor, recourses, desired),
            hits(shifted, recourses, desired),
            hits(predictor, x, labels),
            hits(shifted, x, labels),
        ]
    )
