"""The walk to the boundary against walking every step of every segment."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rocourse.methods.search._rbr_boundary import (
    Segments,
    WalkPlan,
    segments,
    walk,
)

from rocourse.schema import Layout
from rocourse.schema.constraints import Limits

WIDTH = 6


def margin(network, points):
    first, last = network
    return jnp.tanh(2.0 * (points - 0.5) @ first) @ last - 1.0


def make_case(seed, n=60):
    """A small random network, and ways from a row it rejects to rows it accepts."""
    rng = np.random.default_rng(seed)
    network = (rng.normal(size=(WIDTH, 16)), rng.normal(size=16))
    network = jax.tree.map(lambda weights: jnp.asarray(weights, jnp.float32), network)
    points = jnp.asarray(rng.uniform(size=(400, WIDTH)), jnp.float32)
    margins = np.asarray(margin(network, points))
    start, ends = points[np.argmin(margins)], points[np.resize(np.flatnonzero(margins > 0), n)]
    return network, Segments(start, ends, jnp.sum(jnp.abs(ends - start), axis=1))


def exhaustive(network, ways, steps):
    shares = np.arange(1, steps + 1) / steps
    points = ways.start + shares[:, None] * (ways.ends - ways.start)[:, None, :]
    margins = np.asarray(margin(network, points))
    distance = shares[np.argmax(margins > 0, axis=1)] * np.asarray(ways.lengths)
    return distance.min()


@partial(jax.jit, static_argnames=("judge", "plan"))
def found(network, ways, plan, judge=margin):
    look = partial(judge, network)
    boundary = walk(look, ways, look(ways.start[None])[0], look(ways.ends), plan)
    return boundary, jnp.sum(jnp.abs(boundary.point - ways.start))


def first_value_above(threshold, points):
    return points[..., 0] - threshold


@pytest.mark.parametrize("seed", range(8))
def test_looking_at_every_segment_finds_the_nearest_crossing(seed):
    network, ways = make_case(seed)
    plan = WalkPlan(steps=40, stride=8, shortlist=1000, finalists=1000)
    boundary, distance = found(network, ways, plan)
    np.testing.assert_allclose(distance, exhaustive(network, ways, 40), rtol=1e-4)
    assert margin(network, boundary.point) > 0


def test_a_short_list_finds_nearly_as_near_a_crossing():
    plan = WalkPlan(steps=40, stride=10, shortlist=16, finalists=4)
    ratios = []
    for seed in range(12):
        network, ways = make_case(seed)
        ratios.append(float(found(network, ways, plan)[1]) / exhaustive(network, ways, 40))
    assert min(ratios) > 1 - 1e-4
    assert np.mean(ratios) < 1.02


def test_the_end_lies_behind_the_point():
    network, ways = make_case(0)
    boundary, distance = found(network, ways, WalkPlan())
    rest = float(jnp.sum(jnp.abs(boundary.end - boundary.point)))
    whole = float(jnp.sum(jnp.abs(boundary.end - ways.start)))
    np.testing.assert_allclose(distance + rest, whole, rtol=1e-5)
    assert (np.asarray(ways.ends) == np.asarray(boundary.end)).all(axis=1).any()


def test_steps_that_the_stride_does_not_divide_are_walked_to_the_end():
    ends = jnp.ones((1, WIDTH))
    ways = Segments(jnp.zeros(WIDTH), ends, jnp.full(1, float(WIDTH)))
    boundary, _ = found(0.985, ways, WalkPlan(steps=100, stride=30), judge=first_value_above)
    np.testing.assert_allclose(boundary.point, 0.99, rtol=1e-6)


def test_without_a_crossing_the_walk_goes_to_the_end_nearest_to_one():
    ends = jnp.asarray([[0.2, 0.9], [0.4, 0.1], [0.3, 0.3]])
    ways = Segments(jnp.zeros(2), ends, jnp.sum(ends, axis=1))
    boundary, _ = found(2.0, ways, WalkPlan(shortlist=2, finalists=1), judge=first_value_above)
    np.testing.assert_allclose(boundary.point, ends[1])


def test_without_neighbours_the_row_stays_where_it_is():
    start = jnp.asarray([0.5, 0.25])
    ways = Segments(start, jnp.ones((3, 2)), jnp.full(3, jnp.inf))
    boundary, _ = found(2.0, ways, WalkPlan(), judge=first_value_above)
    np.testing.assert_array_equal(boundary.point, start)
    np.testing.assert_array_equal(boundary.end, start)


def test_segments_end_at_what_the_row_may_become():
    layout = Layout(2, (3, 2))
    x = jnp.asarray([0.5, 0.5, 0, 1, 0, 1, 0], jnp.float32)
    limits = Limits(
        low=jnp.asarray([0.5, 0.0]),
        high=jnp.asarray([1.0, 0.6]),
        allowed=jnp.asarray([False, True, True, True, False]),
    )
    ways = segments(
        x,
        jnp.asarray([[0.1, 0.9], [0.8, 0.2], [0.9, 0.9]]),
        jnp.asarray([[0, 1], [2, 0], [2, 0]]),
        jnp.asarray([True, True, False]),
        limits,
        layout,
    )
    np.testing.assert_allclose(ways.ends[0], [0.5, 0.6, 0, 1, 0, 1, 0])
    np.testing.assert_allclose(ways.ends[1], [0.8, 0.2, 0, 0, 1, 1, 0])
    np.testing.assert_allclose(ways.lengths, [0.1, 2.6, np.inf], rtol=1e-6)
