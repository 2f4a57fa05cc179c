"""scikit-learn estimators and pipelines as functions of encoded rows."""

import copy
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from tests.models.adapters.conftest import TARGET, make_schema, soften

from rocourse.errors import ConfigError
from rocourse.models.adapters import AdaptedModel, adapt
from rocourse.schema import Schema, one_hot


def pipeline(final):
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["job", "branch", "owner"]),
        (StandardScaler(), ["monthly income", "debt"]),
    )
    return make_pipeline(columns, final)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps the rows of its last call; the probability is a function of the debt."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        self.last_ = X
        p = np.asarray(X["debt"], dtype=float) / 100
        return np.column_stack([1 - p, p])


@pytest.mark.parametrize(
    "final",
    [LogisticRegression(), RandomForestClassifier(20, random_state=0)],
    ids=["logistic", "forest"],
)
def test_a_pipeline_gives_the_probabilities_it_gives_on_the_raw_rows(final, schema, X, y, encoded):
    model = pipeline(final).fit(X, y)
    adapted = adapt(model, schema)
    result = adapted.probabilities(encoded)
    assert adapted.n_classes == 2
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("wrap", ["frozen", "search"])
def test_wrapped_estimators_are_adapted_as_what_they_wrap(wrap, schema, X, y, encoded):
    model = pipeline(LogisticRegression())
    if wrap == "frozen":
        model = FrozenEstimator(model.fit(X, y))
    else:
        model = GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=2).fit(X, y)
    result = adapt(model, schema).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(X), atol=1e-5)


def test_columns_come_in_the_order_of_the_models_fit(schema, X, y, encoded):
    columns = ["owner", "debt", "monthly income"]
    model = LogisticRegression(max_iter=1000).fit(X[columns], y)
    result = adapt(model, schema).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(X[columns]), atol=1e-5)


def test_a_model_fitted_without_names_gets_an_array_in_schema_order(loans, y):
    frame = loans[["monthly income", "debt", "branch", "owner", TARGET]]
    schema = make_schema(frame)
    raw = frame.drop(columns=TARGET)
    encoded = one_hot(schema.encode(raw), schema.layout)
    array = raw.to_numpy(dtype=float)
    model = RandomForestClassifier(20, random_state=0).fit(array, y)
    result = adapt(model, schema).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(array), atol=1e-6)


def test_an_array_with_text_is_one_of_objects(schema, X, y, encoded):
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), [2, 3, 4]), (StandardScaler(), [0, 1])
    )
    model = make_pipeline(columns, LogisticRegression()).fit(X.to_numpy(dtype=object), y)
    result = adapt(model, schema).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(X.to_numpy(dtype=object)), atol=1e-5)


def test_a_model_fitted_on_encoded_vectors_gets_them_as_they_are(schema, y, encoded):
    model = LogisticRegression().fit(encoded, y)
    soft = soften(encoded, schema.layout)
    result = adapt(model, schema).probabilities(soft)
    np.testing.assert_allclose(result, model.predict_proba(soft), atol=1e-6)
    assert np.abs(result - model.predict_proba(encoded)).max() > 0.01


def test_a_model_on_raw_rows_sees_the_likeliest_category(schema, X, y, encoded):
    adapted = adapt(pipeline(LogisticRegression()).fit(X, y), schema)
    soft = soften(encoded, schema.layout)
    np.testing.assert_array_equal(adapted.probabilities(soft), adapted.probabilities(encoded))


def test_decoded_rows_have_the_dtypes_of_an_inferred_schema(schema, X, y, encoded):
    model = Recorder().fit(X, y)
    adapt(model, schema, inputs="frame").probabilities(encoded)
    # Numbers of few decimals come back exactly, though codes are float32.
    pd.testing.assert_frame_equal(model.last_, X, check_exact=True)


def test_decoded_rows_have_the_dtypes_of_the_training_rows(schema, X, y, encoded):
    seen = X.astype(
        {
            "monthly income": "float32",
            "debt": "Int16",
            "job": pd.CategoricalDtype(["part", "none", "full"], ordered=True),
            "branch": "float64",
            "owner": object,
        }
    )
    model = Recorder().fit(seen, y)
    adapt(model, schema, like=seen).probabilities(encoded)
    pd.testing.assert_frame_equal(model.last_, seen, check_exact=False, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e7], ids=str)
