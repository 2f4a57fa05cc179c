"""Models as arrays say what they say themselves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rocourse.models.adapters import adapt
from rocourse.models.adapters._quick import Quick
from rocourse.schema import Schema, one_hot

pytest.importorskip("numba", reason="trees need rocourse[trees], which is missing")
xgboost = pytest.importorskip("xgboost", reason="xgboost is missing")


@pytest.mark.parametrize("sparse_threshold", [0.0, 1.0], ids=["dense", "sparse"])
def test_trees_behind_columns_of_categories(sparse_threshold):
    """XGBoost takes for missing what a sparse matrix leaves out, zeros of numbers included."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "late": rng.integers(0, 4, 600),
            "debt": rng.uniform(0.0, 9.0, 600).round(2),
            "state": rng.choice([f"s{k}" for k in range(12)], 600),
        }
    )
    granted = (frame["debt"] - frame["late"] + 3 * (frame["state"] < "s3") > 3).astype(int)
    schema = Schema.infer(frame.assign(granted=granted), target="granted", categorical=["state"])
    prepared = make_column_transformer(
        (OneHotEncoder(), ["state"]), remainder="passthrough", sparse_threshold=sparse_threshold
    )
    trees = xgboost.XGBClassifier(n_estimators=15, max_depth=4, n_jobs=1, random_state=0)
    pipeline = make_pipeline(prepared, trees).fit(frame, granted)
    model = adapt(pipeline, schema)
    assert model.quick is not None
    x = one_hot(schema.encode(frame), schema.layout)
    expected = pipeline.predict_proba(frame)
    assert (frame["late"] == 0).any()
    np.testing.assert_allclose(model.quick_probabilities(x), expected, atol=1e-6)
    read = model.read_rows(x)
    for part in (slice(0, 50), slice(20, 90)):
        # Of few rows, numbers are looked up that were read before.
        np.testing.assert_array_equal(model.read_rows(x[part]).raw, read.raw[part])
    np.testing.assert_array_equal(model.quick_probabilities(x, read), model.quick_probabilities(x))


def test_between_two_turns_a_number_changes_nothing():
    """Of a model that sees it scaled; and past each turn some row is answered otherwise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"debt": rng.uniform(-3.0, 9.0, 500), "late": rng.integers(0, 5, 500)})
    granted = (frame["debt"] - frame["late"] > 1).astype(int)
    schema = Schema.infer(frame.assign(granted=granted), target="granted")
    trees = GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0)
    model = adapt(make_pipeline(StandardScaler(), trees).fit(frame, granted), schema)
    (debt, late), x = model.turns(), one_hot(schema.encode(frame), schema.layout)
    assert len(debt) > 4 and len(late) > 0
    for column, turns in enumerate((debt, late)):
        edges = np.concatenate([[0.0], turns, [1.0]])
        ends = np.stack([edges[:-1], edges[1:]]) + [[1e-4], [-1e-4]]
        if column == 1:
            # Whole numbers: those next to the edges are all that a model ever sees.
            ends = np.stack([np.ceil(4 * edges[:-1]), np.floor(4 * edges[1:])]) / 4
        told = []
        for low, high in ends.T:
            answers = []
            for value in (low, high):
                moved = x.copy()
                moved[:, column] = value
                answers.append(model.probabilities(moved)[:, 1])
            if low <= high:
                np.testing.assert_array_equal(*answers)
            told.append(answers[0])
        assert (np.abs(np.diff(told, axis=0)).max(axis=1) > 0).all()


def test_values_that_lie_on_a_threshold_go_where_the_library_sends_them():
    """Training rows have even numbers alone, so that trees turn at the odd ones in between."""
    rng = np.random.default_rng(1)
    names = ["pressure", "rate", "age"]
    frame = pd.DataFrame(2 * rng.integers(20, 90, (400, 3)), columns=names)
    granted = (frame["pressure"] + frame["rate"] > frame["age"] + 110).astype(int)
    every = pd.DataFrame({name: np.arange(40, 179) for name in names}).sample(
        frac=1.0, random_state=0
    )
    every = every.apply(lambda column: rng.permutation(column.to_numpy()))
    schema = Schema.infer(
        pd.concat([frame, every]).assign(granted=np.append(granted, every["age"] % 2)),
        target="granted",
    )
    trees = HistGradientBoostingClassifier(max_iter=30, random_state=0)
    pipeline = make_pipeline(StandardScaler(), trees).fit(frame, granted)
    model = adapt(pipeline, schema)
    assert model.quick is not None
    x = one_hot(schema.encode(every), schema.layout)
    expected = pipeline.predict_proba(every)
    np.testing.assert_allclose(model.quick_probabilities(x), expected, atol=1e-6)
    rest, arrays = model.quick.to_state()
    again = Quick.from_state(rest, arrays, schema)
    np.testing.assert_array_equal(again(x), model.quick(x))


def test_gaps_among_native_categories_are_stored():
    """What the trees are shown of no category is NaN, and stored arrays have none."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"debt": rng.uniform(0.0, 9.0, 300), "job": rng.choice(list("abc"), 300)})
    granted = (frame["debt"] + 3 * (frame["job"] == "b") > 5).astype(int)
    frame.loc[::9, "job"] = None
    schema = Schema.infer(frame.assign(granted=granted), target="granted")
    marked = frame.assign(job=pd.Categorical(frame["job"], ["a", "b", "c"]))
    trees = xgboost.XGBClassifier(n_estimators=4, enable_categorical=True, n_jobs=1)
    model = adapt(trees.fit(marked, granted), schema)
    x = one_hot(schema.encode(frame), schema.layout)
    rest, arrays = model.quick.to_state()
    assert all(np.isfinite(array).all() for array in arrays.values())
    again = Quick.from_state(rest, arrays, schema)
    np.testing.assert_array_equal(again(x), model.quick(x))
    np.testing.assert_allclose(again(x), trees.predict_proba(marked), atol=1e-6)
