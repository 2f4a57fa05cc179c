"""Rows through lanes: each gets what it would get alone, and all get something."""

import jax.numpy as jnp
import numpy as np
import pytest

from rocourse.recourse.search import Retreats, Size, propose_in_lanes, through_lanes
from rocourse.recourse.search._lanes import ALONE, FEW, MANY
from rocourse.schema import Rows


def countdown(fixed, state):
    left, visits = state
    return (left - 1, visits + fixed), left <= 1


@pytest.mark.parametrize("lanes", [1, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 5, 8])
def test_every_row_takes_its_own_number_of_steps(lanes, count):
    steps = np.array([3, 1, 7, 2, 1, 5, 4, 2], np.int32)
    start = jnp.asarray(steps), jnp.zeros(8, jnp.int32)
    weight = jnp.arange(8, dtype=jnp.int32)
    left, visits = through_lanes(countdown, weight, start, jnp.int32(count), lanes)
    np.testing.assert_array_equal(visits[:count], (steps * np.arange(8))[:count])
    np.testing.assert_array_equal(left[:count], 0)
    # Filling is never touched.
    np.testing.assert_array_equal(visits[count:], 0)


@pytest.mark.parametrize(
    "n", [0, 1, ALONE.rows + 1, FEW.rows, FEW.rows + 1, MANY.rows, 2 * MANY.rows + 3]
)
def test_rows_come_back_in_their_order(n):
    sizes = []

    def run(size: Size):
        sizes.append(size)

        def double(count, continuous, categories, more):
            assert len(continuous) == size.rows
            assert 0 <= count <= size.rows
            return jnp.asarray(2.0 * continuous + more[:, None]), jnp.asarray(categories)

        return double

    rows = Rows(np.arange(n, dtype=np.float32)[:, None], np.arange(n, dtype=np.uint8)[:, None])
    found = propose_in_lanes(run, rows, np.ones(n, np.float32))
    np.testing.assert_array_equal(found.continuous, 2.0 * rows.continuous + 1.0)
    np.testing.assert_array_equal(found.categories, rows.categories)
    fitting = ALONE if n <= ALONE.rows else FEW if n <= FEW.rows else MANY
    assert sizes == [fitting][: min(n, 1)]


def test_retreats_go_where_one_try_after_the_other_would():
    far, shares = np.float32(1.0), (0.75, 0.5, 0.5, 0.25)
    retreats = Retreats.of(jnp.full(8, far), lambda now, share: (1.0 - share) * now, shares)
    least = np.linspace(0.01, 1.0, 8, dtype=np.float32)
    asked = []

    def worth(value, place):
        asked.append(place)
        np.testing.assert_array_equal(
            value, jnp.take_along_axis(retreats.places, place[None], axis=0)[0]
        )
        return jnp.where(value >= least, -value, -jnp.inf)

    found, said = retreats.settle(jnp.full(8, far), worth, jnp.full(8, -far))
    np.testing.assert_array_equal(said, -found)
    expected = []
    for bound in least:
        now = far
        for share in shares:
            tried = np.float32(1.0 - share) * now
            now = tried if tried >= bound else now
        expected.append(now)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert len(asked) == len(shares)
