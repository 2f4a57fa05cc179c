"""A schema read off a DataFrame."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import frames, schemas

from rocourse.errors import DataError, SchemaError
from rocourse.schema import Categorical, Continuous, Schema, Target


def table(**columns):
    return pd.DataFrame(
        {
            "Duration": [6, 48, 12, 24],
            "Rate": [1.5, 4.0, 2.0, 3.0],
            "Housing": ["own", "rent", "free", "own"],
            "Phone": [True, False, True, True],
            "Class": ["bad", "good", "good", "bad"],
            **columns,
        }
    )


def without_fills(schema):
    """The schema as if nothing were said of gaps, of which test_gaps.py tells."""
    features = [replace(feature, missing="error", fill=None) for feature in schema.features]
    return replace(schema, features=features)


def test_kinds_follow_the_columns():
    inferred = Schema.infer(table(), target="Class", favourable="good")
    assert without_fills(inferred) == Schema(
        (
            Continuous("Duration", 6, 48, integer=True),
            Continuous("Rate", 1.5, 4.0),
            Categorical("Housing", ("free", "own", "rent")),
            Categorical("Phone", (False, True)),
        ),
        Target("Class", ("bad", "good"), "good"),
    )


def test_options_become_constraints():
    schema = Schema.infer(
        table(),
        target="Class",
        immutable=["Housing"],
        increase_only=["Rate", "Phone"],
        decrease_only=["Duration"],
        bounds={"Duration": (0, 60), "Rate": (None, 4.5)},
        units={"Duration": "months"},
        favourable="bad",
    )
    assert without_fills(schema) == Schema(
        (
            Continuous("Duration", 6, 48, True, direction="down", bounds=(0, 60), unit="months"),
            Continuous("Rate", 1.5, 4.0, direction="up", bounds=(None, 4.5)),
            Categorical("Housing", ("free", "own", "rent"), immutable=True),
            Categorical("Phone", (False, True), direction="up"),
        ),
        Target("Class", ("bad", "good"), "bad"),
    )


@pytest.mark.parametrize(
    ("column", "options", "expected"),
    [
        (pd.Series([1.0, 2.0, 3.0]), {}, Continuous("x", 1, 3)),
        (pd.Series([1.0, 2.0, 3.0]), {"integer": ["x"]}, Continuous("x", 1, 3, integer=True)),
        (pd.Series([1, 2, 3], dtype="uint8"), {}, Continuous("x", 1, 3, integer=True)),
        (pd.Series([1, 2, 3], dtype="Int64"), {}, Continuous("x", 1, 3, integer=True)),
        (pd.Series([1, 2, 3], dtype=object), {}, Continuous("x", 1, 3, integer=True)),
        (pd.Series([1, 2.5, 3], dtype=object), {}, Continuous("x", 1, 3)),
        (pd.Series([1, 2, 3], dtype="float32"), {}, Continuous("x", 1, 3)),
        (pd.Series([3, 1, 2]), {"categorical": ["x"]}, Categorical("x", (1, 2, 3))),
        (pd.Series([3.0, 1.0]), {"categorical": ["x"]}, Categorical("x", (1.0, 3.0))),
        (pd.Series(["b", "a"], dtype=object), {}, Categorical("x", ("a", "b"))),
        (pd.Series(["b", "a"], dtype="string"), {}, Categorical("x", ("a", "b"))),
        (pd.Series([True, False], dtype=object), {}, Categorical("x", (False, True))),
        (pd.Series([True, False], dtype="boolean"), {}, Categorical("x", (False, True))),
        (
            pd.Series(pd.Categorical(["lo", "hi"], categories=["lo", "mid", "hi"])),
            {},
            Categorical("x", ("lo", "mid", "hi")),
        ),
        (
            pd.Series(pd.Categorical(["lo", "hi"], categories=["lo", "hi"], ordered=True)),
            {"increase_only": ["x"]},
            Categorical("x", ("lo", "hi"), direction="up"),
        ),
        (pd.Series(pd.Categorical([2, 1])), {}, Categorical("x", (1, 2))),
        (pd.Series(pd.Categorical([2, 1])), {"continuous": ["x"]}, Continuous("x", 1, 2)),
    ],
)
def test_feature_is_read_off_the_column(column, options, expected):
    schema = Schema.infer(pd.DataFrame({"x": column}), **options)
    assert without_fills(schema).features == (expected,)


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ([1, 0, 1], (0, 1)),
        ([1.0, 0.0, 1.0], (0.0, 1.0)),
        ([True, False, True], (False, True)),
        (["c", "a", "b"], ("a", "b", "c")),
        (pd.Categorical(["b", "a", "b"], categories=["b", "z", "a"]), ("a", "b")),
    ],
)
def test_target_has_the_classes_of_the_rows(classes, expected):
    rows = pd.DataFrame({"x": [1, 2, 3], "y": classes})
    schema = Schema.infer(rows, target="y", favourable=expected[-1])
    assert schema.target == Target("y", expected, expected[-1])
    assert schema.names == ("x",)


@pytest.mark.parametrize(
    ("columns", "options", "error", "message"),
    [
        ({"Rate": 2.0}, {}, SchemaError, "'Rate' must vary, but it is constant (always 2.0); dro"),
        ({"Housing": "own"}, {}, SchemaError, "'Housing' must vary, but it is constant (always 'o"),
        ({"Phone": True}, {}, SchemaError, "'Phone' must vary, but it is constant (always True)"),
        ({"Class": "good"}, {}, SchemaError, "two classes, but all rows are of one class only: 'g"),
        (
            {"Rate": [1, None, 2, 3]},
            {"missing": "error"},
            DataError,
            "'Rate' must not have missing values, but 1 row",
        ),
        (
            {"Housing": [None, "a", "b", "a"]},
            {"missing": {"Housing": "error"}},
            DataError,
            "'Housing' must not have missing",
        ),
        ({"Rate": np.nan}, {}, SchemaError, "'Rate' must vary, but it is empty in all rows"),
        ({}, {"missing": "guess"}, SchemaError, "missing must be one of 'error', 'impute', 'categ"),
        ({}, {"missing": {"Age": "drop"}}, SchemaError, "missing must name columns of the rows"),
        ({}, {"missing": {"Rate": "category"}}, SchemaError, "for numbers, but got 'category' for"),
        ({}, {"missing": {"Housing": "category"}}, SchemaError, "no training row has a gap to lea"),
        (
            {"Housing": [None, "a", None, "b"], "Rate": [1, None, 2, None]},
            {"missing": "drop"},
            SchemaError,
            "but all 4 have one there; fill them",
        ),
        ({}, {"ignored": ["Age"]}, SchemaError, "one of the rows', but got 'Age'"),
        ({}, {"id": "Age"}, SchemaError, "one of the rows', but got 'Age'"),
        ({"Rate": [1, np.inf, 2, 3]}, {}, DataError, "'Rate' must hold finite numbers, but 1 row"),
        ({"Housing": ["a", 1, "b", 2]}, {}, SchemaError, "'Housing': categories must be all text"),
        ({"Housing": [[1], [2], [1], [2]]}, {}, DataError, "'Housing' must hold text, numbers or"),
        (
            {"Rate": pd.timedelta_range("1D", periods=4)},
            {},
            SchemaError,
            "'Rate' must hold numbers, dates or",
        ),
        ({"Rate": [1j, 2, 3, 4]}, {}, SchemaError, "'Rate': categories must be text, numbers or"),
        ({}, {"target": "class"}, SchemaError, "got 'class' (did you mean 'Class'?), and they hav"),
        ({}, {"favourable": "great"}, SchemaError, "one of the classes 'bad', 'good', but got 'gr"),
        ({}, {"immutable": ["housing"]}, SchemaError, "got 'housing' (did you mean 'Housing'?)"),
        ({}, {"immutable": ["Class"]}, SchemaError, "features, but got the target 'Class'"),
        ({}, {"immutable": "Housing"}, SchemaError, "list of column names, but got 'Housing'; w"),
        ({}, {"immutable": None}, SchemaError, "list of column names, but got None"),
        (
            {},
            {"increase_only": ["Age"]},
            SchemaError,
            "increase_only must name columns of the rows",
        ),
        (
            {},
            {"decrease_only": ["Age"]},
            SchemaError,
            "decrease_only must name columns of the rows",
        ),
        ({}, {"categorical": ["Age"]}, SchemaError, "categorical must name columns of the rows"),
        ({}, {"continuous": ["Age"]}, SchemaError, "continuous must name columns of the rows"),
        (
            {},
            {"integer": ["Age"]},
            SchemaError,
            "integer must name columns of the rows, but got 'A",
        ),
        ({}, {"bounds": {"Age": (0, 1)}}, SchemaError, "bounds must name columns of the rows"),
        ({}, {"units": {"Age": "years"}}, SchemaError, "units must name columns of the rows"),
        ({}, {"bounds": ["Rate"]}, SchemaError, "bounds must map column names to values"),
        ({}, {"units": "months"}, SchemaError, "units must map column names to values"),
        ({}, {"bounds": {"Rate": (0, 3)}}, DataError, "'Rate' must be at most 3 by its bounds, bu"),
        ({}, {"bounds": {"Duration": (9, 1)}}, SchemaError, "bounds must be (lowest, highest)"),
        ({}, {"bounds": {"Housing": (0, 3)}}, SchemaError, "bounds must name continuous features"),
        ({}, {"integer": ["Housing"]}, SchemaError, "integer must name continuous features"),
        ({}, {"units": {"Phone": "m"}}, SchemaError, "units must name continuous features, but 'P"),
        ({}, {"integer": ["Rate"]}, SchemaError, "'Rate' must hold whole numbers, but 1 row holds"),
        ({}, {"continuous": ["Housing"]}, SchemaError, "'Housing' must hold numbers, but 4 rows"),
        ({}, {"continuous": ["Phone"]}, SchemaError, "'Phone' must hold numbers, but 4 rows hold"),
        (
            {},
            {"continuous": ["Rate"], "categorical": ["Rate"]},
            SchemaError,
            "'Rate' must be categorical or continuous, but got it in both",
        ),
        (
            {},
            {"increase_only": ["Rate"], "decrease_only": ["Rate"]},
            SchemaError,
            "'Rate' must be in increase_only or in decrease_only, but got it in both",
        ),
        (
            {},
            {"immutable": ["Rate"], "increase_only": ["Rate"]},
            SchemaError,
            "'Rate' must be either immutable or limited to one direction, but got both",
        ),
        (
            {},
            {"increase_only": ["Housing"]},
            SchemaError,
            "categories must have an order, but got unordered text: 'free', 'own', 'rent'",
        ),
        (
            {"Duration": [0, 2**60, 1, 2]},
            {},
            SchemaError,
            "'Duration' is integer, so its range must lie within ±2**53",
        ),
    ],
)
def test_what_cannot_be_inferred_is_refused_in_one_sentence(
    columns, options, error, message, assert_sentence
):
    with pytest.raises(error) as caught:
        Schema.infer(table(**columns), **{"target": "Class", "favourable": "good", **options})
    assert message in str(caught.value)
    assert_sentence(caught.value)


@pytest.mark.parametrize(
    ("rows", "options", "error", "message"),
    [
        (table()[:0], {}, DataError, "at least one, but got a table with no rows"),
        (table()[["Rate", "Rate"]], {}, DataError, "unique, but got 'Rate' more than once"),
        (table().rename(columns={"Rate": 3}), {}, SchemaError, "must be text, but got 3; rename"),
        (table().to_numpy(), {}, DataError, "must be a pandas DataFrame, but got ndarray"),
        (table()[["Class"]], {"target": "Class"}, SchemaError, "no column besides the target"),
        (table(), {"favourable": "good"}, SchemaError, "come with a target, but got 'good' alone"),
    ],
)
def test_what_is_no_table_of_features_is_refused(rows, options, error, message, assert_sentence):
    with pytest.raises(error) as caught:
        Schema.infer(rows, **options)
    assert message in str(caught.value)
    assert_sentence(caught.value)


@given(st.data())
def test_inferred_schema_accepts_its_rows(data):
    df = data.draw(frames(data.draw(schemas(messy=True)), min_rows=4, max_rows=8))
    try:
        schema = Schema.infer(df)
    except SchemaError as error:
        assert "constant" in str(error) or "must vary" in str(error)
        return
    rows = schema.encode(df, out_of_range="error")
    schema.check_fit(df)
    if schema.continuous:
        np.testing.assert_array_equal(rows.continuous.min(axis=0), 0)
        np.testing.assert_array_equal(rows.continuous.max(axis=0), 1)
    assert schema.filled(df) == schema
    for feature in schema.categorical:
        observed = df[feature.name].dropna().unique().tolist()
        declared = isinstance(df[feature.name].dtype, pd.CategoricalDtype)
        unseen = set(feature.categories) - set(observed)
        assert set(observed) <= set(feature.categories) and (declared or not unseen)
