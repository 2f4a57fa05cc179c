"""Virtual Data Shift (the paper's Algorithm 1), over callables and pytrees."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import jax
import jax.numpy as jnp
import optax
from jax import Array

from rocourse.attack._adam import adam
from rocourse.attack._projections import Norm, ascend, project

Params = TypeVar("Params")
InnerOptimizer = Literal["sgd", "adam"]
Attacker = Literal["worst", "random"]
INNER_OPTIMIZERS: tuple[InnerOptimizer, ...] = get_args(InnerOptimizer)
ATTACKERS: tuple[Attacker, ...] = get_args(Attacker)

_Carry = tuple[Any, optax.OptState, Array]


class Shifted(NamedTuple):
    """What the attacker found."""

    params: object
    """The weights θ' retrained on the shifted rows, of the structure of the weights given."""
    delta: Array
    """The data shift δ, of the shape of the rows given."""


def virtual_data_shift(
    retrain_loss: Callable[[Params, Array], Array],
    attack_loss: Callable[[Params], Array],
    params: Params,
    x: Array,
    *,
    key: Array,
    epsilon: Array | float,
    steps: int = 7,
    unroll: int = 2,
    rate: Array | float = 0.03,
    step_size: Array | float | None = None,
    optimizer: InnerOptimizer = "sgd",
    norm: Norm = "linf",
    attacker: Attacker = "worst",
    axis: int = -1,
    last_ascent: bool = True,
) -> Shifted:
    """Finds a data shift within ε whose retrained model breaks as many recourses as it can.

    Each of the `steps` rounds takes `unroll` optimiser steps of θ' on the shifted rows (lines 5–7),
    then moves δ up the gradient of the attack loss *through* those steps, and projects it (lines
    8–9). θ' and the optimiser's state carry over from round to round; the gradient sees the current
    round only. The weights given are never changed: what is returned is a new pytree.

    Which weights the attacker may move is the caller's choice of `params`: the whole predictor, or
    its head alone with the encoder inside the closures.

    Args:
        retrain_loss: `(params, shifted_x) -> scalar`, the loss that retraining minimises,
            L(f(x + δ; θ'), y).
        attack_loss: `params -> scalar`, the loss that the attacker maximises,
            L(f(x_cf; θ'), target), with recourses and targets held fixed.
        params: A pytree of floating-point arrays, θ.
        x: The rows, `[n, width]`, or as columns `[width, n]` with `axis=0`.
        key: The PRNG key for the starting shift (and for the redraws of the random attacker).
        epsilon: The radius of the ball each row's shift lies in. May be traced.
        steps: T, the number of attacker steps.
        unroll: K, the number of optimiser steps in each.
        rate: η, the learning rate of the inner optimiser. May be traced.
        step_size: α, how far δ moves in one step; 2.5·ε/T if None.
        optimizer: `sgd` is Algorithm 1 to the letter; `adam` attacks far harder at the same η.
        norm: `linf` (sign steps) or `l2` (normalised steps), per row.
        attacker: `worst` ascends; `random` redraws δ uniformly in each step.
        axis: The axis of `x` that the features of one row lie along.
        last_ascent: Whether δ moves in the last round too. θ' does not depend on it: who wants θ'
            alone can do without, and saves most of a round.

    Returns:
        The retrained weights θ' and the shift δ.
    """
    if step_size is None:
        step_size = 2.5 * epsilon / steps
    inner = inner_optimizer(optimizer, rate)
    start_key, redraw_key = jax.random.split(key)

    def draw(draw_key: Array) -> Array:
        uniform = jax.random.uniform(draw_key, x.shape, x.dtype, -1.0, 1.0)
        return project(epsilon * uniform, epsilon, norm=norm, axis=axis)

    def ascent_round(carry: _Carry, ascends: Array) -> tuple[_Carry, None]:
        weights, state, delta = carry
        weights, state, gradient = look_ahead(
            retrain_loss, attack_loss, weights, state, x + delta, inner=inner, unroll=unroll
        )

        def ascended() -> Array:
            moved = ascend(delta, gradient(), step_size, norm=norm, axis=axis)
            return project(moved, epsilon, norm=norm, axis=axis)

        if last_ascent:
            return (weights, state, ascended()), None
        return (weights, state, jax.lax.cond(ascends, ascended, lambda: delta)), None

    def random_round(carry: _Carry, round_key: Array) -> tuple[_Carry, None]:
        weights, state, _ = carry
        delta = draw(round_key)
        weights, state = retrain(
            retrain_loss, weights, state, x + delta, inner=inner, unroll=unroll
        )
        return (weights, state, delta), None

    start = (params, inner.init(params), draw(start_key))
    if attacker == "worst":
        (weights, _, delta), _ = jax.lax.scan(ascent_round, start, jnp.arange(steps) < steps - 1)
    else:
        round_keys = jax.random.split(redraw_key, steps)
        (weights, _, delta), _ = jax.lax.scan(random_round, start, round_keys)
    return Shifted(weights, jnp.asarray(delta))


def inner_optimizer(name: InnerOptimizer, rate: Array | float) -> optax.GradientTransformation:
    """The optimiser of the virtual retraining, safe to differentiate through."""
    if name == "sgd":
        return optax.sgd(rate)
    # Flattened: one update of one long vector compiles several times faster than one a layer.
    return optax.flatten(adam(rate))


def retrain(
    retrain_loss: Callable[[Params, Array], Array],
    params: Params,
    state: optax.OptState,
    shifted_x: Array,
    *,
    inner: optax.GradientTransformation,
    unroll: int,
) -> tuple[Params, optax.OptState]:
    """Takes `unroll` optimiser steps on the shifted rows (Algorithm 1, lines 5–7)."""
    for _ in range(unroll):
        gradient = jax.grad(retrain_loss)(params, shifted_x)
        updates, state = inner.update(gradient, state)
        params = optax.apply_updates(params, updates)
    return params, state


def look_ahead(
    retrain_loss: Callable[[Params, Array], Array],
    attack_loss: Callable[[Params], Array],
    params: Params,
    state: optax.OptState,
    shifted_x: Array,
    *,
    inner: optax.GradientTransformation,
    unroll: int,
) -> tuple[Params, optax.OptState, Callable[[], Array]]:
    """What retraining on the shifted rows leads to, and the gradient of the attack loss after it.

    The gradient is that by `shifted_x`, through all steps of the retraining (Algorithm 1, line 8).
    It is a function, so that who does not need it does not pay for it.
    """

    def retrained(rows: Array) -> tuple[Params, optax.OptState]:
        return retrain(retrain_loss, params, state, rows, inner=inner, unroll=unroll)

    new_params, back_to_rows, new_state = jax.vjp(retrained, shifted_x, has_aux=True)

    def gradient() -> Array:
        (by_rows,) = back_to_rows(jax.grad(attack_loss)(new_params))
        return jnp.asarray(by_rows)

    return new_params, new_state, gradient
