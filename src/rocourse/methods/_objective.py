"""The losses L1, L2 and L3, for one row, and their weighted mean over a batch."""

import jax
import jax.numpy as jnp
from jax import Array

from rocourse.methods._config import Loss, ProximityLoss
from rocourse.networks import probabilities


def class_loss(logits: Array, label: Array, *, kind: Loss) -> Array:
    """L(f(x; θ), y) of one row: how far its logits are from the class `label`."""
    if kind == "mse":
        predicted = probabilities(logits)
        return jnp.mean(jnp.square(predicted - jax.nn.one_hot(label, predicted.shape[-1])))
    if logits.shape[-1] == 1:
        logits = jnp.concatenate([jnp.zeros_like(logits), logits])
    return -jax.nn.log_softmax(logits)[label]


def proximity_loss(x: Array, recourse: Array, *, kind: ProximityLoss) -> Array:
    """L(x, x_cf) of one row, the mean over encoded features (L3)."""
    difference = recourse - x
    return jnp.mean(jnp.square(difference) if kind == "mse" else jnp.abs(difference))


def weighted_mean(values: Array, weights: Array) -> Array:
    """Mean over the rows of a batch; rows that only fill it up weigh nothing."""
    return jnp.sum(values * weights) / jnp.maximum(jnp.sum(weights), 1.0)
