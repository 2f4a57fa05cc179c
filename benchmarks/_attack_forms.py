"""The attack on one batch in several arrangements, all of which find the same shift."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from _loan_training import EPSILON, INNER_RATES, STEPS, UNROLL, LoanTraining
from jax import Array, lax

from rocourse.attack import InnerOptimizer, Shift, look_ahead, virtual_data_shift
from rocourse.attack._shift import retrain
from rocourse.methods._batch import Batch, expand_rows
from rocourse.methods._judge import mean_class_loss
from rocourse.methods._objective import class_loss
from rocourse.networks import Predictor

STEP_SIZE = 2.5 * EPSILON / STEPS

Loss = Callable[..., Array]
# From weights, optimiser and shifted rows to retrained weights, optimiser, and a function for the
# attacker's gradient.
Look = Callable[[Any, optax.OptState, Array], tuple[Any, optax.OptState, Callable[[], Array]]]
_Carry = tuple[Any, optax.OptState, Array]


class Arena(NamedTuple):
    """What the attack is given; rows are columns, `[width, n]`."""

    predictor: Predictor
    x: Array
    recourses: Array
    label: Array
    target: Array
    categories: Array
    """The rows' categories as indices, `[n_groups, n]`."""


def make_arena(training: LoanTraining) -> Arena:
    """The first batch, and recourses drawn between its rows and random ones."""
    batch: Batch = jax.tree.map(lambda part: part[0], training.batches)
    x = expand_rows(batch, training.constraints.layout)
    recourses = 0.5 * x + 0.5 * np.random.default_rng(1).random(x.shape, np.float32)
    return Arena(
        training.state.predictor, x, recourses, batch.label, 1 - batch.label, batch.categories.T
    )


def column_losses(arena: Arena) -> tuple[Loss, Loss]:
    """What retraining minimises, and what the attacker maximises."""
    weight = jnp.ones(arena.label.shape, arena.x.dtype)

    def retrain_loss(predictor: Predictor, shifted: Array) -> Array:
        return mean_class_loss(predictor, shifted, arena.label, weight, "mse")

    def attack_loss(predictor: Predictor) -> Array:
        return mean_class_loss(predictor, arena.recourses, arena.target, weight, "mse")

    return retrain_loss, attack_loss


def row_losses(arena: Arena) -> tuple[Loss, Loss]:
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


def library_attack(
    arena: Arena, optimizer: InnerOptimizer, *, key: Array, last_ascent: bool = False
) -> Shift:
    """As the library attacks in training."""
    return virtual_data_shift(
        *column_losses(arena),
        arena.predictor,
        arena.x,
        key=key,
        epsilon=EPSILON,
        steps=STEPS,
        unroll=UNROLL,
        rate=INNER_RATES[optimizer],
        optimizer=optimizer,
        axis=0,
        last_ascent=last_ascent,
    )


def draw_start(x: Array, *, key: Array) -> Array:
    """The random shift that the library starts from."""
    start_key, _ = jax.random.split(key)
    return EPSILON * jax.random.uniform(start_key, x.shape, x.dtype, -1.0, 1.0)


def in_rounds(
    look: Look,
    params: Any,
    inner: optax.GradientTransformation,
    x: Array,
    delta: Array,
    *,
    unrolled: bool = False,
) -> Shift:
    """The library's loop around another way to look ahead."""

    def one_round(carry: _Carry, ascends: Array) -> tuple[_Carry, None]:
        params, state, delta = carry
        params, state, gradient = look(params, state, x + delta)
        delta = lax.cond(ascends, lambda: ascend(delta, gradient()), lambda: delta)
        return (params, state, delta), None

    (params, _, delta), _ = lax.scan(
        one_round,
        (params, inner.init(params), delta),
        jnp.arange(STEPS) < STEPS - 1,
        unroll=STEPS if unrolled else 1,
    )
    return Shift(params, delta)


def last_round_apart(
    losses: tuple[Loss, Loss], inner: optax.GradientTransformation, arena: Arena, delta: Array
) -> Shift:
    """The library's rounds in a loop that always ascends, then the retraining of the last one."""

    def one_round(carry: _Carry, _: None) -> tuple[_Carry, None]:
        params, state, delta = carry
        look = reverse_over_reverse(losses, inner)
        params, state, gradient = look(params, state, arena.x + delta)
        return (params, state, ascend(delta, gradient())), None

    start = (arena.predictor, inner.init(arena.predictor), delta)
    (params, state, delta), _ = lax.scan(one_round, start, None, length=STEPS - 1)
    params, _ = retrain(losses[0], params, state, arena.x + delta, inner=inner, unroll=UNROLL)
    return Shift(params, delta)


def ascend(delta: Array, gradient: Array) -> Array:
    """The attacker's step."""
    return jnp.clip(delta + STEP_SIZE * jnp.sign(gradient), -EPSILON, EPSILON)


def reverse_over_reverse(losses: tuple[Loss, Loss], inner: optax.GradientTransformation) -> Look:
    """The library's way: back through the steps, of which each went back through the network."""
    return partial(look_ahead, *losses, inner=inner, unroll=UNROLL)


def forward_over_reverse(losses: tuple[Loss, Loss], inner: optax.GradientTransformation) -> Look:
    """Back through the steps by the derivative of their gradients along a direction.

    What θ' and δ owe to a step is a second derivative of its loss times the direction that comes
    back through the optimiser; taken forward it needs no second tape.
    """
    retrain_loss, attack_loss = losses

    def look(params: Any, state: Any, shifted: Array) -> tuple[Any, Any, Callable[[], Array]]:
        def gradients(weights: Any) -> tuple[Any, Array]:
            return jax.grad(retrain_loss, (0, 1))(weights, shifted)

        tape = []
        for _ in range(UNROLL):
            (gradient, _), along = jax.linearize(gradients, params)
            (updates, state), back = jax.vjp(inner.update, gradient, state)
            tape.append((along, back))
            params = optax.apply_updates(params, updates)

        def by_shift() -> Array:
            by_params, by_state = jax.grad(attack_loss)(params), no_cotangent(state)
            total = jnp.zeros_like(shifted)
            for along, back in reversed(tape):
                direction, by_state = back((by_params, by_state))
                hessian, mixed = along(direction)
                by_params = jax.tree.map(jnp.add, by_params, hessian)
                total += mixed
            return total

        return params, state, by_shift

    return look


def no_cotangent(state: optax.OptState) -> Any:
    """Zeros for what the attack loss does not depend on."""

    def zeros(leaf: Array) -> Any:
        if eqx.is_inexact_array(leaf):
            return jnp.zeros_like(leaf)
        return np.zeros(leaf.shape, jax.dtypes.float0)

    return jax.tree.map(zeros, state)
