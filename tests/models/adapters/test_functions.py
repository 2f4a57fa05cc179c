"""Plain functions from a batch of rows to probabilities."""

import numpy as np
import pandas as pd
import pytest
from tests.models.adapters.conftest import TARGET, make_schema, soften

from rocourse.errors import ConfigError, DataError
from rocourse.models.adapters import adapt
from rocourse.schema import Schema, one_hot


def chance(frame):
    """The probability of being granted, of raw rows."""
    return 1 / (1 + np.exp(frame["debt"] / 10 - frame["monthly income"] / 25))


def test_a_function_of_raw_rows_gives_the_probability_of_the_second_class(schema, X, encoded):
    result = adapt(chance, schema).probabilities(encoded)
    np.testing.assert_allclose(result[:, 1], chance(X), atol=1e-5)
    np.testing.assert_allclose(result[:, 0], 1 - chance(X), atol=1e-5)


def test_a_function_may_answer_with_columns(schema, X, encoded):
    one = adapt(chance, schema).probabilities(encoded)
    column = adapt(lambda frame: chance(frame).to_numpy()[:, None], schema)
    two = adapt(lambda frame: pd.DataFrame({"no": 1 - chance(frame), "yes": chance(frame)}), schema)
    np.testing.assert_array_equal(column.probabilities(encoded), one)
    np.testing.assert_allclose(two.probabilities(encoded), one, atol=1e-7)


def test_a_function_may_answer_with_logits(schema, X, encoded):
    def logit(frame):
        return frame["monthly income"] / 25 - frame["debt"] / 10

    result = adapt(logit, schema, outputs="logits").probabilities(encoded)
    np.testing.assert_allclose(result[:, 1], chance(X), atol=1e-5)


def test_large_logits_do_not_overflow(schema, encoded):
    adapted = adapt(lambda x: np.linspace(-1e5, 1e5, len(x)), schema, outputs="logits")
    result = adapted.probabilities(encoded[:2])
    np.testing.assert_array_equal(result, [[1.0, 0.0], [0.0, 1.0]])


def test_a_function_of_encoded_vectors_gets_them_as_they_are(schema, encoded):
    seen = []

    def linear(x):
        seen.append(x)
        return x.mean(axis=1)

    soft = soften(encoded, schema.layout)
    adapt(linear, schema, inputs="encoded").probabilities(soft)
    assert seen[-1].dtype == np.float32
    np.testing.assert_array_equal(seen[-1], soft)


def test_a_function_that_changes_its_input_does_no_harm(schema, encoded):
    def scaling(x):
        x *= 0.5
        return x.mean(axis=1)

    x = encoded.copy()
    adapt(scaling, schema, inputs="encoded").probabilities(x)
    np.testing.assert_array_equal(x, encoded)


def test_stated_classes_name_the_columns(schema, X, encoded):
    refused = adapt(lambda frame: 1 - chance(frame), schema, classes=("granted", "denied"))
    same = adapt(chance, schema)
    np.testing.assert_allclose(
        refused.probabilities(encoded), same.probabilities(encoded), atol=1e-6
    )


def test_one_number_is_refused_where_the_favourable_class_is_not_the_second(loans):
    schema = Schema.infer(loans, target=TARGET, categorical=["branch"], favourable="denied")
    with pytest.raises(ConfigError, match="which class its one number a row belongs to"):
        adapt(chance, schema)
    stated = adapt(chance, schema, classes=("denied", "granted"))
    columns = adapt(lambda frame: np.column_stack([1 - chance(frame), chance(frame)]), schema)
    x = one_hot(schema.encode(loans.drop(columns=TARGET)), schema.layout)
    np.testing.assert_allclose(stated.probabilities(x), columns.probabilities(x), atol=1e-7)


def test_a_function_that_squeezes_its_answer_can_judge_one_row(schema, X, encoded):
    adapted = adapt(lambda frame: chance(frame).to_numpy().squeeze(), schema)
    np.testing.assert_allclose(adapted.probabilities(encoded[:1])[0, 1], chance(X)[0], atol=1e-5)


def test_many_rows_are_judged_in_parts(schema, encoded, monkeypatch):
    sizes = []

    def counting(x):
        sizes.append(len(x))
        return x.mean(axis=1)

    adapted = adapt(counting, schema, inputs="encoded")
    whole = adapted.probabilities(encoded)
    sizes.clear()
    monkeypatch.setattr("rocourse.models.adapters._adapted._CELLS", 70 * schema.layout.width)
    np.testing.assert_array_equal(adapted.probabilities(encoded), whole)
    assert sizes == [70, 70, 70, 70, 20]


@pytest.mark.parametrize(
    ("answer", "error", "sentence"),
    [
        (lambda n: np.full((n, 3), 1 / 3), ConfigError, r"\(7,\) or \(7, 2\), but got \(7, 3\)"),
        (lambda n: np.full((2, n), 0.5), ConfigError, r"but got \(2, 7\)"),
        (lambda n: np.full(n - 1, 0.5), ConfigError, r"but got \(6,\)"),
        (lambda n: 0.5, ConfigError, r"but got \(\)"),
        (lambda n: ["granted"] * n, ConfigError, "return probabilities, not labels"),
        (lambda n: None, ConfigError, "array of numbers, but got NoneType"),
        (lambda n: np.full(n, np.nan), DataError, "finite probabilities, but got nan"),
        (lambda n: np.full(n, 1.5), DataError, "from 0 to 1, but got 1.5; .*outputs='logits'"),
        (lambda n: np.full(n, -0.1), DataError, "from 0 to 1, but got -0.1"),
        (lambda n: np.full((n, 2), 0.4), DataError, "sum to 1 in each row, but got a sum of 0.8"),
    ],
)
def test_an_answer_that_is_no_probability_is_refused(answer, error, sentence, schema):
    def model(frame):
        return answer(len(frame))

    with pytest.raises(error, match=sentence) as caught:
        adapt(model, schema)
    assert str(caught.value).startswith("The function ")
    assert "\n" not in str(caught.value)


def test_one_number_a_row_is_refused_for_three_classes(graded):
    with pytest.raises(ConfigError, match=r"7 rows and 3 classes .* \(7, 3\), but got \(7,\)"):
        adapt(lambda frame: np.full(len(frame), 0.5), make_schema(graded))


def test_a_square_answer_for_seven_classes_cannot_pass_transposed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.uniform(size=50), TARGET: rng.permutation(50) % 7})

    def transposed(x):
        return np.full((7, len(x)), 1 / 7)

    with pytest.raises(ConfigError, match=r"\(8, 7\), but got \(7, 8\)"):
        adapt(transposed, Schema.infer(frame, target=TARGET, favourable=6))


def test_an_error_of_the_function_is_told_and_kept_as_the_cause(schema):
    def broken(frame):
        return frame["salary"]

    with pytest.raises(ConfigError, match="broken must accept a DataFrame.*KeyError") as caught:
        adapt(broken, schema)
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_answer_is_checked_in_every_call(schema, encoded):
    calls = []

    def fading(frame):
        calls.append(len(frame))
        return np.full(len(frame), 0.5 if len(calls) == 1 else np.nan)

    adapted = adapt(fading, schema)
    with pytest.raises(DataError, match="but got nan"):
        adapted.probabilities(encoded)
