"""Gaps: what they are read as, in a table and in a single row, and that nobody is asked for one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from tests.strategies import frames, proposals, schemas

from rocourse.errors import DataError, SchemaError
from rocourse.schema import (
    Categorical,
    Continuous,
    Recourse,
    RowCodes,
    Rows,
    Schema,
    describe_change,
)
from rocourse.schema.constraints import ConstraintLayer, expand

TABLE = pd.DataFrame(
    {
        "income": [10.5, None, 30.0, 20.0, 99.0],
        "children": [0, 2, None, 3, 2],
        "job": ["clerk", None, "chef", "chef", "chef"],
        "owner": [True, False, True, True, False],
        "grade": ["a", "b", "a", "a", None],
    }
)


def test_gaps_are_read_sensibly_without_a_word():
    schema = Schema.infer(TABLE, target="grade", favourable="a")
    # The row without a class is not looked at.
    assert schema.features == (
        Continuous("income", 10.5, 30, missing="impute", fill=20.0),
        Continuous("children", 0, 3, integer=True, missing="impute", fill=2),
        Categorical("job", ("chef", "clerk"), missing="category"),
        Categorical("owner", (False, True), missing="impute", fill=True),
    )
    assert schema.target.classes == ("a", "b")
    rows = schema.encode(TABLE[:4])
    np.testing.assert_array_equal(rows.categories[:, 0], [1, 2, 0, 0])
    assert schema.layout.group_sizes == (3, 2)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("impute", ["impute"] * 4),
        ("category", ["impute", "impute", "category", "impute"]),
        ("drop", ["drop"] * 4),
        ({"income": "drop", "job": "impute"}, ["drop", "impute", "impute", "impute"]),
    ],
)
def test_a_word_for_the_table_or_by_column(word, expected):
    schema = Schema.infer(TABLE.drop(columns="grade"), missing=word)
    assert [feature.missing for feature in schema.features] == expected


def test_dropped_rows_are_not_looked_at_and_refused_later(assert_sentence):
    table = TABLE.drop(columns="grade")
    schema = Schema.infer(table, missing="drop")
    assert (schema["income"].low, schema["income"].high) == (10.5, 99.0)
    assert schema["children"] == Continuous("children", 0, 3, integer=True, missing="drop")
    assert schema.usable(table).tolist() == [True, False, False, True, True]
    with pytest.raises(DataError, match="as was done in training") as caught:
        schema.encode(table)
    assert_sentence(caught.value)


@given(st.lists(st.floats(-1e6, 1e6) | st.none(), min_size=3, max_size=9), st.booleans())
def test_fills_are_those_of_an_imputer(values, whole):
    numbers = [v if v is None or not whole else float(int(v)) for v in values]
    column = pd.Series(numbers, dtype=float)
    if column.nunique() < 2:
        return
    texts = column.round(-5).astype(str).mask(column.isna(), None)
    table = pd.DataFrame({"x": column, "k": texts, "of two": [*"ab", *"a" * (len(column) - 2)]})
    try:
        schema = Schema.infer(table, missing="impute")
    except SchemaError as error:
        assert "'k' must vary" in str(error)
        return
    median = SimpleImputer(strategy="median").fit(column.to_frame()).statistics_[0]
    rounded = np.rint(median) if schema["x"].integer else median
    assert schema["x"].fill == rounded == np.clip(rounded, *schema["x"].limits)
    frequent = SimpleImputer(strategy="most_frequent")
    known = texts.dropna().astype(object).to_frame()
    assert schema["k"].fill == frequent.fit(known).statistics_[0]
    assert schema["of two"].fill == "a"


def test_a_hand_made_schema_learns_its_fills():
    made = Schema([Continuous("income", 0, 100, missing="impute"), Categorical("job", ("a", "b"))])
    table = pd.DataFrame({"income": [None, 5, 7], "job": list("aab")})
    with pytest.raises(DataError, match="fit the model, or state the feature's fill"):
        made.encode(table)
    assert made.filled(table)["income"].fill == 6
    assert made.filled(table)["job"] == made["job"]
    with pytest.raises(DataError, match="must have values to learn a fill from"):
        made.filled(table.assign(income=np.nan))


@st.composite
def cases(draw):
    schema = draw(schemas(messy=True))
    df = draw(frames(schema))
    return schema, df, draw(proposals(schema, len(df)))


@settings(max_examples=200)
@given(cases())
def test_a_row_alone_is_read_and_settled_as_in_its_table(case):
    schema, df, proposed = case
    rows = schema.encode(df)
    settled = schema.settle(df, rows, proposed)
    n = len(df)
    status, shares = ["found"] * n, [0.5] * n
    recourse = Recourse(schema, df, rows, settled, status, [0] * n, [1] * n, shares, "test")
    records = recourse.to_records()
    for k, cells in enumerate(zip(*(df[name] for name in schema.names), strict=True)):
        applicant = dict(zip(schema.names, cells, strict=True))
        row = schema.row_codec.encode(applicant)
        assert row.codes == _codes(rows, k)
        assert list(row.imputed) == records[k]["imputed"] == list(recourse.imputed[k])
        alone = schema.row_codec.settle(row, _codes(proposed, k))
        assert alone == _codes(settled, k)
        changes = schema.row_codec.changes(applicant, row.codes, alone)
        assert changes == records[k]["changes"]
        for change, text in zip(changes, recourse.describe(k), strict=True):
            assert change["to"] is not None
            assert (change["from"] is None) == (": missing → " in text)


def _codes(rows, k):
    return RowCodes(tuple(rows.continuous[k].tolist()), tuple(rows.categories[k].tolist()))


@settings(max_examples=50)
@given(st.data())
def test_the_layer_of_constraints_allows_what_settling_leaves(data):
    schema = data.draw(schemas(messy=True))
    if not schema.categorical:
        return
    df = data.draw(frames(schema, max_rows=3))
    rows = schema.encode(df)
    sizes = schema.layout.group_sizes
    layer = ConstraintLayer.from_schema(schema)
    for k in range(len(rows)):
        x = expand(rows.continuous[k], rows.categories[k], schema.layout)
        allowed = np.split(np.asarray(layer.limits(x).allowed), np.cumsum(sizes)[:-1])
        for group, size in enumerate(sizes):
            codes = np.tile(rows.categories[k], (size, 1))
            codes[:, group] = np.arange(size)
            here = rows.take([k] * size)
            asked = Rows(here.continuous, codes)
            left = schema.settle(df.iloc[[k] * size], here, asked).categories[:, group]
            np.testing.assert_array_equal(allowed[group], left == np.arange(size))
            gap = schema.categorical[group].gap
            assert gap is None or not allowed[group][gap] or rows.categories[k, group] == gap


@pytest.mark.parametrize(
    "nothing", [None, float("nan"), "", "NA", pd.NA, np.float32("nan"), pd.NaT]
)
def test_whatever_stands_for_nothing_is_a_gap(nothing):
    schema = Schema(
        [
            Continuous("x", 0, 10, missing="impute", fill=4),
            Categorical("k", ("a", "b"), missing="category"),
            Categorical("f", (True, False), missing="impute", fill=False),
        ]
    )
    row = schema.row_codec.encode({"x": nothing, "k": nothing, "f": nothing})
    assert row == ((4.0,), ((np.float32(0.4).item(),), (2, 1)), ("x", "f"))
    table = pd.DataFrame({"x": [nothing, 3], "k": [nothing, "a"], "f": [nothing, True]})
    assert _codes(schema.encode(table), 0) == row.codes
    alone = table[:1].reset_index(drop=True)
    assert _codes(schema.encode(alone), 0) == row.codes


def test_a_category_that_looks_like_nothing_is_a_category():
    schema = Schema([Categorical("k", ("", "NA", "x"), missing="category")])
    rows = schema.encode(pd.DataFrame({"k": ["NA", "", None, "null"]}))
    assert rows.categories.ravel().tolist() == [1, 0, 3, 3]
    assert schema.row_codec.encode({"k": "NA"}).codes.categories == (1,)


def test_gaps_are_told_as_missing():
    assert describe_change(Continuous("age", 20, 70, unit="years"), None, 35) == (
        "age: missing → 35 years"
    )
    job = Categorical("job", ("a", "b"), labels=("clerk", "chef"), missing="category")
    assert describe_change(job, float("nan"), "b") == "job: missing → chef"


def test_a_column_keeps_its_type_beside_gaps():
    schema = Schema(
        [
            Continuous("n", 0, 9, integer=True, missing="impute", fill=2),
            Categorical("f", (False, True), missing="category"),
        ]
    )
    df = pd.DataFrame(
        {"n": pd.array([1, None, 3], "Int64"), "f": pd.array([True, None, None], "boolean")}
    )
    rows = schema.encode(df)
    asked = Rows([[1.0], [0.0], [1 / 3]], [[0], [0], [2]])
    settled = schema.settle(df, rows, asked)
    recourse = Recourse(schema, df, rows, settled, ["found"] * 3, [0] * 3, [1] * 3, [0.5] * 3, "t")
    for stable in (False, True):
        frame = recourse.frame(stable=stable)
        assert frame.dtypes.tolist() == df.dtypes.tolist()
        assert frame["n"].tolist() == [9, 0, 3]
        assert frame["f"].isna().tolist() == [False, False, True]
    assert recourse.summaries()[1] == "n: missing → 0; f: missing → False"
