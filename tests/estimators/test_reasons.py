"""`reasons` on fitted models of every method: they sum up, are few, and are in words."""

import json

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from tests.loans import make_schema, small
from tests.untrained import untrained

import rocourse
from rocourse.errors import ConfigError
from rocourse.estimators import METHODS, CounterNet, VanillaCF
from rocourse.reasons import log_odds


@pytest.fixture(scope="module")
def rows(loans):
    return loans.drop(columns="grade").head(60)


@pytest.mark.parametrize("name", METHODS)
def test_reasons_sum_up_to_what_the_score_differs(fitted, rows, name):
    model = fitted(name)
    told = model.reasons(rows)
    refused = model.predict(rows) != 1
    np.testing.assert_array_equal(told.refused, refused)
    assert refused.any() and np.isnan(told.contributions[~refused]).all()
    score = log_odds(model.predict_proba(rows)[:, 1])
    np.testing.assert_allclose(told.score, score, atol=1e-4)
    sums = told.contributions[refused].sum(axis=1)
    np.testing.assert_allclose(sums, (told.score - told.base)[refused], atol=1e-9)
    # Beside rows that are accepted, each refused one has something that lowers its score.
    assert (told.base[refused] > told.score[refused]).all()
    for reasons, there in zip(told.principal(), refused, strict=True):
        assert (1 <= len(reasons) <= 4) == there
        contributions = [reason.contribution for reason in reasons]
        assert contributions == sorted(contributions) and all(one < 0 for one in contributions)


def test_a_linear_model_gives_differences_times_coefficients(loans, rows):
    columns = make_column_transformer(
        (OneHotEncoder(), ["job", "region"]), (MinMaxScaler(), ["income", "debt", "age"])
    )
    X, y = loans.drop(columns="grade"), loans["grade"]
    line = make_pipeline(columns, LogisticRegression(C=0.1)).fit(X, y)
    schema = make_schema(loans)
    model = VanillaCF(schema, model=line, random_state=0, proposer__steps=5).fit(X, None)
    told = model.reasons(rows, desired=1)
    others, weights = model.background_.of(1)
    usual = schema.decode(others)
    where = np.flatnonzero(told.refused)

    def part(frame, names):
        coefficients = dict(zip(columns.get_feature_names_out(), line[-1].coef_[0], strict=True))
        table = columns.transform(frame)
        places = [i for i, one in enumerate(coefficients) if one.split("__")[1].startswith(names)]
        return table[:, places] @ np.array(list(coefficients.values()))[places]

    for k, name in enumerate(schema.names):
        expected = part(rows, name)[where] - weights @ part(usual, name)
        np.testing.assert_allclose(told.contributions[where, k], expected, atol=2e-4)


def test_reasons_are_told_in_raw_units_beside_accepted_rows(counternet, rows):
    told = counternet.reasons(rows, desired=1)
    first = int(np.flatnonzero(told.refused)[0])
    (record,) = counternet.reasons(rows.iloc[[first]], desired=1).to_records()
    json.dumps(record, allow_nan=False)
    together = told.to_records()[first]["reasons"]
    assert [one["text"] for one in record["reasons"]] == [one["text"] for one in together]
    for reason in record["reasons"]:
        assert reason["value"] == rows.iloc[first][reason["feature"]]
        assert f"{reason['feature']}: " in reason["text"]
        assert reason["protected"] == (reason["feature"] == "age")
    frame = told.frame()
    assert len(frame) == sum(map(len, told.principal())) and frame["rank"].max() <= 4
    few = counternet.reasons(rows, desired=1, most=2)
    assert [one[:2] for one in told.principal()] == few.principal()


def test_reasons_of_many_classes_are_those_of_the_one_asked_for(graded_rocoursenet, graded_loans):
    rows = graded_loans.drop(columns="grade").head(40)
    told = graded_rocoursenet.reasons(rows)
    assert set(told.desired) == {2} and told.refused.any()
    sums = told.contributions[told.refused].sum(axis=1)
    np.testing.assert_allclose(sums, (told.score - told.base)[told.refused], atol=1e-9)


def test_reasons_are_the_same_after_saving(counternet, rows, tmp_path):
    counternet.save(tmp_path / "model")
    loaded = rocourse.load(tmp_path / "model")
    before, after = (model.reasons(rows, desired=1) for model in (counternet, loaded))
    np.testing.assert_allclose(before.contributions, after.contributions, atol=1e-5)


def test_what_cannot_be_told_is_said(counternet, rows, loans):
    with pytest.raises(ConfigError, match="most must be a whole number from 1 to 4, but got 5"):
        counternet.reasons(rows, most=5)
    with pytest.raises(ConfigError, match="it is not the favourable one"):
        counternet.reasons(rows, desired=0)
    blank = CounterNet(schema=make_schema(loans), random_state=0, **small(CounterNet))
    with pytest.raises(ConfigError, match="a release that kept none; fit it again"):
        untrained(blank).reasons(rows, desired=1)
