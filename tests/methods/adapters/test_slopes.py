"""Coordinate differences, against direct evaluation and exact gradients."""

import numpy as np
import pandas as pd
import pytest
from rocourse.methods.adapters import adapt
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.methods.adapters.conftest import soften

from rocourse.schema import Categorical, Continuous, Schema, Target, one_hot


@pytest.fixture(scope="module")
def forest(X, y):
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["job", "branch", "owner"]),
        remainder="passthrough",
    )
    return make_pipeline(columns, RandomForestClassifier(30, random_state=0)).fit(X, y)


@pytest.fixture(scope="module")
def logistic(encoded, y):
    return LogisticRegression().fit(encoded, y)


def exact_gradient(logistic, x):
    p = logistic.predict_proba(x)[:, 1]
    return p, (p * (1 - p))[:, None] * logistic.coef_


def test_slopes_of_a_forest_are_the_differences_of_its_own_answers(forest, schema, X, encoded):
    income, debt = schema["monthly income"], schema["debt"]
    rows, n = X.head(25), 25
    wanted = np.arange(n) % 2
    p, slopes = adapt(forest, schema).slopes(encoded[:n], wanted)

    def probability(frame):
        return forest.predict_proba(frame)[np.arange(n), wanted]

    here = probability(rows)
    np.testing.assert_allclose(p, here, atol=1e-6)
    # Fractions move by 0.05 of the range, the integer by round(0.05 × 39) = 2 units.
    for column, (feature, move) in enumerate([(income, 0.05 * income.span), (debt, 2.0)]):
        up = (rows[feature.name] + move).clip(upper=feature.high)
        down = (rows[feature.name] - move).clip(lower=feature.low)
        rise = probability(rows.assign(**{feature.name: up})) - probability(
            rows.assign(**{feature.name: down})
        )
        expected = rise / ((up - down).to_numpy() / feature.span)
        np.testing.assert_allclose(slopes[:, column], expected, atol=1e-4)
    for k, feature in enumerate(schema.categorical):
        group = schema.layout.group_slices[k]
        for j, category in enumerate(feature.categories):
            gain = probability(rows.assign(**{feature.name: category})) - here
            np.testing.assert_allclose(slopes[:, group.start + j], gain, atol=1e-6)


def test_the_category_that_a_row_has_has_no_slope(forest, schema, encoded):
    _, slopes = adapt(forest, schema).slopes(encoded[:50], np.ones(50, int))
    has = encoded[:50] == 1.0
    has[:, : schema.layout.n_continuous] = False
    assert (slopes[has] == 0.0).all()


def test_slopes_of_numbers_are_close_to_the_exact_gradient(logistic, schema, encoded):
    cut = schema.layout.n_continuous
    x = soften(encoded, schema.layout)
    p, slopes = adapt(logistic, schema).slopes(x, np.ones(len(x), int))
    exact_p, exact = exact_gradient(logistic, x)
    np.testing.assert_allclose(p, exact_p, atol=1e-6)
    inside = ((x[:, :cut] >= 0.05) & (x[:, :cut] <= 0.95)).all(axis=1)
    # |p'''| of a logistic curve is at most |w|³/8, and a central difference is off by h²/6 of it.
    bound = 0.05**2 / 6 * np.abs(logistic.coef_[:, :cut]) ** 3 / 8 + 1e-4
    assert (np.abs(slopes[inside, :cut] - exact[inside, :cut]) <= bound).all()


def test_a_smaller_step_comes_closer_to_the_exact_gradient(logistic, schema, encoded):
    cut = schema.layout.n_continuous
    _, exact = exact_gradient(logistic, encoded)
    errors = []
    for step in (0.2, 0.05, 0.0125):
        _, slopes = adapt(logistic, schema, step=step).slopes(encoded, np.ones(len(encoded), int))
        errors.append(np.abs(slopes[:, :cut] - exact[:, :cut]).max())
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_slopes_of_categories_rank_them_as_the_exact_gradient(logistic, schema, encoded):
    _, slopes = adapt(logistic, schema).slopes(encoded, np.ones(len(encoded), int))
    _, exact = exact_gradient(logistic, encoded)
    for group in schema.layout.group_slices:
        order = np.argsort(exact[:, group], axis=1)
        np.testing.assert_array_equal(np.argsort(slopes[:, group], axis=1), order)


