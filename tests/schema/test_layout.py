"""Encoded rows and the vectors they expand to."""

import numpy as np
import pytest

from rocourse.errors import DataError
from rocourse.schema import Categorical, Continuous, Layout, Rows, Schema, one_hot


def rows(n=4):
    return Rows(np.arange(2.0 * n).reshape(n, 2) / (2 * n), np.arange(n).reshape(n, 1) % 3)


def test_continuous_features_come_first_whatever_their_place_in_the_schema():
    schema = Schema(
        [
            Categorical("a", ("x", "y", "z")),
            Continuous("b", 0, 1),
            Categorical("c", (False, True)),
            Continuous("d", 0, 1),
        ]
    )
    assert schema.layout == Layout(2, (3, 2))
    assert schema.layout.width == 7
    assert schema.layout.group_slices == (slice(2, 5), slice(5, 7))
    assert schema.layout.n_categorical == 2
    assert schema.names == ("a", "b", "c", "d")
    assert [f.name for f in schema.continuous] == ["b", "d"]
    assert [f.name for f in schema.categorical] == ["a", "c"]


def test_one_hot_is_the_closed_form():
    layout = Layout(2, (3, 2))
    encoded = one_hot(Rows([[0.25, 1.0], [0.5, 0.0]], [[2, 0], [0, 1]]), layout)
    expected = [[0.25, 1.0, 0, 0, 1, 1, 0], [0.5, 0.0, 1, 0, 0, 0, 1]]
    np.testing.assert_array_equal(encoded, np.array(expected, dtype=np.float32))
    assert encoded.dtype == np.float32


@pytest.mark.parametrize("layout", [Layout(2, ()), Layout(0, (3,))])
def test_one_hot_works_without_one_of_the_kinds(layout):
    made = Rows(
        np.full((3, layout.n_continuous), 0.5), np.zeros((3, layout.n_categorical), dtype=int)
    )
    assert one_hot(made, layout).shape == (3, layout.width)


def test_layouts_are_hashable_values():
    assert {Layout(1, (2,)), Layout(1, (2,))} == {Layout(1, (2,))}


def test_codes_are_as_small_as_the_categories_allow():
    assert Layout(0, (32767,)).category_dtype == np.int16
    assert Layout(0, (32768,)).category_dtype == np.int32
    assert Layout(1, ()).category_dtype == np.int16


def test_rows_are_selected_by_slice_mask_and_position():
    made = rows()
    mask = np.array([False, True, False, True])
    assert len(made) == 4
    assert made[1:3] == Rows(made.continuous[1:3], made.categories[1:3])
    assert made[mask] == made.take([1, 3]) == made[np.array([1, 3])]
    assert made.take([3, 3]).categories.tolist() == [[0], [0]]
    assert made != made[::-1]
    assert Rows.concatenate([made[:1], made[1:]]) == made


def test_rows_are_compact_and_read_only():
    made = rows()
    assert made.continuous.dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        made.continuous[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        made.categories[0, 0] = 1


def test_making_rows_leaves_the_arrays_of_the_caller_writeable():
    mine = np.zeros((1, 1), dtype=np.float32)
    Rows(mine, np.zeros((1, 0), dtype=np.int16))
    mine[0, 0] = 1


@pytest.mark.parametrize(
    ("continuous", "categories", "message"),
    [
        (np.zeros(3), np.zeros((3, 1), dtype=int), r"two matrices .* shapes \(3,\) and \(3, 1\)"),
        (np.zeros((3, 1)), np.zeros((2, 1), dtype=int), "two matrices of equal length"),
        (np.zeros((3, 1)), np.zeros((3, 1)), "Category codes must be whole numbers.*float64"),
    ],
)
def test_arrays_that_are_no_rows_are_refused(continuous, categories, message, assert_sentence):
    with pytest.raises(DataError, match=message) as caught:
        Rows(continuous, categories)
    assert_sentence(caught.value)


def test_rows_of_another_layout_are_refused(assert_sentence):
    with pytest.raises(DataError, match="1 continuous and 0 categorical") as caught:
        one_hot(rows(), Layout(1, ()))
    assert_sentence(caught.value)
