"""The differentiable Adam against Optax's, in values and in derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rocourse.attack import inner_optimizer

RATE, EPSILON_IN_ROOT = 0.03, 1e-12


@pytest.fixture
def gradients():
    rng = np.random.default_rng(0)
    # From everyday gradients down to where the epsilon begins to matter, and zero.
    scale = np.array([1.0, 1e-2, 1e-4, 0.0])
    return [jnp.asarray(rng.normal(size=(5, 4)) * scale) for _ in range(3)]


def position_after(optimizer, gradients):
    """Where three steps lead to, as a function of what their gradients are multiplied by."""

    def position(factors):
        params = {"weights": jnp.zeros((5, 4), factors.dtype)}
        state = optimizer.init(params)
        for factor, gradient in zip(factors, gradients, strict=True):
            updates, state = optimizer.update({"weights": factor * gradient}, state)
            params = optax.apply_updates(params, updates)
        return params["weights"]

    return position


def test_steps_and_their_derivatives_are_those_of_optax(gradients):
    with jax.enable_x64(True):
        gradients = [gradient.astype(jnp.float64) for gradient in gradients]
        ours = position_after(inner_optimizer("adam", RATE), gradients)
        reference = optax.adam(RATE, eps=0.0, eps_root=EPSILON_IN_ROOT)
        theirs = position_after(reference, gradients)
        factors = jnp.asarray([1.0, 0.5, 2.0], jnp.float64)
        np.testing.assert_allclose(ours(factors), theirs(factors), rtol=1e-9, atol=1e-15)
        for derivative in (jax.jacfwd, jax.jacrev):
            np.testing.assert_allclose(
                derivative(ours)(factors), derivative(theirs)(factors), rtol=1e-7, atol=1e-12
            )
