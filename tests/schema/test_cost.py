"""What a change costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import encode_quietly, frames, schemas

from rocourse.errors import DataError
from rocourse.schema import Layout, Rows, features_changed, one_hot, proximity

LAYOUT = Layout(2, (3, 2))
BEFORE = Rows([[0.25, 1.0], [0.5, 0.0], [0.5, 0.5]], [[2, 0], [0, 1], [1, 1]])
AFTER = Rows([[0.25, 1.0], [0.75, 0.5], [0.5, 0.25]], [[2, 0], [1, 1], [0, 0]])


def test_proximity_adds_distances_and_counts_two_for_a_changed_category():
    distances = proximity(BEFORE, AFTER, LAYOUT)
    np.testing.assert_array_equal(distances, [0.0, 0.25 + 0.5 + 2, 0.25 + 4])
    assert distances.dtype == np.float64


def test_features_changed_counts_raw_features():
    np.testing.assert_array_equal(features_changed(BEFORE, AFTER), [0, 3, 3])


@settings(max_examples=40)
@given(st.data())
def test_proximity_is_the_l1_distance_of_the_encoded_vectors(data):
    schema = data.draw(schemas())
    a = encode_quietly(schema, data.draw(frames(schema, min_rows=3, max_rows=3)))
    b = encode_quietly(schema, data.draw(frames(schema, min_rows=3, max_rows=3)))
    vectors = [one_hot(rows, schema.layout).astype(float) for rows in (a, b)]
    expected = np.abs(vectors[0] - vectors[1]).sum(axis=1)
    np.testing.assert_allclose(proximity(a, b, schema.layout), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(proximity(b, a, schema.layout), proximity(a, b, schema.layout))
    assert ((features_changed(a, b) == 0) == (expected == 0)).all()


def test_rows_that_do_not_pair_up_are_refused():
    with pytest.raises(DataError, match="equally many, but got 3 and 1"):
        proximity(BEFORE, AFTER[:1], LAYOUT)
    with pytest.raises(DataError, match="equally many, but got 3 and 1"):
        features_changed(BEFORE, AFTER[:1])
    with pytest.raises(DataError, match="2 continuous and 1 categorical"):
        proximity(BEFORE, AFTER, Layout(2, (3,)))