def test_numbers_come_back_exactly_at_any_scale(scale):
    values = np.array([0.1, 0.25, 1.07, 33.333, 45.67, 99.99, 123.456]) * scale
    # What a file or a person would have written.
    values = np.array([float(f"{value:.6g}") for value in values])
    frame = pd.DataFrame({"a": values, "b": ["x", "y"] * 3 + ["x"], TARGET: [0, 1] * 3 + [0]})
    schema = Schema.infer(frame, target=TARGET)
    seen = []

    def model(rows):
        seen.append(rows["a"].to_numpy())
        return np.full(len(rows), 0.5)

    rows = schema.encode(frame.drop(columns=TARGET))
    adapt(model, schema).probabilities(one_hot(rows, schema.layout))
    np.testing.assert_array_equal(seen[-1], values)


def test_a_dtype_that_cannot_hold_the_values_is_not_used(schema, X, y, encoded):
    seen = X.assign(**{"monthly income": X["monthly income"].astype(int)})
    seen["job"] = pd.Categorical(["none"] * len(X), categories=["none"])
    model = Recorder().fit(seen, y)
    adapt(model, schema, like=seen).probabilities(encoded)
    assert model.last_["monthly income"].dtype == np.float64
    assert model.last_["job"].astype(str).tolist() == X["job"].tolist()


def test_categories_by_dtype_are_understood_with_training_rows(schema, X, y, encoded):
    seen = X.astype({"job": "category", "branch": "category"})
    model = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype")
    model.fit(seen, y)
    result = adapt(model, schema, like=seen).probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(seen), atol=1e-6)


def test_classes_are_sorted_whatever_the_order_of_the_models_columns(graded):
    raw, labels = graded.drop(columns=TARGET), graded[TARGET]
    schema = make_schema(graded)
    encoded = one_hot(schema.encode(raw), schema.layout)
    merit = labels.map({"low": 0, "high": 1, "middle": 2})
    model = pipeline(LogisticRegression()).fit(raw, merit)
    adapted = adapt(model, schema, classes=("low", "high", "middle"))
    assert isinstance(adapted, AdaptedModel)
    assert adapted.classes.tolist() == ["high", "low", "middle"]
    result = adapted.probabilities(encoded)
    np.testing.assert_allclose(result, model.predict_proba(raw)[:, [1, 0, 2]], atol=1e-5)


def test_an_adapted_model_is_returned_as_it_is(schema, X, y):
    adapted = adapt(pipeline(LogisticRegression()).fit(X, y), schema)
    assert adapt(adapted, schema) is adapted
    with pytest.raises(ConfigError, match="adapted already"):
        adapt(adapted, schema, inputs="frame")


def test_an_adapted_model_can_be_copied(schema, X, y, encoded):
    adapted = adapt(pipeline(LogisticRegression()).fit(X, y), schema)
    twin = copy.deepcopy(adapted)
    np.testing.assert_array_equal(twin.probabilities(encoded), adapted.probabilities(encoded))


def test_neither_the_rows_nor_the_model_are_changed(schema, X, y, encoded):
    model = pipeline(LogisticRegression()).fit(X, y)
    before = model[-1].coef_.copy()
    x = encoded.copy()
    adapted = adapt(model, schema)
    adapted.probabilities(x)
    adapted.slopes(x[:3], np.ones(3, int))
    np.testing.assert_array_equal(x, encoded)
    np.testing.assert_array_equal(model[-1].coef_, before)


def test_no_rows_give_no_probabilities(schema, X, y):
    adapted = adapt(pipeline(LogisticRegression()).fit(X, y), schema)
    none = np.zeros((0, schema.layout.width), np.float32)
    assert adapted.probabilities(none).shape == (0, 2)
    p, slopes = adapted.slopes(none, np.zeros(0, int))
    assert p.shape == (0,) and slopes.shape == none.shape


def test_one_row_is_judged_as_in_a_batch(schema, X, y, encoded):
    adapted = adapt(pipeline(LogisticRegression()).fit(X, y), schema)
    batch = adapted.probabilities(encoded[:20])
    single = np.concatenate([adapted.probabilities(row[None]) for row in encoded[:20]])
    np.testing.assert_allclose(single, batch, atol=1e-6)


def unfitted(X, y):
    return LogisticRegression()


def class_itself(X, y):
    return LogisticRegression


def without_probabilities(X, y):
    return LinearSVC().fit(X[["debt"]], y)


def regressor(X, y):
    return LinearRegression().fit(X[["debt"]], y == "granted")


def on_dummies(X, y):
    return LogisticRegression(max_iter=1000).fit(pd.get_dummies(X), y)


def on_two_columns(X, y):
    return LogisticRegression().fit(X[["monthly income", "debt"]].to_numpy(), y)


