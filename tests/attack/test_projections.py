"""Steps and projections against their definitions."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rocourse.attack._projections import ascend, project

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
