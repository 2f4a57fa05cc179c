"""One row without a table is what a table of one row is."""

from decimal import Decimal

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from tests.strategies import frames, proposals, schemas

from rocourse.schema import Categorical, Continuous, Recourse, RowCodes, Rows, Schema


@st.composite
def cases(draw):
    schema = draw(schemas(messy=True))
    frame = draw(frames(schema, outside=draw(st.booleans()))).reset_index(drop=True)
    return schema, frame, draw(proposals(schema, len(frame)))


def as_rows(codes):
    return Rows(
        np.asarray([codes.values], np.float32).reshape(1, -1),
        np.asarray([codes.categories], np.int16).reshape(1, -1),
    )


def as_codes(rows):
    return RowCodes(tuple(rows.continuous[0].tolist()), tuple(rows.categories[0].tolist()))


@given(cases())
def test_codes_settled_rows_and_changes_are_those_of_the_table(case):
    schema, frame, proposed = case
    for k in range(len(frame)):
        table = frame.iloc[[k]].reset_index(drop=True)
        applicant = {name: column.iloc[0] for name, column in table.items()}
        row = schema.row_codec.encode(applicant)
        if row is None:
            continue
        rows = schema.encode(table, out_of_range="error")
        assert as_rows(row.codes) == rows
        wish = proposed[k : k + 1]
        codes = schema.row_codec.settle(row, as_codes(wish))
        settled = as_rows(codes)
        assert settled == schema.settle(table, rows, wish)
        found = Recourse(
            schema=schema,
            original=table,
            original_rows=rows,
            attempts=settled,
            status=np.array(["found"]),
            predicted=np.array([0]),
            desired=np.array([1]),
            probability=np.array([1.0]),
            method="test",
        )
        record = found.to_records()[0]
        assert schema.row_codec.changes(applicant, row.codes, codes) == record["changes"]
        cost = schema.row_codec.proximity(row.codes, codes)
        assert cost == pytest.approx(record["proximity"], rel=1e-9)


SCHEMA = Schema(
    (
        Continuous("income", 0.0, 100.0, bounds=(1.0, None)),
        Continuous("months", 0, 48, integer=True),
        Categorical("job", ("none", "full")),
        Categorical("phone", (True, False)),
        Categorical("grade", (1, 2, 3)),
    )
)
PLAIN = {"income": 20.5, "months": 12, "job": "none", "phone": True, "grade": 2}


@pytest.mark.parametrize(
    "value",
    [
        {"income": 30},
        {"income": np.float32(2.5)},
        {"months": 12.0},
        {"phone": np.bool_(False)},
        {"other": 1},
    ],
)
def test_sound_rows_need_no_table(value):
    row = SCHEMA.row_codec.encode(PLAIN | value)
    assert as_rows(row.codes) == SCHEMA.encode(pd.DataFrame([PLAIN | value]))


@pytest.mark.parametrize(
    "value",
    [
        {"income": float("nan")},
        {"income": float("inf")},
        {"income": 10**400},
        {"income": 101.0},
        {"income": 0.5},
        {"income": "20"},
        {"income": True},
        {"income": None},
        {"months": 1.5},
        {"job": "king"},
        {"job": None},
        {"job": ["none"]},
        {"grade": Decimal(2)},
        {"phone": 1},
        {"phone": "True"},
    ],
)
def test_what_is_not_beyond_doubt_is_left_to_the_table(value):
    assert SCHEMA.row_codec.encode(PLAIN | value) is None


def test_a_missing_feature_is_left_to_the_table():
    assert SCHEMA.row_codec.encode({k: v for k, v in PLAIN.items() if k != "job"}) is None


def test_a_schema_of_one_sort_of_features_has_rows_too():
    for feature, value in ((SCHEMA.features[0], 7.0), (SCHEMA.features[2], "full")):
        schema = Schema((feature,))
        row = schema.row_codec.encode({feature.name: value})
        assert as_rows(row.codes) == schema.encode(pd.DataFrame([{feature.name: value}]))
        assert schema.row_codec.settle(row, row.codes) == row.codes
