"""Rows enter by `encode` and leave by `decode`."""

import time
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import as_read, encode_quietly, frames, schemas
from tests.versions import TEXT

from rocourse.errors import ConfigError, DataError, SchemaError
from rocourse.schema import Categorical, ClippedWarning, Continuous, Rows, Schema, Target

SCHEMA = Schema(
    (
        Categorical("Housing", ("own", "rent", "free")),
        Continuous("Age", 20, 70, integer=True, bounds=(18, 100)),
        Categorical("Grade", (1, 2, 3)),
        Continuous("Rate", 1.0, 5.0),
        Categorical("Phone", (False, True)),
    ),
    Target("Paid", (0, 1)),
)


def table(**columns):
    return pd.DataFrame(
        {
            "Housing": ["own", "free", "rent"],
            "Age": [20, 45, 70],
            "Grade": [1, 3, 2],
            "Rate": [1.0, 2.0, 5.0],
            "Phone": [True, False, True],
            **columns,
        },
        index=["Ann", "Bob", "Cem"],
    )


def test_encoding_is_the_closed_form():
    rows = SCHEMA.encode(table())
    np.testing.assert_array_equal(rows.continuous, [[0, 0], [0.5, 0.25], [1, 1]])
    np.testing.assert_array_equal(rows.categories, [[0, 0, 1], [2, 2, 0], [1, 1, 1]])
    assert rows.continuous.dtype == np.float32
    assert rows.categories.dtype == np.int16


def test_decoding_is_exact_with_natural_dtypes():
    decoded = SCHEMA.decode(SCHEMA.encode(table()))
    pd.testing.assert_frame_equal(decoded, table().reset_index(drop=True))
    assert [str(dtype) for dtype in decoded.dtypes] == [TEXT, "int64", "int64", "float64", "bool"]


def test_number_categories_decode_to_floats():
    schema = Schema([Categorical("k", (0.5, 2))])
    decoded = schema.decode(Rows(np.zeros((2, 0)), [[1], [0]]))
    pd.testing.assert_frame_equal(decoded, pd.DataFrame({"k": [2.0, 0.5]}))


def test_columns_may_come_in_any_order():
    assert SCHEMA.encode(table()[list(reversed(SCHEMA.names))]) == SCHEMA.encode(table())


@pytest.mark.parametrize(
    "columns",
    [
        {"Grade": [1.0, 3.0, 2.0]},
        {"Grade": pd.array([1, 3, 2], dtype="Int8")},
        {"Grade": pd.Categorical([1, 3, 2])},
        {"Grade": np.array([1, 3.0, Decimal(2)], dtype=object)},
        {"Age": [20.0, 45.0, 70.0]},
        {"Age": pd.array([20, 45, 70], dtype="int64[pyarrow]")},
        {"Age": np.array([20, 45.0, 70], dtype=object)},
        {"Age": np.array([20, Decimal(45), 70], dtype=object)},
        {"Age": pd.Categorical([20, 45, 70])},
        {"Rate": np.array([1, 2, 5])},
        {"Rate": np.array([1, 2, 5], dtype=np.float32)},
        {"Rate": pd.array([1, 2, 5], dtype="Float32")},
        {"Housing": np.array(["own", "free", "rent"], dtype=object)},
        {"Housing": pd.array(["own", "free", "rent"], dtype="string")},
        {"Housing": pd.Categorical(["own", "free", "rent"])},
        {"Housing": pd.Categorical(["own", "free", "rent"], categories=["rent", "free", "own"])},
        {"Phone": np.array([True, False, True], dtype=object)},
        {"Phone": pd.array([True, False, True], dtype="boolean")},
    ],
    ids=lambda columns: "-".join(f"{k}-{getattr(v, 'dtype', type(v))}" for k, v in columns.items()),
)
def test_dtype_of_a_column_makes_no_difference(columns):
    assert SCHEMA.encode(table(**columns)) == SCHEMA.encode(table())


def without(*names):
    return table().drop(columns=list(names))


