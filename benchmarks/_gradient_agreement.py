"""Whether the attacker's gradient, as it is compiled for training, is the one of plain autodiff."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from _loan_training import EPSILON, INNER_RATES, UNROLL, LoanTraining, loan_training
from jax import Array

from rocourse.attack import InnerOptimizer, inner_optimizer, look_ahead
from rocourse.models import compiled
from rocourse.models.training._batch import Batch, expand_rows
from rocourse.models.training._judge import mean_class_loss
from rocourse.models.training._objective import class_loss
from rocourse.networks import Predictor

# Where the library's own Adam keeps clear of the root of zero.
_EPSILON_IN_ROOT = 1e-12


Loss = Callable[..., Array]


class Arena(NamedTuple):
    """What the attack is given; rows are columns, `[width, n]`."""

    predictor: Predictor
    x: Array
    recourses: Array
    label: Array
    target: Array


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
    arena = _arena(loan_training(optimizer))
    start = EPSILON * np.random.default_rng(2).uniform(-1.0, 1.0, arena.x.shape)
    shifted = arena.x + jnp.asarray(start, jnp.float32)
    ours = compiled(_second_gradient)(
        arena, shifted, _column_losses, inner_optimizer(optimizer, INNER_RATES[optimizer])
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
    gradient = eqx.filter_jit(_second_gradient)(arena, shifted.T, _row_losses, textbook)
    return np.asarray(gradient).T


def _second_gradient(
    arena: Arena, shifted: Array, losses_of: Any, inner: optax.GradientTransformation
) -> Array:
    params, state = arena.predictor, inner.init(arena.predictor)
    for _ in range(2):
        params, state, gradient = look_ahead(
            *losses_of(arena), params, state, shifted, inner=inner, unroll=UNROLL
        )
    return gradient()


def _arena(training: LoanTraining) -> Arena:
    """The first batch, and recourses drawn between its rows and random ones."""
    batch: Batch = jax.tree.map(lambda part: part[0], training.batches)
    x = expand_rows(batch, training.constraints.layout)
    recourses = 0.5 * x + 0.5 * np.random.default_rng(1).random(x.shape, np.float32)
    return Arena(training.state.predictor, x, recourses, batch.label, 1 - batch.label)


def _column_losses(arena: Arena) -> tuple[Loss, Loss]:
    """What retraining minimises, and what the attacker maximises."""
    weight = jnp.ones(arena.label.shape, arena.x.dtype)

    def retrain_loss(predictor: Predictor, shifted: Array) -> Array:
        return mean_class_loss(predictor, shifted, arena.label, weight, "mse")

    def attack_loss(predictor: Predictor) -> Array:
        return mean_class_loss(predictor, arena.recourses, arena.target, weight, "mse")

    return retrain_loss, attack_loss


def _row_losses(arena: Arena) -> tuple[Loss, Loss]:
    """The same row by row, the rows first: `[n, width]`."""

    def mean_loss(predictor: Predictor, rows: Array, labels: Array) -> Array:
        def loss(row: Array, label: Array) -> Array:
            return class_loss(predictor(row), label, kind="mse")

        return jnp.mean(jax.vmap(loss)(rows, labels))

    def retrain_loss(predictor: Predictor, shifted: Array) -> Array:
        return mean_loss(predictor, shifted, arena.label)

    def attack_loss(predictor: Predictor) -> Array:
        return mean_loss(predictor, arena.recourses.T, arena.target)

    return retrain_loss, attack_loss


def _to_double(leaf: Array) -> Array:
    return leaf.astype(jnp.float64) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


def _difference(gradient: np.ndarray, reference: np.ndarray) -> float:
    return float(np.max(np.abs(gradient - reference)) / np.max(np.abs(reference)))
