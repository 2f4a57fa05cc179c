"""One rule a feature, for columns, single values, and whoever asks what is wrong with them."""

import math
import warnings
from decimal import Decimal

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from tests.strategies import continuous_features

from rocourse.errors import DataError
from rocourse.schema import Categorical, ClippedWarning, Continuous, Fault, Schema, ValueIndex
from rocourse.schema._rules import COLUMN, SINGLE, NumberRule

FEATURES = continuous_features("x")
WILD = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 0.5, 1.5, 1e308, -1e308, 2.0**60])


def numbers_around(feature):
    """Numbers within the feature's range, at its ends and bounds, and far away."""
    ends = [feature.low, feature.high, *(end for end in feature.bounds if end is not None)]
    span = min(feature.span, 1e300)
    near = [end + step * span for end in ends for step in (-0.1, -1e-7, 0, 1e-7, 0.1)]
    return WILD | st.sampled_from(near) | st.floats(feature.low, feature.high)


@given(st.data())
def test_sound_is_what_has_no_fault(data):
    feature = data.draw(FEATURES)
    values = np.array(data.draw(st.lists(numbers_around(feature), min_size=1, max_size=6)))
    column, single = NumberRule(feature, COLUMN), NumberRule(feature, SINGLE)
    faulty = np.zeros(len(values), dtype=bool)
    for _, broken in column.faults(values):
        faulty |= broken
    np.testing.assert_array_equal(column.sound(values), ~faulty)
    assert [single.sound(value) for value in values.tolist()] == (~faulty).tolist()
    assert [single.fault(value) is None for value in values.tolist()] == (~faulty).tolist()


@given(st.data())
def test_a_column_and_its_numbers_are_scaled_and_settled_alike(data):
    feature = data.draw(FEATURES)
    inside = st.floats(-1.8e307, 1.8e307) | st.floats(feature.low, feature.high)
    n = data.draw(st.integers(1, 5))
    raw = np.array(data.draw(st.lists(inside, min_size=n, max_size=n)))
    codes = st.floats(0, 1, width=32) | st.sampled_from([math.nan, math.inf, -math.inf, -0.5, 1.5])
    proposed = np.array(data.draw(st.lists(codes, min_size=n, max_size=n)))
    column, single = NumberRule(feature, COLUMN), NumberRule(feature, SINGLE)
    here = column.scale(raw)
    settled = column.settle(raw, here, proposed)
    assert here.tolist() == [single.scale(value) for value in raw.tolist()]
    assert column.unscale(here).tolist() == [single.unscale(code) for code in here.tolist()]
    rows = zip(raw.tolist(), here.tolist(), proposed.tolist(), strict=True)
    assert settled.tolist() == [single.settle(*row) for row in rows]


@pytest.mark.parametrize("number", [NumberRule(Continuous("x", -2.6, 6.2), SINGLE)])
def test_codes_are_numbers_that_float32_holds(number):
    codes = [number.scale(value) for value in (-2.6, -0.1, 0.1, 1 / 3, 6.2)]
    assert codes == [float(np.float32(code)) for code in codes]


SCHEMA = Schema(
    (
        Continuous("x", 0, 10, bounds=(-5, None)),
        Continuous("n", 0, 10, integer=True, bounds=(None, 20.5)),
        Categorical("k", (1, 2)),
        Categorical("flag", (False, True)),
    )
)
ROW = {"x": 1.5, "n": 3, "k": 1, "flag": True}


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("x", 10, None),
        ("x", np.float32(2.5), None),
        ("x", "1", Fault.NO_NUMBER),
        ("x", True, Fault.NO_NUMBER),
        ("x", [1.0], Fault.NO_NUMBER),
        ("x", math.nan, Fault.MISSING),
        ("x", math.inf, Fault.INFINITE),
        ("x", 10**400, Fault.INFINITE),
        ("x", -(10**400), Fault.INFINITE),
        ("x", -6, Fault.BELOW_BOUNDS),
        ("x", -1, Fault.OUTSIDE_RANGE),
        ("x", 10 + 1e-7, None),
        ("n", 3.0, None),
        ("n", 2.5, Fault.FRACTION),
        ("n", 30.5, Fault.FRACTION),
        ("n", 21, Fault.ABOVE_BOUNDS),
        ("n", 20, Fault.OUTSIDE_RANGE),
        ("k", 2.0, None),
        ("k", Decimal(2), None),
        ("k", 3, Fault.UNKNOWN_CATEGORY),
        ("k", True, Fault.UNKNOWN_CATEGORY),
        ("k", "1", Fault.UNKNOWN_CATEGORY),
        ("k", ["1"], Fault.UNKNOWN_CATEGORY),
        ("flag", np.bool_(False), None),
        ("flag", 1, Fault.UNKNOWN_CATEGORY),
    ],
)
def test_what_is_wrong_with_a_value_is_what_a_table_of_it_is_refused_for(name, value, fault):
    assert SCHEMA.rules[name].fault(value) is fault
    # pandas 2 cannot tell what such numbers are.
    huge = isinstance(value, int) and abs(value) > 1e308
    cells = pd.Series([value], dtype=object if huge else None)
    table = pd.DataFrame({**{key: [cell] for key, cell in ROW.items()}, name: cells})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if fault in (None, Fault.OUTSIDE_RANGE):
            SCHEMA.encode(table)
        else:
            with pytest.raises(DataError, match=f"Column '{name}' must "):
                SCHEMA.encode(table)
    clipped = [warning.category for warning in caught] == [ClippedWarning]
    assert clipped == (fault is Fault.OUTSIDE_RANGE)


def test_values_are_found_by_what_they_denote():
    index = ValueIndex((1, 2.5))
    assert [index.find(value) for value in (1, 1.0, np.int8(1), Decimal("2.5"))] == [0, 0, 0, 1]
    assert [index.find(value) for value in (True, "1", None, [1], 3)] == [None] * 5
    flags = ValueIndex((False, True))
    assert (flags.find(True), flags.find(np.bool_(False)), flags.find(1)) == (1, 0, None)