BAD_ROWS = {
    "missing column": (without("Age"), "Column 'Age' is in the schema but missing from the rows"),
    "missing column, similar one present": (
        table().rename(columns={"Age": "age"}),
        "Column 'Age' is in the schema but missing from the rows; add it, or rename 'age' if",
    ),
    "several missing columns": (without("Age", "Rate"), "from the rows (2 of 5 features are)"),
    "duplicated column": (
        pd.concat([table(), table()[["Age"]]], axis=1),
        "Column names must be unique, but got 'Age' more than once",
    ),
    "no rows": (table()[:0], "at least one, but got a table with no rows"),
    "no table": ([[1, 2, 3]], "must be a pandas DataFrame, but got list"),
    "NaN in numbers": (
        table(Rate=[1, np.nan, np.nan]),
        "Column 'Rate' must not have missing values, but 2 rows hold NaN (first in row 'Bob')",
    ),
    "NA in integers": (
        table(Age=pd.array([20, 30, None], dtype="Int64")),
        "Column 'Age' must not have missing values, but 1 row holds NaN (first in row 'Cem')",
    ),
    "None in an object column": (
        table(Rate=np.array([1.0, None, 2.0], dtype=object)),
        "Column 'Rate' must not have missing values, but 1 row holds NaN (first in row 'Bob')",
    ),
    "missing category": (
        table(Housing=["own", None, "rent"]),
        "Column 'Housing' must not have missing values, but 1 row holds NaN (first in row 'Bob')",
    ),
    "missing number category": (
        table(Grade=[1, np.nan, 2]),
        "Column 'Grade' must not have missing values, but 1 row holds NaN (first in row 'Bob')",
    ),
    "infinity": (
        table(Rate=[1, 2, np.inf]),
        "Column 'Rate' must hold finite numbers, but 1 row holds infinity (inf, first in row 'Ce",
    ),
    "negative infinity": (table(Rate=[1, -np.inf, 2]), "1 row holds infinity (-inf, first in r"),
    "number beyond float": (
        table(Rate=np.array([1, 10**400, 2], dtype=object)),
        "Column 'Rate' must hold finite numbers, but 1 row holds infinity (inf, first in row 'B",
    ),
    "text among numbers": (
        table(Rate=np.array([1.0, "high", 2.0], dtype=object)),
        "Column 'Rate' must hold numbers, but 1 row holds text (first 'high' in row 'Bob')",
    ),
    "numbers as text": (
        table(Age=["20", "45", "70"]),
        "Column 'Age' must hold numbers, but 3 rows hold text (first '20' in row 'Ann')",
    ),
    "text categories for numbers": (
        table(Rate=pd.Categorical(["a", "b", "a"])),
        "Column 'Rate' must hold numbers, but 3 rows hold text (first 'a' in row 'Ann')",
    ),
    "flags for numbers": (
        table(Rate=[True, False, True]),
        "Column 'Rate' must hold numbers, but 3 rows hold flags (first True in row 'Ann')",
    ),
    "dates for numbers": (
        table(Rate=pd.date_range("2020", periods=3)),
        "Column 'Rate' must hold numbers, but 3 rows hold values that are no numbers",
    ),
    "complex numbers": (table(Rate=[1j, 2, 3]), "Column 'Rate' must hold numbers, but 3 rows"),
    "fraction in an integer feature": (
        table(Age=[20, 45.5, 70]),
        "Column 'Age' must hold whole numbers, but 1 row holds fractions (first 45.5 in row 'Bo",
    ),
    "below the bounds": (
        table(Age=[20, 17, 16]),
        "Column 'Age' must be at least 18 by its bounds, but 2 rows hold other values (first 17 ",
    ),
    "above the bounds": (
        table(Age=[20, 40, 130]),
        "Column 'Age' must be at most 100 by its bounds, but 1 row holds other values (first 13",
    ),
    "unseen category": (
        table(Housing=["own", "Rent", "boat"]),
        "Column 'Housing' must hold one of its categories 'own', 'rent', 'free', but 2 rows hold "
        "an unseen category (first 'Rent' in row 'Bob'); correct it (did you mean 'rent'?), or i",
    ),
    "unseen number category": (
        table(Grade=[1, 2.5, 4]),
        "Column 'Grade' must hold one of its categories 1, 2, 3, but 2 rows hold an unseen cate",
    ),
    "numbers for text categories": (
        table(Housing=[1, 2, 3]),
        "(first 1 in row 'Ann'); convert the column with .astype(str)",
    ),
    "text for number categories": (
        table(Grade=["1", "2", "3"]),
        "(first '1' in row 'Ann'); convert the column with pd.to_numeric",
    ),
    "numbers for flags": (
        table(Phone=[0, 1, 0]),
        "categories False, True, but 3 rows hold an unseen category (first 0 in row 'Ann'); conv",
    ),
    "flags for number categories": (
        table(Grade=[True, True, False]),
        "Column 'Grade' must hold one of its categories 1, 2, 3, but 3 rows hold an unseen cate",
    ),
    "lists for categories": (
        table(Housing=[["own"], ["rent"], ["own"]]),
        "Column 'Housing' must hold text, numbers or flags, but got ['own']",
    ),
}


