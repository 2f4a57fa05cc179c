"""Adam in a form that is cheap, and safe, to differentiate through."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

_DECAY, _SQUARE_DECAY = 0.9, 0.999
# Added to the second moment, under the root, in place of Adam's 1e-8 beside it: the root's
# derivative is infinite at zero, and a weight with a zero gradient would turn the gradient through
# the unrolled steps into NaN. It damps gradients of about 1e-6 and below.
_EPSILON_IN_ROOT = 1e-12


class AdamState(NamedTuple):
    """How many steps were taken, and the moving averages of the gradient and of its square."""

    steps: Array
    mean: Array
    square: Array


def adam(rate: Array | float) -> optax.GradientTransformation:
    """Adam on one vector; `optax.flatten` makes one of a pytree."""

    def init(params: Array) -> AdamState:
        return AdamState(jnp.zeros((), jnp.int32), jnp.zeros_like(params), jnp.zeros_like(params))

    def update(
        gradient: Array, state: AdamState, params: Array | None = None
    ) -> tuple[Array, AdamState]:
        steps = state.steps + 1
        mean = _DECAY * state.mean + (1.0 - _DECAY) * gradient
        square = _SQUARE_DECAY * state.square + (1.0 - _SQUARE_DECAY) * jnp.square(gradient)
        scale = -rate / (1.0 - _DECAY ** steps.astype(mean.dtype))
        square_scale = 1.0 / (1.0 - _SQUARE_DECAY ** steps.astype(mean.dtype))
        step = scale * (mean * _inverse_root(square_scale * square + _EPSILON_IN_ROOT))
        return step, AdamState(steps, mean, square)

    return optax.GradientTransformation(init, update)


@jax.custom_jvp
def _inverse_root(x: Array) -> Array:
    return 1.0 / jnp.sqrt(x)


@_inverse_root.defjvp
def _inverse_root_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    # In terms of the result: products alone, where the usual rule divides once more. Divisions are
    # most of what the unrolled optimiser costs.
    (x,), (moved,) = primals, tangents
    root = _inverse_root(x)
    return root, -0.5 * root * root * root * moved
