"""The values that rows usually have."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocourse.errors import SchemaError
from rocourse.schema import Categorical, Change, Continuous, Rows, Schema, Usual, without_codes

CHOLESTEROL = np.random.default_rng(0).integers(100, 420, 300).astype(np.float64)


@pytest.mark.parametrize("codes", [(0,), (9999,), (-1, -999), (0, 9999)])
def test_codes_for_what_is_missing_are_no_amounts(codes):
    # A quarter of the rows each: no percentile leaves them out.
    values = np.concatenate([CHOLESTEROL, *(np.full(75, float(code)) for code in codes)])
    np.testing.assert_array_equal(without_codes(values), CHOLESTEROL)


@pytest.mark.parametrize(
    "values",
    [
        np.concatenate([np.zeros(200), np.random.default_rng(1).exponential(3e3, 300).round()]),
        np.concatenate([np.zeros(400), CHOLESTEROL]),
        np.array([0.0, 1.0] * 50),
        np.repeat([0.0, 6.0, 12.0, 24.0, 48.0], 20),
        np.random.default_rng(2).normal(size=400),
        np.zeros(10),
    ],
    ids=[
        "debts, many of them 0",
        "mostly none",
        "yes or no",
        "few terms",
        "anything",
        "a constant",
    ],
)
def test_numbers_without_codes_stay_as_they_are(values):
    np.testing.assert_array_equal(without_codes(values), values)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=60))
def test_most_different_values_stay(values):
    left = without_codes(np.array(values))
    assert set(left) <= set(values)
    assert len(set(left)) >= len(set(values)) - 6


def rows_of(schema: Schema, values: np.ndarray, codes: np.ndarray) -> Rows:
    """Rows of a number and a category."""
    (number,) = schema.continuous
    encoded = ((values - number.low) / number.span).astype(np.float32)
    return Rows(encoded[:, None], codes[:, None].astype(schema.layout.category_dtype))


def test_ends_are_percentiles_and_rare_categories_are_left_out():
    schema = Schema((Continuous("debt", 0.0, 1000.0), Categorical("job", tuple("abc"))))
    values = np.arange(1000.0)
    # 19 of 1,000 are fewer than 2%.
    codes = np.repeat([0, 1, 2], [500, 481, 19])
    usual = Usual.of(rows_of(schema, values, codes), schema)
    np.testing.assert_allclose(usual.low, np.quantile(values, 0.01) / 1000.0, rtol=1e-6)
    np.testing.assert_allclose(usual.high, np.quantile(values, 0.99) / 1000.0, rtol=1e-6)
    np.testing.assert_array_equal(usual.common, [True, True, False])


@pytest.mark.parametrize(
    ("number", "step"),
    [
        (Continuous("debt", 0.0, 1000.0, integer=True), 1.0),
        (Continuous("debt", 0.0, 1000.0, change=Change(step=50)), 50.0),
    ],
    ids=["whole", "steps"],
)
def test_ends_are_amounts_that_may_be_asked_for(number, step):
    schema = Schema((number, Categorical("job", ("a", "b"))))
    values = np.arange(1000.0)
    usual = Usual.of(rows_of(schema, values, np.tile([0, 1], 500)), schema)
    low, high = 1000.0 * usual.low[0], 1000.0 * usual.high[0]
    assert low >= np.quantile(values, 0.01) - 1e-3 > low - step
    assert high <= np.quantile(values, 0.99) + 1e-3 < high + step
    np.testing.assert_allclose([low % step, high % step], 0.0, atol=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1000), min_size=1, max_size=60), st.integers(0, 2**31))
def test_there_is_always_something_usual(values, seed):
    schema = Schema((Continuous("debt", 0.0, 1000.0), Categorical("job", tuple("abc"))))
    codes = np.random.default_rng(seed).integers(3, size=len(values))
    usual = Usual.of(rows_of(schema, np.array(values), codes), schema)
    assert usual.low[0] <= usual.high[0]
    assert usual.common.any()
    again = Usual.from_dict(usual.to_dict(), schema.layout)
    for name in ("low", "high", "common"):
        np.testing.assert_array_equal(getattr(again, name), getattr(usual, name))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"low": [0.1, 0.2]}, "must be of 1 numbers"),
        ({"common": [True]}, "must be of 1 numbers and 3 categories"),
        ({"low": [0.9], "high": [0.1]}, "lower ones first"),
        ({"high": [float("nan")]}, "between 0 and 1"),
        ({"high": [1e38]}, "between 0 and 1"),
    ],
)
def test_stored_values_that_no_rows_have_are_refused(changed, said):
    schema = Schema((Continuous("debt", 0.0, 1000.0), Categorical("job", tuple("abc"))))
    stored = {"low": [0.1], "high": [0.9], "common": [True, False, True]} | changed
    with pytest.raises(SchemaError, match=said):
        Usual.from_dict(stored, schema.layout)
