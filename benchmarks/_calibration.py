"""How fast this processor multiplies matrices of float32, through the XLA that trains."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from rocourse.models._compilation import OPTIONS

# Large enough for XLA to reach what it can, small enough for a call to be short.
SQUARE_SIDE = 1024
_LAYER_REPEATS = 24


class Work(NamedTuple):
    """Something to time, and what it computes."""

    run: Callable[[], object]
    flops: float


def square_product() -> Work:
    """One product of two large square matrices."""
    left, right = _draw((SQUARE_SIDE, SQUARE_SIDE)), _draw((SQUARE_SIDE, SQUARE_SIDE))
    multiply = jax.jit(jnp.matmul, compiler_options=OPTIONS)
    return Work(lambda: multiply(left, right), 2.0 * SQUARE_SIDE**3)


def layer_products(width: int, hidden: int, rows: int, *, unroll: int) -> Work:
    """The first layer's products in one attacker round, each in its own form and nothing between.

    Of the 6K + 1 passes (see `_flops`), 2K + 1 multiply weights with rows, 2K make a gradient, and
    2K take errors back to the rows.
    """
    weights, rows_in, errors = _draw((hidden, width)), _draw((width, rows)), _draw((hidden, rows))

    def one_round(_: int, operands: tuple[Array, ...]) -> tuple[Array, ...]:
        for _ in range(2 * unroll + 1):
            operands = _keep(operands, lambda w, x, e: w @ x)
        for _ in range(2 * unroll):
            operands = _keep(operands, lambda w, x, e: e @ x.T)
            operands = _keep(operands, lambda w, x, e: w.T @ e)
        return operands

    def repeat(*operands: Array) -> tuple[Array, ...]:
        return lax.fori_loop(0, _LAYER_REPEATS, one_round, operands)

    compiled = jax.jit(repeat, compiler_options=OPTIONS)
    passes = _LAYER_REPEATS * (6 * unroll + 1)
    return Work(lambda: compiled(weights, rows_in, errors), 2.0 * passes * weights.size * rows)


def _keep(
    operands: tuple[Array, ...], product: Callable[[Array, Array, Array], Array]
) -> tuple[Array, ...]:
    # One number of each product goes into the next one's operands: else XLA would drop what nobody
    # uses, and make once what does not change.
    weights, rows, errors = operands
    made = lax.optimization_barrier(product(weights, rows, errors))[0, 0]
    nothing = 0.0 * made
    return weights.at[0, 0].add(nothing), rows.at[0, 0].add(nothing), errors.at[0, 0].add(nothing)


def _draw(shape: tuple[int, int]) -> Array:
    return jnp.asarray(np.random.default_rng(0).standard_normal(shape, np.float32))