@pytest.mark.parametrize(("rows", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_bad_rows_are_refused_in_one_sentence(rows, message, assert_sentence):
    with pytest.raises(DataError) as caught:
        SCHEMA.encode(rows)
    assert message in str(caught.value)
    assert_sentence(caught.value)


def test_long_lists_of_categories_are_shortened():
    schema = Schema([Categorical("k", tuple(range(1000)))])
    with pytest.raises(
        DataError, match=r"categories 0, 1, 2, 3, 4, 5, \.\.\. \(1000 in all\), but"
    ):
        schema.encode(pd.DataFrame({"k": [1000]}))


def test_values_outside_the_range_are_clipped_with_one_warning():
    with pytest.warns(UserWarning) as caught:
        rows = SCHEMA.encode(table(Age=[20, 90, 95], Rate=[0.5, 1.0, 5.0]))
    np.testing.assert_array_equal(rows.continuous, [[0, 0], [1, 0], [1, 1]])
    assert [str(warning.message) for warning in caught] == [
        "Values outside the range of the training rows were clipped in 'Age' (2 rows, first 90, "
        "range 20 to 70), 'Rate' (1 row, first 0.5, range 1 to 5); refuse them with "
        "out_of_range='error'."
    ]
    assert caught[0].filename == __file__


def test_warnings_about_batches_are_joined_to_one_about_all_rows():
    with pytest.warns(ClippedWarning) as whole:
        SCHEMA.encode(table(Age=[20, 90, 95], Rate=[1.0, 1.0, 9.0]))
    with pytest.warns(ClippedWarning) as parts:
        SCHEMA.encode(table(Age=[20, 90, 70]))
        SCHEMA.encode(table(Age=[95, 50, 50], Rate=[1.0, 9.0, 1.0]))
    joined = ClippedWarning.joined(warning.message for warning in parts)
    assert str(joined) == str(whole[0].message)


def test_values_outside_the_range_are_refused_on_request(assert_sentence):
    with pytest.raises(DataError, match=r"in 'Age' \(1 row, first 90, range 20 to 70\)") as caught:
        SCHEMA.encode(table(Age=[20, 90, 70]), out_of_range="error")
    assert_sentence(caught.value)
    with pytest.raises(ConfigError, match="must be 'clip' or 'error', but got 'ignore'"):
        SCHEMA.encode(table(), out_of_range="ignore")


@pytest.mark.parametrize("wild", [1e308, -1e308, 1.7e308])
def test_wild_values_are_clipped_without_overflow(wild):
    schema = Schema([Continuous("x", -8e307, 8e307)])
    assert encode_quietly(schema, pd.DataFrame({"x": [wild]})).continuous == (wild > 0)


def test_rounding_of_a_text_file_or_of_float32_does_not_warn():
    schema = Schema([Continuous("x", 0.7, 1.1)])
    rounded = pd.DataFrame({"x": np.array([0.7, 1.1], dtype=np.float32)})
    low, high = rounded["x"].astype(float)
    assert low < 0.7 and high > 1.1
    np.testing.assert_array_equal(schema.encode(rounded).continuous, [[0], [1]])


def test_encoding_does_not_modify_the_rows():
    df = table()
    SCHEMA.encode(df)
    pd.testing.assert_frame_equal(df, table())


@given(st.data())
def test_decoding_restores_the_rows(data):
    schema = data.draw(schemas(messy=True))
    df = data.draw(frames(schema))
    rows = schema.encode(df, out_of_range="error")
    assert ((rows.continuous >= 0) & (rows.continuous <= 1)).all()
    decoded = schema.decode(rows)
    assert list(decoded.columns) == list(schema.names)
    for feature in schema.features:
        before, after = (
            [as_read(feature, value) for value in rows[feature.name]] for rows in (df, decoded)
        )
        if isinstance(feature, Continuous):
            span = feature.high - feature.low
            # Codes are float32: whole numbers are exact as long as it can tell them apart.
            tolerance = 0 if feature.integer and span < 2**23 else span * 2.0**-23
            # Times are told to the second.
            tolerance += 1 / 86_400 if feature.date else 0
            assert max(abs(a - b) for a, b in zip(before, after, strict=True)) <= tolerance
        else:
            assert before == after


@given(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)).filter(lambda ends: ends[0] < ends[1]))
def test_ends_of_the_range_decode_to_themselves(ends):
    # The sum `low + (high - low)` is often not `high`.
    schema = Schema([Continuous("x", *ends)])
    assert schema.decode(Rows([[0], [1]], np.zeros((2, 0), dtype=int)))["x"].tolist() == [*ends]


