"""Committees of networks of one shape, asked together."""

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array

from rocourse.networks import LEAK
from rocourse.recourse.search._edits import Numbers


def committee_logits(
    weights: Sequence[Numbers], biases: Sequence[Numbers], first_layer: Array, committees: int
) -> Array:
    """What committees say, each the mean of its networks: `[committees, logits, n]`.

    Args:
        weights: Of each layer after the first of all networks, `[networks, out, in]`.
        biases: `[networks, out]`.
        first_layer: Before its rectifier, `[networks, units, n]`.
        committees: How many; all have as many networks, side by side.
    """
    activity = first_layer
    for weight, bias in zip(weights, biases, strict=True):
        activity = jnp.maximum(activity, LEAK * activity)
        activity = jnp.einsum("moi,mib->mob", weight, activity) + bias[:, :, None]
    return jnp.mean(activity.reshape(committees, -1, *activity.shape[1:]), axis=1)
