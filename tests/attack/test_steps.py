"""Steps and projections against their definitions, the differentiable Adam against Optax's."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.versions import enable_x64

from rocourse.attack import inner_optimizer
from rocourse.attack._projections import ascend, project

RATE, EPSILON_IN_ROOT = 0.03, 1e-12

rows = hnp.arrays(np.float32, (3, 4), elements=st.floats(-2, 2, width=32, allow_subnormal=False))
radii = st.floats(0.0, 1.0, width=32)


@pytest.mark.parametrize(("norm", "order"), [("linf", np.inf), ("l2", 2)])
@settings(max_examples=50, deadline=None)
@given(delta=rows, radius=radii)
def test_projection_lies_in_the_ball_and_keeps_what_was_inside(norm, order, delta, radius):
    projected = np.asarray(project(jnp.asarray(delta), radius, norm=norm))
    assert (np.linalg.norm(projected, order, axis=1) <= radius * (1 + 1e-5) + 1e-7).all()
    inside = np.linalg.norm(delta, order, axis=1) <= radius * (1 - 1e-5)
    np.testing.assert_allclose(projected[inside], delta[inside], rtol=1e-6, atol=1e-7)


def test_projection_on_the_l2_ball_is_the_nearest_point():
    projected = project(jnp.array([[3.0, 4.0]]), 1.0, norm="l2")
    np.testing.assert_allclose(projected, [[0.6, 0.8]], rtol=1e-6)


def test_projection_on_the_linf_ball_clips_each_coordinate():
    projected = project(jnp.array([[3.0, -0.5]]), 1.0, norm="linf")
    np.testing.assert_allclose(projected, [[1.0, -0.5]])


def test_linf_step_moves_every_coordinate_by_the_step_size():
    moved = ascend(jnp.zeros((1, 3)), jnp.array([[5.0, -0.1, 0.0]]), 0.2, norm="linf")
    np.testing.assert_allclose(moved, [[0.2, -0.2, 0.0]], rtol=1e-6)


def test_l2_step_has_the_length_of_the_step_size_and_the_gradients_direction():
    moved = ascend(jnp.zeros((1, 2)), jnp.array([[30.0, 40.0]]), 0.5, norm="l2")
    np.testing.assert_allclose(moved, [[0.3, 0.4]], rtol=1e-6)


def test_a_zero_gradient_moves_nothing():
    for norm in ("linf", "l2"):
        moved = ascend(jnp.full((1, 2), 0.1), jnp.zeros((1, 2)), 0.5, norm=norm)
        np.testing.assert_allclose(moved, [[0.1, 0.1]], rtol=1e-6)


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
    with enable_x64(True):
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
