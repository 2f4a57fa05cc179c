"""Steepest-ascent steps and projections for the balls a data shift may lie in, per row."""

from typing import Literal, get_args

import jax.numpy as jnp
from jax import Array

Norm = Literal["linf", "l2"]
NORMS: tuple[Norm, ...] = get_args(Norm)

# Below this length a gradient row has no direction worth following; dividing by it would only
# amplify rounding.
_SMALLEST_LENGTH = 1e-12


def ascend(delta: Array, gradient: Array, step_size: Array | float, *, norm: Norm) -> Array:
    """Moves each row of `delta` by `step_size` in the direction of steepest ascent under `norm`."""
    if norm == "linf":
        return delta + step_size * jnp.sign(gradient)
    length = _length(gradient)
    return delta + step_size * gradient / jnp.maximum(length, _SMALLEST_LENGTH)


def project(delta: Array, radius: Array | float, *, norm: Norm) -> Array:
    """Returns the nearest point to each row of `delta` in the ball of `radius` under `norm`."""
    if norm == "linf":
        return jnp.clip(delta, -radius, radius)
    length = _length(delta)
    return delta * jnp.minimum(1.0, radius / jnp.maximum(length, _SMALLEST_LENGTH))


def _length(rows: Array) -> Array:
    return jnp.sqrt(jnp.sum(jnp.square(rows), axis=-1, keepdims=True))
