"""Which models can be read as trees, and the sentence for those that cannot."""

import subprocess
import sys

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression

from rocourse.errors import ConfigError, DataError
from rocourse.models.trees import TreeEvaluator, has_trees, read_trees


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"pay": rng.normal(size=80), "debt": rng.normal(size=80)})
    return x, (x["pay"] > x["debt"]).astype(int)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (xgboost.XGBClassifier(n_estimators=2, booster="dart"), "boosted by gbtree"),
        (xgboost.XGBClassifier(n_estimators=2, booster="gblinear"), "boosted by gbtree"),
        (xgboost.XGBClassifier(n_estimators=2, objective="binary:hinge"), "objectives"),
        (xgboost.XGBClassifier(n_estimators=2, missing=-999.0), "missing=-999.0"),
        (lightgbm.LGBMClassifier(n_estimators=2, linear_tree=True, verbose=-1), "linear_tree"),
        (GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2), "init=None"),
        (LogisticRegression(), "made of trees"),
    ],
    ids=lambda case: None if isinstance(case, str) else type(case).__name__,
)
def test_a_model_that_is_more_than_trees_is_refused(model, sentence, rows):
    with pytest.raises(ConfigError, match=sentence) as refusal:
        read_trees(model.fit(*rows))
    assert "; " in str(refusal.value)


def test_a_forest_of_two_targets_is_refused(rows):
    x, labels = rows
    forest = RandomForestClassifier(3).fit(x, np.stack([labels, labels], axis=1))
    with pytest.raises(ConfigError, match="one target"):
        read_trees(forest)


def test_statistics_of_categories_are_refused(rows):
    catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")
    x, labels = rows
    x = x.assign(town=np.where(labels, "Ayr", np.resize(list("abcdefgh"), len(x))))
    options = {"iterations": 3, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostClassifier(**options, one_hot_max_size=2)
    towns = {"town": sorted(set(x["town"]))}
    with pytest.raises(ConfigError, match="one_hot_max_size"):
        read_trees(model.fit(x, labels, cat_features=["town"]), categories=towns)
    model = catboost.CatBoostClassifier(**options, one_hot_max_size=20)
    with pytest.raises(ConfigError, match=r"categories of 'town' must be stated"):
        read_trees(model.fit(x, labels, cat_features=["town"]))
    model = catboost.CatBoostClassifier(**options, grow_policy="Lossguide")
    with pytest.raises(ConfigError, match="symmetric"):
        read_trees(model.fit(x[["pay", "debt"]], labels))


def test_only_kinds_that_can_be_read_have_trees():
    assert has_trees(xgboost.XGBClassifier())
    assert has_trees(xgboost.XGBRFClassifier())
    assert has_trees(RandomForestClassifier())
    assert not has_trees(LogisticRegression())
    assert not has_trees(len)


def test_rows_need_the_columns_of_the_fit(rows):
    x, labels = rows
    ensemble = read_trees(RandomForestClassifier(2).fit(x, labels))
    np.testing.assert_array_equal(ensemble.rows(x[["debt", "pay"]]), x.to_numpy())
    with pytest.raises(DataError, match="'debt' is missing"):
        ensemble.rows(x[["pay"]])
    with pytest.raises(DataError, match="'pay' must hold numbers"):
        ensemble.rows(x.assign(pay="high"))
    unnamed = read_trees(RandomForestClassifier(2).fit(x.to_numpy(), labels))
    with pytest.raises(DataError, match="must have 2 columns"):
        unnamed.rows(x[["pay"]])


def test_trees_are_read_without_numba_and_evaluating_them_says_what_to_install():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from rocourse.models.trees import read_trees, split_points\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        "tree = read_trees(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]))\n"
        "assert len(split_points(tree, 0)) == 2\n"
        "from rocourse.errors import DependencyError\n"
        "try:\n"
        "    from rocourse.models.trees import TreeEvaluator\n"
        "except DependencyError as error:\n"
        "    print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "pip install 'rocourse[trees]'" in result.stdout


def test_names_with_blanks_codes_of_arrays_and_text_labels(rows):
    x, labels = rows
    town = np.resize([0, 1, 2, 3], len(x))
    answers = np.where(labels ^ (town == 2), "granted", "denied")
    frame = pd.DataFrame({"monthly pay": x["pay"], "town": pd.Categorical(town), "own": town > 1})
    small = {"n_estimators": 4, "min_child_samples": 3, "verbose": -1, "n_jobs": 1}
    named = lightgbm.LGBMClassifier(**small).fit(frame, answers)
    ensemble = read_trees(named)
    assert ensemble.classes.tolist() == ["denied", "granted"]
    probabilities = TreeEvaluator(ensemble).probabilities(ensemble.rows(frame))
    np.testing.assert_allclose(probabilities, named.predict_proba(frame), rtol=0.0, atol=1e-6)
    array = np.stack([x["pay"], town], axis=1)
    for model in (
        xgboost.XGBClassifier(
            n_estimators=4, feature_types=["q", "c"], enable_categorical=True, n_jobs=1
        ),
        HistGradientBoostingClassifier(max_iter=4, categorical_features=[1]),
    ):
        model.fit(array, labels ^ (town == 2))
        ensemble = read_trees(model)
        assert ensemble.categorical.tolist() == [False, True]
        probabilities = TreeEvaluator(ensemble).probabilities(ensemble.rows(pd.DataFrame(array)))
        np.testing.assert_allclose(probabilities, model.predict_proba(array), rtol=0.0, atol=1e-6)
