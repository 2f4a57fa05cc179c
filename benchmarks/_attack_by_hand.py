"""A round of the attack with every product written out, as counted in `_flops`."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from _attack_forms import Arena, Look, no_cotangent
from _attack_layers import SLOPE, Layers
from _loan_training import UNROLL
from jax import Array

from rocourse.methods._objective import class_losses


def by_hand(
    arena: Arena,
    inner: optax.GradientTransformation,
    *,
    merge_back: bool = False,
    merge_shift: bool = False,
) -> Look:
    """Forward over reverse, with autodiff for the loss by the logits and for the optimiser only.

    Args:
        arena: What the attack is given.
        inner: The optimiser of the retraining.
        merge_back: Vᵀ e + Wᵀ Re of the later layers as one product of stacked matrices.
        merge_shift: The same for the gradient by the shift, of all steps in one product.
    """

    def look(params: Layers, state: Any, shifted: Array) -> tuple[Layers, Any, Any]:
        tape = []
        for _ in range(UNROLL):
            inputs, logits = _forward(params, shifted)
            error, curvature = jax.linearize(_error_of(arena.label), logits)
            errors = _back(params, inputs, error)
            (updates, state), back = jax.vjp(inner.update, _gradients(inputs, errors), state)
            tape.append((params, inputs, errors, curvature, back))
            params = optax.apply_updates(params, updates)

        def by_shift() -> Array:
            inputs, logits = _forward(params, arena.recourses)
            errors = _back(params, inputs, _error_of(arena.target)(logits))
            by_params, by_state = _gradients(inputs, errors), no_cotangent(state)
            lefts: list[Array] = []
            rights: list[Array] = []
            for step in reversed(range(UNROLL)):
                before, inputs, errors, curvature, back = tape[step]
                direction, by_state = back((by_params, by_state))
                moved, moved_logits = _forward_along(before, direction, inputs)
                moved_errors = _back_along(
                    before, direction, inputs, errors, curvature(moved_logits), merge=merge_back
                )
                lefts += [direction[0][0], before[0][0]]
                rights += [errors[0], moved_errors[0]]
                if step > 0:
                    hessian = _gradients_along(inputs, moved, errors, moved_errors)
                    by_params = jax.tree.map(jnp.add, by_params, hessian)
            return _sum_of_products(lefts, rights, merge=merge_shift)

        return params, state, by_shift

    return look


def _error_of(label: Array) -> Any:
    """The derivative of the mean loss by the logits, `[1, n]`."""
    return jax.grad(lambda logits: jnp.mean(class_losses(logits, label, kind="mse")))


def _slopes(outputs: Array) -> Array:
    return jnp.where(outputs > 0.0, 1.0, SLOPE)


def _forward(params: Layers, x: Array) -> tuple[list[Array], Array]:
    """The input of each layer, and the logits."""
    inputs = [x]
    for weight, bias in params[:-1]:
        inputs.append(jax.nn.leaky_relu(weight @ inputs[-1] + bias[:, None], SLOPE))
    weight, bias = params[-1]
    return inputs, weight @ inputs[-1] + bias[:, None]


def _back(params: Layers, inputs: list[Array], error: Array) -> list[Array]:
    """The loss's derivative by each layer's output, from that by the last one's."""
    errors = [error]
    for (weight, _), below in zip(params[:0:-1], inputs[:0:-1], strict=True):
        errors.insert(0, _slopes(below) * (weight.T @ errors[0]))
    return errors


def _gradients(inputs: list[Array], errors: list[Array]) -> Layers:
    return [(e @ a.T, jnp.sum(e, axis=1)) for a, e in zip(inputs, errors, strict=True)]


def _forward_along(
    params: Layers, direction: Layers, inputs: list[Array]
) -> tuple[list[Array], Array]:
    """How the later layers' inputs, and the logits, move along the direction."""
    moved: list[Array] = []
    for i, (along, bias) in enumerate(direction):
        change = along @ inputs[i] + bias[:, None]
        if i > 0:
            change += params[i][0] @ moved[-1]
        moved.append(_slopes(inputs[i + 1]) * change if i + 1 < len(inputs) else change)
    return moved[:-1], moved[-1]


def _back_along(
    params: Layers,
    direction: Layers,
    inputs: list[Array],
    errors: list[Array],
    moved_error: Array,
    *,
    merge: bool,
) -> list[Array]:
    """How the layers' errors move along the direction."""
    moved = [moved_error]
    for i in range(len(params) - 1, 0, -1):
        lefts, rights = [direction[i][0], params[i][0]], [errors[i], moved[0]]
        moved.insert(0, _slopes(inputs[i]) * _sum_of_products(lefts, rights, merge=merge))
    return moved


def _gradients_along(
    inputs: list[Array], moved: list[Array], errors: list[Array], moved_errors: list[Array]
) -> Layers:
    """How the gradients move along the direction: the Hessian's product with it."""
    changes = _gradients(inputs, moved_errors)
    for i, moved_input in enumerate(moved, start=1):
        weight, bias = changes[i]
        changes[i] = (weight + errors[i] @ moved_input.T, bias)
    return changes


def _sum_of_products(lefts: list[Array], rights: list[Array], *, merge: bool) -> Array:
    """The sum of all Aᵀ B, as one product of stacked matrices if merged."""
    if merge:
        return jnp.concatenate(lefts).T @ jnp.concatenate(rights)
    first, *rest = (left.T @ right for left, right in zip(lefts, rights, strict=True))
    return sum(rest, start=first)
