"""Committees of networks of one shape, asked together."""

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array

from rocourse.networks import LEAK
from rocourse.recourse.search._edits import Numbers


def committee_scores(
    weights: Sequence[Numbers], biases: Sequence[Numbers], first_layer: Array, committees: int
) -> Array:
    """The class scores of committees, each the mean of its networks': `[committees, classes, n]`.

    Args:
        weights: Of each layer of all networks, `[networks, out, in]`.
        biases: `[networks, out]`.
        first_layer: Before its rectifier, `[networks, units, n]`.
        committees: How many; all have as many networks, side by side.
    """
    activity = first_layer
    for weight, bias in zip(weights[1:], biases[1:], strict=True):
        activity = jnp.maximum(activity, LEAK * activity)
        activity = jnp.einsum("moi,mib->mob", weight, activity) + bias[:, :, None]
    scores = jnp.mean(activity.reshape(committees, -1, *activity.shape[1:]), axis=1)
    if scores.shape[1] == 1:
        # A single logit stands for two classes.
        scores = jnp.concatenate([jnp.zeros_like(scores), scores], axis=1)
    return scores
