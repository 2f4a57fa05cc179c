"""The values that are asked for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocourse.recourse.search import usual_values, without_codes
from rocourse.schema import Continuous, Rows, Schema

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


def test_nobody_is_told_to_reach_a_code():
    schema = Schema((Continuous("chol", low=0.0, high=603.0, integer=True),))
    values = np.concatenate([CHOLESTEROL, np.zeros(100)])[:, None] / 603.0
    rows = Rows(values.astype(np.float32), np.zeros((400, 0), schema.layout.category_dtype))
    edits, _ = usual_values(rows, schema, min_category_share=0.02)
    least, most = np.quantile(CHOLESTEROL, [0.01, 0.99]) / 603.0
    assert edits.value.min() >= least - 1e-3
    assert edits.value.max() <= most + 1e-3
    assert edits.low[0] >= least - 1e-3
    # Codes do not move the other end: 1% of all rows lie beyond it.
    assert edits.value.max() <= np.quantile(values, 0.99) + 1e-6
