"""Projection on the limits, and hardening, against independent answers."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rocourse.methods.search._feasible import Space, hard, harden_encoded, project
from scipy.optimize import minimize

from rocourse.schema import Layout, Rows, one_hot
from rocourse.schema.constraints import Limits

from .toy_models import make_schema, random_rows

LAYOUT = Layout(2, (3, 4))
projected = jax.jit(partial(project, layout=LAYOUT))


def random_limits(rng, layout=LAYOUT):
    low = rng.uniform(0.0, 0.5, layout.n_continuous).astype(np.float32)
    high = low + rng.uniform(0.0, 0.5, layout.n_continuous).astype(np.float32)
    allowed = rng.random(layout.width - layout.n_continuous) < 0.7
    for group in layout.group_slices:
        allowed[group.start - layout.n_continuous + rng.integers(group.stop - group.start)] = True
    return Limits(jnp.asarray(low), jnp.asarray(high), jnp.asarray(allowed))


def nearest(x, limits):
    """The nearest feasible point by a general solver."""
    cut = LAYOUT.n_continuous
    top = np.concatenate([limits.high, np.where(limits.allowed, 1.0, 0.0)])
    bottom = np.concatenate([limits.low, np.zeros(len(limits.allowed))])
    groups = [
        {"type": "eq", "fun": lambda z, g=group: z[g].sum() - 1.0, "jac": lambda z, g=group: on(g)}
        for group in LAYOUT.group_slices
    ]

    def on(group):
        mask = np.zeros(LAYOUT.width)
        mask[group] = 1.0
        return mask

    allowed = np.asarray(limits.allowed, float)
    start = np.concatenate([limits.low, allowed])
    for group in LAYOUT.group_slices:
        start[group] /= start[group].sum()
    found = minimize(
        lambda z: 0.5 * ((z - x) ** 2).sum(),
        start,
        jac=lambda z: z - x,
        bounds=list(zip(bottom, top, strict=True)),
        constraints=groups,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.success and cut == 2
    return found.x


@pytest.mark.parametrize("seed", range(25))
def test_projection_is_the_nearest_point_within_the_limits(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0.3, 1.0, LAYOUT.width).astype(np.float32)
    limits = random_limits(rng)
    np.testing.assert_allclose(projected(x, limits), nearest(x, limits), atol=2e-5)


@settings(max_examples=100, deadline=None)
@given(
    x=st.lists(st.floats(-100, 100, width=32), min_size=9, max_size=9),
    seed=st.integers(0, 1000),
)
def test_projection_is_feasible_and_leaves_feasible_points_alone(x, seed):
    limits = random_limits(np.random.default_rng(seed))
    point = np.asarray(projected(np.array(x, np.float32), limits))
    assert (point[:2] >= limits.low).all() and (point[:2] <= limits.high).all()
    assert (point >= 0.0).all() and (point[2:][~np.asarray(limits.allowed)] == 0.0).all()
    for group in LAYOUT.group_slices:
        np.testing.assert_allclose(point[group].sum(), 1.0, atol=5e-5)
    np.testing.assert_allclose(projected(point, limits), point, atol=5e-5)


def test_projection_keeps_ties_tied():
    limits = Limits(jnp.zeros(2), jnp.ones(2), jnp.ones(7, bool))
    point = projected(np.array([0.5, 0.5, 3.0, 3.0, 1.0, 2.0, 2.0, 2.0, 2.0], np.float32), limits)
    np.testing.assert_allclose(point[2:], [0.5, 0.5, 0.0, 0.25, 0.25, 0.25, 0.25], atol=1e-6)


def test_a_group_with_one_allowed_category_stays_there():
    allowed = jnp.array([False, True, False, True, True, True, True])
    limits = Limits(jnp.zeros(2), jnp.ones(2), allowed)
    point = projected(np.array([0.5, 0.5, 9.0, -9.0, 9.0, 1.0, 0.0, 0.0, 0.0], np.float32), limits)
    np.testing.assert_allclose(point[2:5], [0.0, 1.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("layout", [Layout(3, ()), Layout(0, (2, 3))])
def test_rows_may_lack_categories_or_numbers(layout):
    limits = random_limits(np.random.default_rng(0), layout)
    point = project(jnp.full(layout.width, 2.0), limits, layout)
    assert point.shape == (layout.width,)
    assert hard(point, layout)[1].shape == (layout.n_categorical,)
    assert harden_encoded(point, layout).shape == (layout.width,)


def test_hardening_undoes_the_expansion_of_rows():
    rows = random_rows(LAYOUT, 20, seed=0)
    encoded = one_hot(rows, LAYOUT)
    soft = encoded * np.r_[np.ones(2), np.full(7, 0.4)].astype(np.float32) + np.float32(0.0)
    values, codes = jax.vmap(partial(hard, layout=LAYOUT))(soft)
    np.testing.assert_array_equal(values, rows.continuous)
    np.testing.assert_array_equal(codes, rows.categories)
    np.testing.assert_array_equal(jax.vmap(partial(harden_encoded, layout=LAYOUT))(soft), encoded)


def test_settling_while_searching_is_what_the_schema_does_at_the_end():
    schema = make_schema(
        4,
        (3, 2),
        c0={"low": 18.0, "high": 75.0, "integer": True},
        c1={"low": 0.0, "high": 4.0, "integer": True, "direction": "up"},
        c2={"low": -5.0, "high": 5.0, "bounds": (-2.0, None)},
        c3={"immutable": True},
        k0={"direction": "up"},
    )
    layout, space = schema.layout, Space.from_schema(schema)
    drawn = random_rows(layout, 300, seed=1)
    values = drawn.continuous.copy()
    values[:, 0] = np.round(values[:, 0] * 57) / 57
    values[:, 1] = np.round(values[:, 1] * 4) / 4
    values[:, 2] = np.maximum(values[:, 2], np.float32(0.3))
    frame = schema.decode(Rows(values, drawn.categories))
    rows = schema.encode(frame)
    rng = np.random.default_rng(2)
    scale = rng.choice([0.005, 0.3], (300, 1))
    noise = rng.normal(0.0, 1.0, (300, layout.width)) * scale

    @jax.jit
    @jax.vmap
    def settle(x, move):
        limits = space.constraints.limits(x)
        point = project(x + move, limits, layout)
        return point, space.settle(point, x, limits)

    x = one_hot(rows, layout)
    points, settled = settle(x, jnp.asarray(noise, jnp.float32))
    proposed = Rows(*map(np.asarray, jax.vmap(partial(hard, layout=layout))(points)))
    expected = one_hot(schema.settle(frame, rows, proposed), layout)
    assert (np.abs(expected - x).max(axis=1) > 0).mean() > 0.5
    np.testing.assert_allclose(settled, expected, atol=1e-5)
