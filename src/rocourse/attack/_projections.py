"""Steepest-ascent steps and projections for the balls a data shift may lie in, per row.

`axis` is the axis that the features of one row lie along.
"""

from typing import Literal, get_args

import jax.numpy as jnp
from jax import Array

Norm = Literal["linf", "l2"]
NORMS: tuple[Norm, ...] = get_args(Norm)

# Below this length a gradient row has no direction worth following; dividing by it would only
# amplify rounding.
_SMALLEST_LENGTH = 1e-12


def ascend(
    delta: Array, gradient: Array, step_size: Array | float, *, norm: Norm, axis: int = -1
) -> Array:
    """Moves each row of `delta` by `step_size` in the direction of steepest ascent under `norm`."""
    if norm == "linf":
        return delta + step_size * jnp.sign(gradient)
    length = _length(gradient, axis)
    return delta + step_size * gradient / jnp.maximum(length, _SMALLEST_LENGTH)


def project(delta: Array, radius: Array | float, *, norm: Norm, axis: int = -1) -> Array:
    """Returns the nearest point to each row of `delta` in the ball of `radius` under `norm`."""
    if norm == "linf":
        return jnp.clip(delta, -radius, radius)
    length = _length(delta, axis)
    return delta * jnp.minimum(1.0, radius / jnp.maximum(length, _SMALLEST_LENGTH))


def _length(rows: Array, axis: int) -> Array:
    return jnp.sqrt(jnp.sum(jnp.square(rows), axis=axis, keepdims=True))
