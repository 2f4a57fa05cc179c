"""Models as arrays say what they say themselves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from rocourse.models.adapters import adapt
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
    np.testing.assert_array_equal(model.quick_probabilities(x, read), model.quick_probabilities(x))