def test_the_slope_of_the_other_class_of_two_is_the_opposite(forest, schema, encoded):
    adapted = adapt(forest, schema)
    _, up = adapted.slopes(encoded[:10], np.ones(10, int))
    _, down = adapted.slopes(encoded[:10], np.zeros(10, int))
    np.testing.assert_allclose(up, -down, atol=1e-5)


def test_slopes_are_one_sided_at_the_ends(schema, encoded):
    asked = []

    def square(x):
        asked.append(x[:, 0].copy())
        return 0.5 * x[:, 0] ** 2

    adapted = adapt(square, schema, inputs="encoded")
    x = np.repeat(encoded[:1], 4, axis=0)
    x[:, 0] = [0.0, 0.02, 0.5, 1.0]
    asked.clear()
    _, slopes = adapted.slopes(x, np.ones(4, int))
    # The quotient of 0.5·x² between a and b is (a + b) / 2.
    np.testing.assert_allclose(slopes[:, 0], [0.025, 0.035, 0.5, 0.975], atol=1e-5)
    assert all(values.min() >= 0.0 and values.max() <= 1.0 for values in asked)


def test_an_integer_moves_by_at_least_one_unit_and_stays_within_its_bounds():
    schema = Schema(
        (
            Continuous("credits", low=1, high=4, integer=True, bounds=(None, 3)),
            Continuous("amount", low=0.0, high=10.0, bounds=(2.0, None)),
            Categorical("kind", categories=("a", "b")),
        ),
        Target("y", (0, 1)),
    )
    asked = []

    def model(frame):
        asked.append(frame)
        return frame["credits"] / 8 + frame["amount"] / 40

    adapted = adapt(model, schema)
    rows = pd.DataFrame({"credits": [1, 2, 3], "amount": [2.0, 5.0, 10.0], "kind": ["a"] * 3})
    x = one_hot(schema.encode(rows), schema.layout)
    # Between two whole numbers the model sees the nearer one.
    x[1, 0] += 0.1
    asked.clear()
    _, slopes = adapted.slopes(x, np.ones(3, int))
    np.testing.assert_allclose(slopes[:, 0], 3 / 8, rtol=1e-4)
    np.testing.assert_allclose(slopes[:, 1], 10 / 40, rtol=1e-4)
    seen = pd.concat(asked)
    assert seen["credits"].between(1, 3).all() and seen["amount"].between(2, 10).all()


def test_a_number_with_one_allowed_value_has_no_slope():
    schema = Schema(
        (Continuous("n", low=0, high=4, integer=True, bounds=(2, 2)), Continuous("m", 0.0, 1.0)),
        Target("y", (0, 1)),
    )
    adapted = adapt(lambda frame: 0.1 * frame["n"] + 0.1 * frame["m"], schema)
    _, slopes = adapted.slopes(np.array([[0.5, 0.5]], np.float32), np.array([1]))
    np.testing.assert_allclose(slopes, [[0.0, 0.1]], atol=1e-5)


def test_soft_categories_are_moved_from_where_they_are(logistic, schema, encoded):
    x = soften(encoded[:5], schema.layout)
    adapted = adapt(logistic, schema)
    p, slopes = adapted.slopes(x, np.ones(5, int))
    group = schema.layout.group_slices[0]
    moved = x.copy()
    moved[:, group] = [0.0, 1.0, 0.0]
    gain = adapted.probabilities(moved)[:, 1] - adapted.probabilities(x)[:, 1]
    np.testing.assert_allclose(slopes[:, group.start + 1], gain, atol=1e-6)


def test_slopes_do_not_depend_on_the_size_of_the_parts(forest, schema, encoded, monkeypatch):
    adapted = adapt(forest, schema)
    whole = adapted.slopes(encoded[:30], np.arange(30) % 2)
    monkeypatch.setattr("rocourse.methods.adapters._differences._CELLS", 1000)
    parts = adapted.slopes(encoded[:30], np.arange(30) % 2)
    for left, right in zip(whole, parts, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-6)
