"""Whatever is proposed, what leaves `settle` satisfies every constraint exactly."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import broken_constraints, encode_quietly, frames, proposals, schemas

from rocourse.errors import DataError
from rocourse.schema import NEGLIGIBLE_CHANGE, Categorical, Continuous, Recourse, Rows, Schema


@st.composite
def cases(draw):
    schema = draw(schemas(messy=True))
    df = draw(frames(schema, outside=True))
    return schema, df, encode_quietly(schema, df), draw(proposals(schema, len(df)))


def attempted(schema, df, rows, settled):
    n = len(df)
    return Recourse(
        schema, df, rows, settled, ["found"] * n, [0] * n, [1] * n, [0.5] * n, "test"
    ).frame()


def settle_one(feature, original, proposed):
    """The raw value that a proposal in raw units becomes."""
    schema = Schema([feature])
    df = pd.DataFrame({feature.name: [original]})
    rows = encode_quietly(schema, df)
    code = (proposed - feature.low) / (feature.high - feature.low)
    settled = schema.settle(df, rows, Rows([[code]], np.zeros((1, 0), dtype=np.int16)))
    return attempted(schema, df, rows, settled)[feature.name].iloc[0]


@settings(max_examples=200)
@given(cases())
def test_every_constraint_holds_exactly_in_raw_units(case):
    schema, df, rows, proposed = case
    result = attempted(schema, df, rows, schema.settle(df, rows, proposed))
    assert broken_constraints(schema, df, result) == []


@given(cases())
def test_settled_rows_settle_and_encode_to_themselves(case):
    schema, df, rows, proposed = case
    settled = schema.settle(df, rows, proposed)
    assert schema.settle(df, rows, settled) == settled
    assert encode_quietly(schema, attempted(schema, df, rows, settled)) == settled
    # Without the originals at hand, decoding restores at least all that was changed.
    again = schema.encode(schema.decode(settled), out_of_range="error")
    changed = settled.continuous != rows.continuous
    np.testing.assert_array_equal(again.continuous[changed], settled.continuous[changed])
    np.testing.assert_array_equal(again.categories, settled.categories)


@given(cases())
def test_what_nobody_would_notice_is_no_change(case):
    schema, df, rows, proposed = case
    untouched = df.copy()
    assert schema.settle(df, rows, rows) == rows
    settled = schema.settle(df, rows, proposed)
    moved = np.abs(settled.continuous - rows.continuous)
    # One rounding of float32 below the threshold is still the threshold.
    assert ((moved == 0) | (moved >= NEGLIGIBLE_CHANGE * (1 - 1e-4))).all()
    pd.testing.assert_frame_equal(df, untouched)


AGE = {"name": "Age", "low": 20.0, "high": 70.0}


@pytest.mark.parametrize(
    ("feature", "original", "proposed", "expected"),
    [
        (Continuous(**AGE), 30, 42.5, 42.5),
        (Continuous(**AGE, integer=True), 30, 42.4, 42),
        (Continuous(**AGE, immutable=True), 30, 42, 30),
        (Continuous(**AGE, direction="up"), 30, 29, 30),
        (Continuous(**AGE, direction="up"), 30, 45, 45),
        (Continuous(**AGE, direction="down"), 30, 45, 30),
        (Continuous(**AGE, direction="down"), 30, 25, 25),
        (Continuous(**AGE), 30, 90, 70),
        (Continuous(**AGE), 30, -5, 20),
        (Continuous(**AGE, bounds=(None, 65)), 30, 70, 65),
        (Continuous(**AGE, bounds=(25, None)), 30, 20, 25),
        (Continuous(**AGE, integer=True, bounds=(25.5, 64.5)), 30, 20, 26),
        (Continuous(**AGE, integer=True, bounds=(25.5, 64.5)), 30, 70, 64),
        (Continuous(**AGE), 30, float("nan"), 30),
        (Continuous(**AGE), 30, 30.2, 30),
        (Continuous(**AGE), 30, 30.3, 30.3),
        (Continuous("Amount", 0, 1000, integer=True), 500, 504, 500),
        (Continuous("Amount", 0, 1000, integer=True), 500, 505, 505),
    ],
)
def test_number_is_settled_by_the_rule(feature, original, proposed, expected):
    assert settle_one(feature, original, proposed) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("proposed", [0, 35, 69.99, 70])
def test_original_above_the_range_is_never_lowered_by_direction_up(proposed):
    assert settle_one(Continuous(**AGE, direction="up"), 95, proposed) == 95


def test_original_outside_the_range_stays_unless_the_move_is_noticeable_in_codes():
    assert settle_one(Continuous(**AGE), 95, 69.9) == 95
    assert settle_one(Continuous(**AGE), 95, 60) == pytest.approx(60)


def test_bound_that_float32_cannot_hold_is_not_stepped_over():
    for bound in (0.1, 0.3, 1 / 3, 0.7):
        assert settle_one(Continuous("x", 0, 1, bounds=(None, bound)), 0, 1) <= bound
        assert settle_one(Continuous("x", 0, 1, bounds=(bound, None)), 1, 0) >= bound


@pytest.mark.parametrize(
    ("rule", "original", "proposed", "expected"),
    [
        ({}, 1, 0, 0),
        ({}, 1, 2, 2),
        ({"immutable": True}, 1, 2, 1),
        ({"direction": "up"}, 1, 0, 1),
        ({"direction": "up"}, 1, 2, 2),
        ({"direction": "down"}, 1, 2, 1),
        ({"direction": "down"}, 1, 0, 0),
        ({}, 1, 3, 1),
        ({}, 1, -1, 1),
        ({}, 1, 70_000, 1),
    ],
)
def test_category_is_settled_by_the_rule(rule, original, proposed, expected):
    schema = Schema([Categorical("Skill", ("none", "some", "much"), **rule)])
    df = pd.DataFrame({"Skill": [schema.features[0].categories[original]]})
    settled = schema.settle(df, schema.encode(df), Rows(np.zeros((1, 0)), [[proposed]]))
    assert settled.categories.tolist() == [[expected]]
    assert settled.categories.dtype == np.int16


def test_proposals_of_another_length_or_layout_are_refused():
    schema = Schema([Continuous("x", 0, 1)])
    df = pd.DataFrame({"x": [0.5, 0.6]})
    rows = schema.encode(df)
    with pytest.raises(DataError, match="equally many, but got 2, 2 and 1"):
        schema.settle(df, rows, rows[:1])
    with pytest.raises(DataError, match="1 continuous and 0 categorical"):
        schema.settle(df, rows, Rows(np.zeros((2, 2)), np.zeros((2, 0), dtype=int)))