def on_other_labels(X, y):
    return LogisticRegression().fit(X[["debt"]], np.where(y == "granted", "yes", "no"))


def on_two_targets(X, y):
    return MultiOutputClassifier(LogisticRegression()).fit(X[["debt"]], np.column_stack([y, y]))


def on_text_as_numbers(X, y):
    numbers = X.assign(job=X["job"].astype("category").cat.codes)
    return LogisticRegression(max_iter=1000).fit(numbers, y)


def an_integer(X, y):
    return 3


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (unfitted, "LogisticRegression must be fitted, but it is not; call its fit"),
        (class_itself, "got the class LogisticRegression; make an instance"),
        (without_probabilities, "LinearSVC must give probabilities.*CalibratedClassifierCV"),
        (regressor, "LinearRegression must give probabilities"),
        (on_dummies, "but it was fitted on 'job_full'; put the preparation"),
        (on_two_columns, r"5 columns of the schema \(or its 10 encoded ones\).*fitted on 2;"),
        (on_other_labels, r"target 'grade', \['denied', 'granted'\], but got \['no', 'yes'\]"),
        (on_two_targets, "must predict one target"),
        (on_text_as_numbers, "must accept a DataFrame with 5 columns.*ValueError.*inputs='frame'"),
        (an_integer, "The model int must be an estimator with predict_proba"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_a_model_that_cannot_be_used_is_refused_in_one_sentence(make, sentence, schema, X, y):
    with pytest.raises(ConfigError, match=sentence) as caught:
        adapt(make(X, y), schema)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"inputs": "rows"}, "inputs must be one of 'frame', 'array', 'encoded', but got 'rows'"),
        ({"outputs": "odds"}, "outputs must be one of 'probabilities', 'logits', but got 'odds'"),
        ({"step": 0.0}, "step must be a number above 0 and at most 0.5, but got 0.0"),
        ({"step": True}, "step must be a number"),
        ({"like": [1]}, "like must be a DataFrame of training rows, but got list"),
        ({"like": pd.DataFrame({"debt": [1]})}, "'monthly income' is missing"),
        ({"classes": ("granted",)}, "two or more different labels"),
        ({"classes": ("granted", "granted")}, "two or more different labels"),
        ({"classes": ("a", "b", "c")}, "as many as the model's 2"),
        ({"classes": ("a", "b")}, "must be those of the target 'grade'"),
    ],
)
def test_an_option_with_a_wrong_value_is_refused(options, sentence, schema, X, y):
    model = pipeline(LogisticRegression()).fit(X, y)
    with pytest.raises(ConfigError, match=sentence):
        adapt(model, schema, **options)


def test_what_is_no_schema_is_refused(X, y):
    with pytest.raises(ConfigError, match="schema must be a Schema, but got DataFrame"):
        adapt(pipeline(LogisticRegression()).fit(X, y), X)


def test_classes_must_be_stated_where_nothing_knows_them(X):
    with pytest.raises(ConfigError, match="classes must be stated"):
        adapt(lambda frame: np.full(len(frame), 0.5), Schema.infer(X))


def test_rows_of_another_schema_are_refused(schema, X, y):
    adapted = adapt(pipeline(LogisticRegression()).fit(X, y), schema)
    with pytest.raises(ValueError, match=re.escape("shape (n, 10), but got (2, 3)")):
        adapted.probabilities(np.zeros((2, 3), np.float32))


def test_a_threshold_of_its_own_is_refused_with_the_cure(schema, X, y):
    """`predict` of such a model says something else than its probabilities."""
    own = FixedThresholdClassifier(pipeline(LogisticRegression()), threshold=0.3).fit(X, y)
    with pytest.raises(ConfigError, match=re.escape("pass its estimator_ as the model")) as error:
        adapt(own, schema)
    assert "threshold=0.3 " in str(error.value)
    adapt(own.set_params(threshold="auto"), schema)


def test_boosting_that_was_fitted_on_categories_is_shown_categories(schema, X, y, encoded):
    """And can be fitted again, which it could not on text."""
    known = {name: sorted(X[name].unique()) for name in ("job", "branch", "owner")}
    marked = X.assign(**{name: pd.Categorical(X[name], known[name]) for name in known})
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")
    adapted = adapt(model.fit(marked, y), schema)
    expected = model.predict_proba(marked)
    np.testing.assert_allclose(adapted.probabilities(encoded), expected, atol=1e-5)
    again = adapted.refitted(encoded, np.asarray(y == adapted.classes[1], int), 0)
    assert again.probabilities(encoded).shape == expected.shape