@given(st.data())
def test_decoded_rows_never_warn(data):
    schema = data.draw(schemas(messy=True))
    n = 5
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    rows = Rows(
        rng.random((n, schema.layout.n_continuous)).round(rng.integers(1, 9)),
        rng.integers(
            0, np.array(schema.layout.group_sizes, dtype=int), (n, len(schema.categorical))
        ),
    )
    schema.encode(schema.decode(rows), out_of_range="error")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (Rows([[np.nan]], [[0]]), "Feature 'x' must be encoded by numbers, but got NaN"),
        (Rows([[0.5]], [[2]]), "Feature 'k' must be encoded by codes from 0 to 1, but got 2 to 2"),
        (Rows([[0.5]], [[-1]]), "Feature 'k' must be encoded by codes from 0 to 1, but got -1 to"),
        (Rows([[0.5, 0.5]], [[0]]), "must have 1 continuous and 1 categorical features, but got 2"),
    ],
)
def test_rows_that_stand_for_nothing_are_not_decoded(rows, message, assert_sentence):
    schema = Schema([Continuous("x", 0, 1), Categorical("k", ("a", "b"))])
    with pytest.raises(DataError) as caught:
        schema.decode(rows)
    assert message in str(caught.value)
    assert_sentence(caught.value)


def test_many_categories_need_wider_codes():
    schema = Schema([Categorical("k", tuple(range(40_000)))])
    rows = schema.encode(pd.DataFrame({"k": [0, 39_999]}))
    assert rows.categories.dtype == np.int32
    assert rows.categories.tolist() == [[0], [39_999]]


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"Age": ["a", "b", "c"]}, SchemaError, "Column 'Age' must hold numbers"),
        ({"Age": [20.5, 30, 40]}, SchemaError, "Column 'Age' must hold whole numbers"),
        ({"Housing": ["boat", "own", "own"]}, SchemaError, "unseen category (first 'boat'"),
        ({"Shoe": [1, 2, 3]}, SchemaError, "Column 'Shoe' is not in the schema"),
        ({"Age": [75, 80, 30]}, SchemaError, "has the range 20 to 70, but 2 of 3 training rows"),
        ({"Age": [20, 17, 30]}, DataError, "must be at least 18 by its bounds"),
        ({"Age": [20, np.nan, 30]}, DataError, "must not have missing values"),
    ],
)
def test_schema_that_contradicts_the_training_rows_is_refused(
    columns, error, message, assert_sentence
):
    with pytest.raises(error) as caught:
        SCHEMA.check_fit(table(**columns))
    assert message in str(caught.value)
    assert_sentence(caught.value)


def test_schema_may_be_wider_than_the_training_rows():
    SCHEMA.check_fit(table(Age=30, Housing="own"))
    SCHEMA.check_fit(table(Age=[30, 40, 90]))
    with pytest.raises(SchemaError, match="Column 'Age' is in the schema but missing"):
        SCHEMA.check_fit(without("Age"))


def test_a_million_rows_take_about_a_second():
    n = 1_000_000
    rng = np.random.default_rng(0)
    df = pd.DataFrame(
        {
            "Housing": pd.Series(rng.choice(["own", "rent", "free"], n), dtype="str"),
            "Age": rng.integers(20, 71, n),
            "Grade": rng.integers(1, 4, n),
            "Rate": rng.uniform(1, 5, n),
            "Phone": rng.random(n) < 0.5,
        }
    )
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = SCHEMA.encode(df)
    # Generous, for busy machines: a Python loop over the rows would take ten times as long.
    assert time.process_time() - start < 3
    assert len(rows) == n


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [
        (1234.5, 180_000.0, [170_000.0, 138_000.0, 20_000.5]),
        (-3.0, 5.0, [0.0, -1.1, 0.3]),
        (0.0, 1.0, [0.1, 0.7]),
        (-1e9, 3e9, [0.0, 5e5, 1e6]),
    ],
)
def test_numbers_of_few_digits_come_back_as_they_are(low, high, values):
    schema = Schema([Continuous("x", low, high)])
    assert schema.decode(schema.encode(pd.DataFrame({"x": values})))["x"].tolist() == values
