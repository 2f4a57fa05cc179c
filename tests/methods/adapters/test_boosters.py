"""XGBoost and LightGBM: their scikit-learn classes and their own boosters."""

import lightgbm
import numpy as np
import pytest
import xgboost
from rocourse.methods.adapters import adapt
from tests.methods.adapters.conftest import TARGET, make_schema

from rocourse.schema import one_hot

CODES = {"denied": 0, "granted": 1}
# Categories in another order than the schema's, which is sorted.
ORDER = ["part", "none", "full"]
SMALL = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1}


@pytest.fixture(scope="module")
def categorised(X):
    frame = X.astype({"job": "category"})
    return frame.assign(job=frame["job"].cat.reorder_categories(ORDER))


@pytest.fixture(scope="module")
def codes(y):
    return y.map(CODES)


def numbers_only(X):
    return X.drop(columns="job").astype(float)


def numeric_case(loans):
    frame = loans.drop(columns="job")
    schema = make_schema(frame)
    raw = frame.drop(columns=TARGET)
    return schema, raw, one_hot(schema.encode(raw), schema.layout)


def test_xgboost_classifier_on_category_columns(schema, categorised, codes, encoded):
    model = xgboost.XGBClassifier(**SMALL, enable_categorical=True).fit(categorised, codes)
    # XGBoost takes no text labels, so the names of its columns are stated.
    adapted = adapt(model, schema, classes=("denied", "granted"))
    result = adapted.probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(categorised), atol=1e-6)


def test_xgboost_classifier_on_an_array(loans, codes):
    schema, raw, encoded = numeric_case(loans)
    array = raw.to_numpy(dtype=float)
    model = xgboost.XGBClassifier(**SMALL).fit(array, codes)
    result = adapt(model, schema, classes=("denied", "granted")).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(array), atol=1e-6)


def test_xgboost_booster_on_category_columns(schema, categorised, codes, encoded):
    matrix = xgboost.DMatrix(categorised, label=codes, enable_categorical=True)
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1}, matrix, 8)
    result = adapt(booster, schema).probabilities(encoded)
    np.testing.assert_allclose(result[:, 1], booster.predict(matrix), atol=1e-6)
    np.testing.assert_allclose(result.sum(axis=1), 1.0, atol=1e-6)


def test_xgboost_booster_read_from_a_file(schema, categorised, codes, encoded, tmp_path):
    model = xgboost.XGBClassifier(**SMALL, enable_categorical=True).fit(categorised, codes)
    model.save_model(tmp_path / "model.json")
    booster = xgboost.Booster(model_file=tmp_path / "model.json")
    result = adapt(booster, schema).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(categorised), atol=1e-6)


def test_xgboost_booster_of_several_classes_on_an_array(graded):
    schema, raw, encoded = numeric_case(graded)
    labels = graded[TARGET].map({"high": 0, "low": 1, "middle": 2})
    matrix = xgboost.DMatrix(raw.to_numpy(dtype=float), label=labels)
    options = {"objective": "multi:softprob", "num_class": 3, "nthread": 1}
    booster = xgboost.train(options, matrix, 5)
    result = adapt(booster, schema).probabilities(encoded)
    np.testing.assert_allclose(result, booster.predict(matrix), atol=1e-6)


def test_xgboost_booster_with_logits(schema, categorised, codes, encoded):
    matrix = xgboost.DMatrix(categorised, label=codes, enable_categorical=True)
    booster = xgboost.train({"objective": "binary:logitraw", "nthread": 1}, matrix, 8)
    result = adapt(booster, schema, outputs="logits").probabilities(encoded)
    expected = 1 / (1 + np.exp(-booster.predict(matrix)))
    np.testing.assert_allclose(result[:, 1], expected, atol=1e-6)


def fit_lightgbm(X, y):
    return lightgbm.LGBMClassifier(**SMALL, verbose=-1).fit(X, y)


@pytest.mark.parametrize("also", [[], ["branch"], ["branch", "owner"]], ids=len)
def test_lightgbm_classifier_on_category_columns(also, schema, categorised, y, encoded):
    seen = categorised.astype(dict.fromkeys(also, "category"))
    model = fit_lightgbm(seen, y)
    result = adapt(model, schema).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(seen), atol=1e-6)


def test_lightgbm_columns_come_in_the_order_of_the_fit(schema, categorised, y, encoded):
    # LightGBM reads columns by place and does not notice a wrong order.
    seen = categorised[["owner", "job", "debt", "monthly income"]]
    model = fit_lightgbm(seen, y)
    result = adapt(model, schema).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(seen), atol=1e-6)


def test_lightgbm_classifier_on_an_array(loans, y):
    schema, raw, encoded = numeric_case(loans)
    array = raw.to_numpy(dtype=float)
    model = fit_lightgbm(array, y)
    result = adapt(model, schema).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(array), atol=1e-6)


def test_lightgbm_booster_read_from_a_file(schema, categorised, y, encoded, tmp_path):
    model = fit_lightgbm(categorised, y)
    model.booster_.save_model(tmp_path / "model.txt")
    booster = lightgbm.Booster(model_file=tmp_path / "model.txt")
    result = adapt(booster, schema).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(categorised), atol=1e-6)


def test_lightgbm_booster_of_several_classes_on_an_array(graded):
    schema, raw, encoded = numeric_case(graded)
    array = raw.to_numpy(dtype=float)
    labels = graded[TARGET].map({"high": 0, "low": 1, "middle": 2})
    data = lightgbm.Dataset(array, label=labels)
    options = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(options, data, 5)
    result = adapt(booster, schema).probabilities(encoded)
    np.testing.assert_allclose(result, booster.predict(array), atol=1e-6)


def test_boosted_trees_have_slopes(schema, categorised, y, encoded):
    adapted = adapt(fit_lightgbm(categorised, y), schema)
    p, slopes = adapted.slopes(encoded[:20], np.ones(20, int))
    np.testing.assert_array_equal(p, adapted.probabilities(encoded[:20])[:, 1])
    # More income helps, more debt does not: on average over applicants.
    assert slopes[:, 0].mean() > 0 > slopes[:, 1].mean()
