"""Whether the attacker's gradient, as it is compiled for training, is the one of plain autodiff."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from _attack_forms import Arena, column_losses, make_arena, reverse_over_reverse, row_losses
from _loan_training import EPSILON, INNER_RATES, loan_training
from jax import Array

from rocourse.attack import InnerOptimizer, inner_optimizer
from rocourse.methods._compilation import compiled

# Where the library's own Adam keeps clear of the root of zero.
_EPSILON_IN_ROOT = 1e-12


class Agreement(NamedTuple):
    """Largest differences between entries of two gradients, relative to the largest entry."""

    to_plain: float
    """Of the compiled gradient and that of plain autodiff row by row, both in float32."""
    plain_to_double: float
    """Of plain autodiff in float32 and in float64: what rounding alone does."""
    same_signs: float
    """In how many entries the first two have the same sign, which is all the attacker follows."""


def gradient_agreement(optimizer: InnerOptimizer) -> Agreement:
    """Compares the gradients of a second round: by then the optimiser's averages are not zero."""
    arena = make_arena(loan_training(optimizer))
    start = EPSILON * np.random.default_rng(2).uniform(-1.0, 1.0, arena.x.shape)
    shifted = arena.x + jnp.asarray(start, jnp.float32)
    ours = compiled(_second_gradient)(
        arena, shifted, column_losses, inner_optimizer(optimizer, INNER_RATES[optimizer])
    )
    plain = _plain_gradient(arena, shifted, optimizer)
    with jax.enable_x64(True):
        exact = _plain_gradient(*jax.tree.map(_to_double, (arena, shifted)), optimizer)
    return Agreement(
        to_plain=_difference(np.asarray(ours), plain),
        plain_to_double=_difference(plain, exact),
        same_signs=float(np.mean(np.sign(ours) == np.sign(plain))),
    )


def _plain_gradient(arena: Arena, shifted: Array, optimizer: InnerOptimizer) -> np.ndarray:
    rate = INNER_RATES[optimizer]
    textbook = (
        optax.sgd(rate)
        if optimizer == "sgd"
        else optax.adam(rate, eps=0.0, eps_root=_EPSILON_IN_ROOT)
    )
    gradient = eqx.filter_jit(_second_gradient)(arena, shifted.T, row_losses, textbook)
    return np.asarray(gradient).T


def _second_gradient(
    arena: Arena, shifted: Array, losses_of: Any, inner: optax.GradientTransformation
) -> Array:
    look = reverse_over_reverse(losses_of(arena), inner)
    params, state, _ = look(arena.predictor, inner.init(arena.predictor), shifted)
    _, _, gradient = look(params, state, shifted)
    return gradient()


def _to_double(leaf: Array) -> Array:
    return leaf.astype(jnp.float64) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


def _difference(gradient: np.ndarray, reference: np.ndarray) -> float:
    return float(np.max(np.abs(gradient - reference)) / np.max(np.abs(reference)))
