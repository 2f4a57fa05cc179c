"""The losses L1, L2 and L3, for one row, and their weighted mean over a batch."""

import jax
import jax.numpy as jnp
from jax import Array

from rocourse.models.training._plan import ProximityLoss, ValidityLoss
from rocourse.networks import probabilities

# By how much the desired class must lead the runner-up for the hinge to vanish (Mahajan et al.).
_HINGE_MARGIN = 0.165


def class_loss(logits: Array, label: Array, *, kind: ValidityLoss) -> Array:
    """L(f(x; θ), y) of one row: how far its logits are from the class `label`."""
    predicted = probabilities(logits)
    one_hot = jax.nn.one_hot(label, predicted.shape[-1])
    if kind == "mse":
        return jnp.mean(jnp.square(predicted - one_hot))
    if kind == "hinge":
        runner_up = jnp.max(jnp.where(one_hot > 0.5, -1.0, predicted))
        return jax.nn.relu(runner_up - predicted[label] + _HINGE_MARGIN)
    if logits.shape[-1] == 1:
        logits = jnp.concatenate([jnp.zeros_like(logits), logits])
    return -jax.nn.log_softmax(logits)[label]


def class_losses(logits: Array, labels: Array, *, kind: ValidityLoss) -> Array:
    """`class_loss` of many rows, `[n]`, from their logits as columns, `[n_logits, n]`."""
    return jax.vmap(lambda row, label: class_loss(row, label, kind=kind), in_axes=(1, 0))(
        logits, labels
    )


def proximity_loss(x: Array, recourse: Array, *, kind: ProximityLoss) -> Array:
    """L(x, x_cf) of one row, or of each column (L3): the mean, or the sum, over features."""
    difference = recourse - x
    if kind == "l1_sum":
        return jnp.sum(jnp.abs(difference), axis=0)
    return jnp.mean(jnp.square(difference) if kind == "mse" else jnp.abs(difference), axis=0)


def weighted_mean(values: Array, weights: Array) -> Array:
    """Mean over the rows of a batch; rows that only fill it up weigh nothing."""
    return jnp.sum(values * weights) / jnp.maximum(jnp.sum(weights), 1.0)
