"""The record that every method emits."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import broken_constraints, encode_quietly, frames, is_gap, proposals, schemas
from tests.versions import TEXT

from rocourse.errors import DataError
from rocourse.schema import Categorical, Continuous, Recourse, Rows, Schema, describe_change
from rocourse.schema._describe import describe_changes

SCHEMA = Schema(
    (
        Continuous("Duration", 4, 72, integer=True, unit="months"),
        Categorical("Status", ("A11", "A14"), labels=("no account", "balance over 200 DM")),
        Continuous("Rate", 0.0, 10.0, unit="%"),
        Categorical("Phone", (False, True)),
    )
)
ROWS = pd.DataFrame(
    {
        "Duration": [48, 12, 24],
        "Status": ["A11", "A14", "A11"],
        "Rate": [2.5, 0.1, 7.25],
        "Phone": [True, True, False],
    },
    index=pd.Index(["Ann", "Bob", "Cem"], name="applicant"),
)
# Ann: 24 months and another status; Bob: nothing worked; Cem: no need.
ATTEMPTS = ROWS.assign(Duration=[24, 72, 24], Status=["A14", "A11", "A11"], Rate=[2.5, 5.0, 7.25])


def make(**fields):
    original = fields.pop("original", ROWS)
    return Recourse(
        **{
            "schema": SCHEMA,
            "original": original,
            "original_rows": SCHEMA.encode(original),
            "attempts": SCHEMA.encode(ATTEMPTS),
            "status": np.array(["found", "not_found", "not_needed"]),
            "predicted": np.array(["bad", "bad", "good"]),
            "desired": np.array(["good", "good", "good"]),
            "probability": np.array([0.75, 0.25, 1.0], dtype=np.float32),
            "method": "rocoursenet",
            **fields,
        }
    )


def test_frame_changes_found_rows_only():
    expected = ROWS.copy()
    expected.loc["Ann", ["Duration", "Status"]] = [24, "A14"]
    pd.testing.assert_frame_equal(make().frame(), expected)


def test_attempted_shows_every_attempt():
    pd.testing.assert_frame_equal(make().attempted(), ATTEMPTS)


def test_changes_are_listed_cell_by_cell_for_found_rows():
    expected = pd.DataFrame(
        {
            "row": ["Ann", "Ann"],
            "feature": ["Duration", "Status"],
            "from": pd.Series([48, "A11"], dtype=object),
            "to": pd.Series([24, "A14"], dtype=object),
        }
    )
    pd.testing.assert_frame_equal(make().changes(), expected)


def test_changes_of_several_rows_come_row_by_row_in_schema_order():
    changes = make(status=["found"] * 3).changes()
    assert list(zip(changes["row"], changes["feature"], strict=True)) == [
        ("Ann", "Duration"),
        ("Ann", "Status"),
        ("Bob", "Duration"),
        ("Bob", "Status"),
        ("Bob", "Rate"),
    ]


def test_measures_are_of_the_attempts():
    recourse = make()
    np.testing.assert_array_equal(recourse.valid, [True, False, True])
    np.testing.assert_array_equal(recourse.features_changed, [2, 3, 0])
    expected = [24 / 68 + 2, 60 / 68 + 2 + 0.49, 0]
    np.testing.assert_allclose(recourse.proximity, expected, rtol=1e-6)
    assert recourse.probability.dtype == np.float64
    assert len(recourse) == 3


def test_description_uses_units_and_labels():
    recourse = make(status=["found"] * 3)
    assert recourse.describe(0) == [
        "Duration: 48 → 24 months",
        "Status: no account → balance over 200 DM",
    ]
    assert recourse.describe(1)[2] == "Rate: 0.1 → 5 %"
    assert recourse.describe(-1) == []
    assert make().describe(1) == []


@pytest.mark.parametrize(
    ("feature", "before", "after", "expected"),
    [
        (Continuous("x", 0, 1), 0.25, 0.75, "x: 0.25 → 0.75"),
        (Continuous("x", 0, 3), 1, 2, "x: 1 → 2"),
        (Continuous("x", 0, 3), 1 / 3, 2 / 3, "x: 0.333 → 0.667"),
        (Continuous("x", 0, 100_000), 12345.678, 54321.9, "x: 12346 → 54322"),
        (Continuous("x", 0, 1e-6), 2.5e-7, 5e-7, "x: 0.00000025 → 0.0000005"),
        (Continuous("x", -1, 1), 0.5, -1e-9, "x: 0.5 → 0"),
        (Continuous("x", 0, 1e20), 2.5e19, 5e19, "x: 2.5e+19 → 5e+19"),
        (Continuous("x", 0, 10_000_000, integer=True), 0, 10_000_000, "x: 0 → 10000000"),
        (Categorical("x", ("a", "b")), "a", "b", "x: a → b"),
        (Categorical("x", (1, 2)), 1, 2, "x: 1 → 2"),
        (Categorical("x", (1, 2), labels=("one", "two")), 1.0, 2.0, "x: one → two"),
        (Categorical("x", (0.5, 2.0)), 0.5, 2.0, "x: 0.5 → 2"),
        (Categorical("x", (False, True), labels=("no", "yes")), False, True, "x: no → yes"),
        (Categorical("x", (False, True)), False, True, "x: False → True"),
    ],
)
def test_values_are_described_at_sensible_precision(feature, before, after, expected):
    schema = Schema([feature])
    df = pd.DataFrame({"x": [before]})
    attempts = schema.encode(pd.DataFrame({"x": [after]}))
    recourse = Recourse(schema, df, schema.encode(df), attempts, ["found"], [0], [1], [1.0], "m")
    assert recourse.describe(0) == [expected]
    # A service puts single changes in words, without a table.
    assert describe_change(feature, before, after) == expected


@given(
    low=st.floats(-1e6, 1e6),
    span=st.floats(1e-6, 1e12),
    values=st.lists(st.one_of(st.floats(-1e12, 1e12), st.none()), min_size=2, max_size=6),
)
def test_a_single_number_has_the_words_of_a_column(low, span, values):
    feature = Continuous("x", low, low + span)
    column = pd.Series(values, dtype=float)
    alone = [describe_change(feature, value, value) for value in values]
    assert alone == describe_changes(feature, column, column)


@pytest.mark.parametrize(("low", "high"), [(-2.6, 6.2), (-0.5, 4.4), (-0.7, 0.5), (-5.0, 4.4)])
def test_a_recourse_to_zero_is_zero_in_the_table_as_in_words(low, high):
    # float32 has no code for zero here, only one close by.
    schema = Schema([Continuous("x", low, high)])
    original = pd.DataFrame({"x": [high]})
    rows, wish = schema.encode(original), schema.encode(pd.DataFrame({"x": [0.0]}))
    settled = schema.settle(original, rows, wish)
    found = Recourse(schema, original, rows, settled, ["found"], [0], [1], [0.5], "test")
    assert found.describe(0) == [f"x: {high:g} → 0"]
    assert found.frame()["x"].tolist() == [0.0]
    assert found.to_records()[0]["changes"][0]["to"] == 0.0
    assert settled == wish


def test_records_are_plain_json():
    records = json.loads(json.dumps(make().to_records(), allow_nan=False))
    assert records[0] == {
        "index": "Ann",
        "status": "found",
        "predicted": "bad",
        "desired": "good",
        "probability": 0.75,
        "proximity": pytest.approx(24 / 68 + 2),
        "features_changed": 2,
        "changes": [
            {"feature": "Duration", "from": 48, "to": 24},
            {"feature": "Status", "from": "A11", "to": "A14"},
        ],
        "robustness": None,
        "cost": pytest.approx(24 / 68 + 2),
        "months": None,
        "imputed": [],
    }
    assert [record["changes"] for record in records[1:]] == [[], []]
    assert [record["status"] for record in records] == ["found", "not_found", "not_needed"]


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (pd.RangeIndex(3), [0, 1, 2]),
        (pd.Index([7, 7, 7]), [7, 7, 7]),
        (pd.MultiIndex.from_product([["a"], [1, 2, 3]]), [["a", 1], ["a", 2], ["a", 3]]),
        (pd.date_range("2020-01-01", periods=3), [f"2020-01-0{d} 00:00:00" for d in (1, 2, 3)]),
        (pd.Index([1.5, np.nan, 2.5]), [1.5, None, 2.5]),
    ],
    ids=["range", "duplicated", "multi", "dates", "missing"],
)
def test_any_index_is_kept(index, expected):
    original = ROWS.set_axis(index)
    recourse = make(original=original, predicted=[0, 0, 1], desired=[1, 1, 1])
    pd.testing.assert_index_equal(recourse.frame().index, index)
    assert len(recourse.changes()) == 2
    records = json.loads(json.dumps(recourse.to_records(), allow_nan=False))
    assert [record["index"] for record in records] == expected


@pytest.mark.parametrize(
    ("column", "to", "expected"),
    [
        (pd.Series([1, 2], dtype="int64"), 4.0, pd.Series([4, 2], dtype="int64")),
        (pd.Series([1, 2], dtype="int64"), 2.5, pd.Series([2.5, 2.0], dtype="float64")),
        (pd.Series([1, 2], dtype="int8"), 200.0, pd.Series([200, 2], dtype="float64")),
        (pd.Series([1, 2], dtype="uint8"), -4.0, pd.Series([-4, 2], dtype="float64")),
        (pd.Series([1, 2], dtype="float32"), 2.5, pd.Series([2.5, 2], dtype="float32")),
        (pd.Series([1, 2], dtype="Int64"), 4.0, pd.Series([4, 2], dtype="Int64")),
        (pd.Series([1, 2], dtype="Int64"), 2.5, pd.Series([2.5, 2], dtype="float64")),
        (pd.Series([1, 2], dtype=object), 2.5, pd.Series([2.5, 2], dtype=object)),
        (pd.Series([1, 2], dtype="category"), 2.5, pd.Series([2.5, 2], dtype="float64")),
        (
            pd.Series([1, 2], dtype="int64[pyarrow]"),
            4.0,
            pd.Series([4, 2], dtype="int64[pyarrow]"),
        ),
    ],
)
def test_number_column_keeps_its_dtype_where_the_values_allow(column, to, expected):
    schema = Schema([Continuous("x", -256, 256)])
    df = pd.DataFrame({"x": column})
    attempts = schema.encode(pd.DataFrame({"x": [to, 2.0]}))
    recourse = Recourse(
        schema, df, schema.encode(df), attempts, ["found"] * 2, [0, 0], [1, 1], [1, 1], "m"
    )
    pd.testing.assert_series_equal(recourse.frame()["x"], expected, check_names=False)


@pytest.mark.parametrize("dtype", ["int16", "int64", "uint8", "uint64", "Int64"])
def test_whole_numbers_of_an_integer_feature_stay_whole(dtype):
    schema = Schema([Continuous("x", -200, 300, integer=True)])
    df = pd.DataFrame({"x": pd.Series([1, 2], dtype=dtype)})
    attempts = schema.encode(pd.DataFrame({"x": [-150, 280]}))
    recourse = Recourse(
        schema, df, schema.encode(df), attempts, ["found"] * 2, [0, 0], [1, 1], [1, 1], "m"
    )
    result = recourse.frame()["x"]
    assert pd.api.types.is_integer_dtype(result.dtype)
    assert result.tolist() == [-150, 280]


@pytest.mark.parametrize(
    ("categories", "column", "expected"),
    [
        (("a", "b", "c"), pd.Series(["a", "b"], dtype=object), pd.Series(["c", "b"], dtype=object)),
        (("a", "b", "c"), pd.Series(["a", "b"], dtype="str"), pd.Series(["c", "b"], dtype="str")),
        (
            ("a", "b", "c"),
            pd.Series(pd.Categorical(["a", "b"], categories=["a", "b", "c"])),
            pd.Series(pd.Categorical(["c", "b"], categories=["a", "b", "c"])),
        ),
        (
            ("a", "b", "c"),
            pd.Series(pd.Categorical(["a", "b"], categories=["b", "a", "z"], ordered=True)),
            pd.Series(pd.Categorical(["c", "b"], categories=["a", "b", "c", "z"], ordered=True)),
        ),
        ((1, 2, 3), pd.Series([1, 2]), pd.Series([3, 2])),
        ((1, 2, 3), pd.Series([1.0, 2.0]), pd.Series([3.0, 2.0])),
        ((1.0, 2.0, 2.5), pd.Series([1, 2]), pd.Series([2.5, 2.0])),
        (
            (1, 2, 3),
            pd.Series(pd.Categorical([1, 2])),
            pd.Series(pd.Categorical([3, 2], [1, 2, 3])),
        ),
        # float64 cannot tell these two apart, so the column has to become whole numbers.
        ((2**53, 2**53 + 1), pd.Series([2.0**53] * 2), pd.Series([2**53 + 1, 2**53])),
        ((False, True), pd.Series([False, True]), pd.Series([True, True])),
        (
            (False, True),
            pd.Series([False, True], dtype=object),
            pd.Series([True] * 2, dtype=object),
        ),
    ],
)
def test_category_column_keeps_its_dtype_where_the_values_allow(categories, column, expected):
    schema = Schema([Categorical("x", categories)])
    df = pd.DataFrame({"x": column})
    before = schema.encode(df)
    after = Rows(before.continuous, [[len(categories) - 1], before.categories[1]])
    recourse = Recourse(schema, df, before, after, ["found"] * 2, [0, 0], [1, 1], [1, 1], "m")
    pd.testing.assert_series_equal(recourse.frame()["x"], expected, check_names=False)


@pytest.mark.parametrize(
    ("feature", "column", "expected"),
    [
        (Continuous("x", 0, 9), pd.Series([1, 2], dtype="int64"), "float64"),
        (Continuous("x", 0, 9), pd.Series([1, 2], dtype="float32"), "float64"),
        (Continuous("x", 0, 9), pd.Series([1, 2], dtype="Float64"), "Float64"),
        (Continuous("x", 0, 9), pd.Series([1, 2], dtype="category"), "float64"),
        (Continuous("x", 0, 9, immutable=True), pd.Series([1, 2], dtype="float32"), "float32"),
        (Continuous("x", 0, 9, integer=True), pd.Series([1, 2], dtype="int8"), "int8"),
        (Continuous("x", 0, 300, integer=True), pd.Series([1, 2], dtype="int8"), "int64"),
        (Continuous("x", 0, 300, integer=True), pd.Series([1, 2], dtype="float32"), "float32"),
        (Continuous("x", 0, 2**25, integer=True), pd.Series([1, 2], dtype="float32"), "int64"),
        (Categorical("x", (1, 2)), pd.Series([1, 2], dtype="float32"), "float32"),
        (Categorical("x", (1.0, 2.5, 2.0)), pd.Series([1, 2], dtype="int64"), "float64"),
        (Categorical("x", ("a", "b")), pd.Series(["a", "b"], dtype="str"), TEXT),
    ],
)
def test_stable_dtypes_do_not_depend_on_what_was_changed(feature, column, expected):
    schema = Schema([feature])
    df = pd.DataFrame({"x": column})
    rows = schema.encode(df)
    swapped = rows if feature.immutable else rows.take([1, 0])
    for attempts in (rows, swapped):
        recourse = Recourse(schema, df, rows, attempts, ["found"] * 2, [0, 0], [1, 1], [1, 1], "m")
        frame = recourse.frame(stable=True)
        assert str(frame["x"].dtype) == expected
        assert frame["x"].tolist() == recourse.frame()["x"].tolist()


def test_stable_categories_are_those_of_the_rows_and_of_the_schema():
    schema = Schema([Categorical("x", ("a", "b", "c"))])
    df = pd.DataFrame({"x": pd.Categorical(["b", "b"], categories=["z", "b"], ordered=True)})
    rows = schema.encode(df)
    recourse = Recourse(schema, df, rows, rows, ["found"] * 2, [0, 0], [1, 1], [1, 1], "m")
    column = recourse.frame(stable=True)["x"]
    assert column.tolist() == ["b", "b"]
    assert list(column.cat.categories) == ["a", "b", "c", "z"] and column.cat.ordered


@st.composite
def recourses(draw):
    schema = draw(schemas(messy=True))
    df = draw(frames(schema, outside=True))
    rows = encode_quietly(schema, df)
    n = len(df)
    return Recourse(
        schema,
        df,
        rows,
        schema.settle(df, rows, draw(proposals(schema, n))),
        draw(
            st.lists(st.sampled_from(["found", "not_found", "not_needed"]), min_size=n, max_size=n)
        ),
        np.zeros(n, dtype=int),
        np.ones(n, dtype=int),
        np.full(n, 0.5),
        "test",
    )


@given(recourses())
def test_frame_keeps_constraints_and_every_other_cell(recourse):
    original = recourse.original.copy()
    frame, changes = recourse.frame(), recourse.changes()
    assert broken_constraints(recourse.schema, original, frame) == []
    pd.testing.assert_index_equal(frame.index, original.index)
    assert list(frame.columns) == list(recourse.schema.names)
    for name in recourse.schema.names:
        pairs = zip(original[name].tolist(), frame[name].tolist(), strict=True)
        different = [not is_gap(new) and (is_gap(old) or old != new) for old, new in pairs]
        assert sum(different) == (changes["feature"] == name).sum()
        if not any(different):
            pd.testing.assert_series_equal(frame[name], original[name])
    found = recourse.status == "found"
    assert len(changes) == recourse.features_changed[found].sum()
    assert not changes["to"].isna().any()
    pairs = zip(changes["from"], changes["to"], strict=True)
    assert all(is_gap(old) or old != new for old, new in pairs)
    pd.testing.assert_frame_equal(recourse.original, original)
    json.dumps(recourse.to_records(), allow_nan=False)
    assert recourse.summaries() == ["; ".join(texts) for texts in recourse.descriptions()]
    stable = recourse.frame(stable=True)
    pd.testing.assert_frame_equal(stable, frame, check_dtype=False, check_categorical=False)
    for i in range(len(recourse)):
        assert len(recourse.describe(i)) == (recourse.features_changed[i] if found[i] else 0)


@settings(max_examples=40)
@given(recourses(), st.data())
def test_part_of_a_record_is_a_record(recourse, data):
    n = len(recourse)
    where = data.draw(st.lists(st.integers(0, n - 1), max_size=n))
    part = recourse[where]
    assert len(part) == len(where)
    assert part.attempts == recourse.attempts.take(where)
    np.testing.assert_array_equal(part.proximity, recourse.proximity[where])
    pd.testing.assert_index_equal(part.frame().index, recourse.original.index.take(where))
    expected = recourse.frame().iloc[where]
    pd.testing.assert_frame_equal(
        part.frame(), expected, check_dtype=False, check_categorical=False
    )
    assert part.imputed == [recourse.imputed[k] for k in where]
    assert len(recourse[:1]) == 1
    assert len(recourse[recourse.valid]) == recourse.valid.sum()


def test_empty_part_works_everywhere():
    empty = make()[:0]
    assert len(empty) == len(empty.frame()) == len(empty.attempted()) == len(empty.changes()) == 0
    assert list(empty.frame().columns) == list(SCHEMA.names)
    assert empty.to_records() == []
    assert empty.proximity.shape == empty.features_changed.shape == (0,)


def test_record_does_not_follow_later_changes_of_the_rows():
    mine = ROWS.copy()
    recourse = make(original=mine)
    mine.loc["Ann", "Duration"] = 5
    assert recourse.original.loc["Ann", "Duration"] == 48
    with pytest.raises(ValueError, match="read-only"):
        recourse.status[0] = "found"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"status": ["found", "lost", "found"]},
            "must be one of 'found', 'found_unsure', 'not_found', 'not_needed', but",
        ),
        ({"status": ["found"]}, "status of a recourse must have one entry for each of 3 rows, but"),
        ({"desired": ["good"]}, "desired of a recourse must have one entry for each of 3 rows"),
        ({"attempts": SCHEMA.encode(ROWS)[:2]}, "attempts of a recourse must have one entry for e"),
        ({"attempts": Rows(np.zeros((3, 1)), np.zeros((3, 2), dtype=int))}, "2 continuous and 2 c"),
        ({"probability": [0.5, np.nan, 0.5]}, "must lie between 0 and 1, but got nan"),
        ({"probability": [0.5, 1.5, 0.5]}, "must lie between 0 and 1, but got 1.5"),
        ({"original": ROWS[list(reversed(SCHEMA.names))]}, "in this order, but got 'Phone', 'Rat"),
    ],
)
def test_record_that_contradicts_itself_is_refused(fields, message, assert_sentence):
    with pytest.raises(DataError) as caught:
        make(**fields)
    assert message in str(caught.value)
    assert_sentence(caught.value)
