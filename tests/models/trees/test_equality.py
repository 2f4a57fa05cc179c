"""Trees that were read say what their library says, whatever the rows."""

import warnings

import lightgbm
import numpy as np
import pytest
import xgboost
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier
from tests.models.trees.conftest import around_thresholds, tables

from rocourse.models.trees import TreeEvaluator, read_trees

quick = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


def check(model, table, *, predict=None, **options):
    """The probabilities of rows at thresholds and beside them, of training rows, and their form."""
    ensemble = read_trees(model, **options)
    evaluator = TreeEvaluator(ensemble)
    for frame in (table.frame, around_thresholds(ensemble, table)):
        wanted = (predict or model.predict_proba)(frame)
        answer = evaluator.probabilities(ensemble.rows(frame))
        np.testing.assert_allclose(answer, wanted, rtol=0.0, atol=1e-6)


@quick
@given(tables(), st.sampled_from([1, 4, 30]), st.sampled_from(["hist", "exact"]))
def test_xgboost(table, one_hot_below, tree_method):
    if tree_method == "exact":
        table = table.numbers(missing=True)
    model = xgboost.XGBClassifier(
        n_estimators=5,
        max_depth=4,
        max_cat_to_onehot=one_hot_below,
        tree_method=tree_method,
        enable_categorical=tree_method == "hist",
        n_jobs=1,
    )
    check(model.fit(table.frame, table.labels), table)


@quick
@given(tables(classes=2), st.sampled_from([None, 0.3]))
def test_xgboost_booster(table, base_score):
    options = {"objective": "binary:logistic", "nthread": 1}
    if base_score is not None:
        options["base_score"] = base_score

    def matrix(frame, label=None):
        return xgboost.DMatrix(frame, label=label, enable_categorical=True)

    booster = xgboost.train(options, matrix(table.frame, table.labels), 5)

    def predict(frame):
        second = booster.predict(matrix(frame))
        return np.stack([1.0 - second, second], axis=1)

    check(booster, table, predict=predict)


def test_xgboost_uses_the_trees_up_to_the_best_iteration():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    labels = (x[:, 0] + rng.normal(size=200) > 0).astype(int)
    model = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=2, n_jobs=1)
    model.fit(x[:100], labels[:100], eval_set=[(x[100:], labels[100:])], verbose=False)
    ensemble = read_trees(model)
    assert len(ensemble.root) == model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    answer = TreeEvaluator(ensemble).probabilities(x)
    np.testing.assert_allclose(answer, model.predict_proba(x), rtol=0.0, atol=1e-6)


@quick
@given(
    tables(),
    st.sampled_from(
        [{}, {"zero_as_missing": True}, {"use_missing": False}, {"boosting_type": "dart"}]
        + [{"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}]
    ),
)
def test_lightgbm(table, options):
    model = lightgbm.LGBMClassifier(
        n_estimators=5,
        num_leaves=8,
        min_child_samples=3,
        min_data_per_group=3,
        cat_smooth=1.0,
        verbose=-1,
        n_jobs=1,
        **options,
    )
    check(model.fit(table.frame, table.labels), table)


@quick
@given(tables(classes=2), st.sampled_from([1.0, 2.5]))
def test_lightgbm_booster(table, sigmoid):
    data = lightgbm.Dataset(table.frame, table.labels, params={"verbose": -1})
    options = {"objective": "binary", "sigmoid": sigmoid, "min_data_in_leaf": 3, "num_threads": 1}
    booster = lightgbm.train({**options, "verbose": -1}, data, 5)

    def predict(frame):
        second = booster.predict(frame)
        return np.stack([1.0 - second, second], axis=1)

    check(booster, table, predict=predict)


@quick
@given(tables())
def test_hist_gradient_boosting(table):
    model = HistGradientBoostingClassifier(max_iter=4, max_depth=4, min_samples_leaf=3)
    check(model.fit(table.frame, table.labels), table)


@quick
@given(tables(), st.sampled_from([DecisionTreeClassifier, RandomForestClassifier]))
def test_trees_and_forests_with_missing_values(table, kind):
    table = table.numbers(missing=True)
    options = {} if kind is DecisionTreeClassifier else {"n_estimators": 5}
    check(kind(random_state=0, **options).fit(table.frame, table.labels), table)


@quick
@given(tables())
def test_extra_trees(table):
    table = table.numbers(missing=True)
    model = ExtraTreesClassifier(5, random_state=0, max_depth=6)
    check(model.fit(table.frame, table.labels), table)


@quick
@given(tables(), st.sampled_from([{}, {"init": "zero"}, {"loss": "exponential"}]))
def test_gradient_boosting(table, options):
    table = table.numbers(missing=False)
    if table.labels.max() > 1:
        options = {key: value for key, value in options.items() if key != "loss"}
    model = GradientBoostingClassifier(n_estimators=5, random_state=0, **options)
    check(model.fit(table.frame, table.labels), table)


@quick
@given(tables(), st.booleans())
def test_catboost(table, categorical):
    catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")
    model = catboost.CatBoostClassifier(
        iterations=5,
        depth=4,
        one_hot_max_size=20,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    )
    table = table.text() if categorical else table.numbers(missing=True)
    stated = {"colour": sorted(set(table.frame["colour"]))} if categorical else None
    with warnings.catch_warnings():
        # CatBoost's own, about pandas.
        warnings.simplefilter("ignore")
        model.fit(table.frame, table.labels, cat_features=["colour"] if categorical else None)
        check(model, table, categories=stated)


def test_shares_of_many_trees_are_no_more_than_one():
    """Twenty trees that are all certain: twenty times .05 is a digit more than 1."""
    rows = np.arange(8.0).reshape(-1, 1)
    forest = ExtraTreesClassifier(20, random_state=0).fit(rows, rows[:, 0] > 3.0)
    evaluator = TreeEvaluator(read_trees(forest))
    assert (evaluator.margins(rows) > 1.0).any()
    told = evaluator.probabilities(rows)
    assert told.min() >= 0.0 and told.max() <= 1.0
    np.testing.assert_allclose(told, forest.predict_proba(rows), rtol=0.0, atol=1e-12)
