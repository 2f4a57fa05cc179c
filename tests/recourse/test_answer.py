"""A handful of applicants, answered without a table: the same answers."""

import numpy as np
import pandas as pd
import pytest
from tests.loans import fit, make_loans, small

from rocourse.errors import DataError
from rocourse.estimators import METHODS, CounterNet
from rocourse.schema import Schema, describe_change


def by_table(model, rows, desired):
    recourse = model.recourse(rows, desired=desired)
    before = model.predict_proba(rows)[:, np.searchsorted(model.classes_, recourse.desired)]
    shares = model.robustness(recourse)
    return recourse, [
        record
        | {
            "probability_before": before[i, i],
            "robustness": None if shares is None else shares[i],
        }
        for i, record in enumerate(recourse.to_records())
    ]


def agree(found, expected):
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.keys() == theirs.keys() - {"index"}
        for name, value in mine.items():
            if isinstance(value, float):
                assert value == pytest.approx(theirs[name], abs=1e-5), name
            else:
                assert value == theirs[name], name


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("desired", [None, 1])
def test_answers_are_those_to_a_table(name, desired, fitted):
    model = fitted(name)
    rows = make_loans(20, seed=4).drop(columns="grade")
    _, expected = by_table(model, rows, desired)
    agree(model.recourse_each(rows.to_dict("records"), desired=desired), expected)


@pytest.mark.filterwarnings("ignore:Values outside the range")
def test_rows_out_of_the_training_range_are_looked_at_by_a_table(loans):
    model = fit(CounterNet, loans, witnesses=2)
    rows = make_loans(6, seed=4).drop(columns="grade")
    rows.loc[2, "income"] = 500.0
    _, expected = by_table(model, rows, 1)
    agree(model.recourse_each(rows.to_dict("records"), desired=1), expected)


@pytest.mark.parametrize("wrong", [{"job": "boss"}, {"income": float("inf")}])
def test_wrong_rows_are_refused_as_in_a_table(wrong, fitted):
    rows = make_loans(3, seed=4).drop(columns="grade").to_dict("records")
    with pytest.raises(DataError):
        fitted("counternet").recourse_each([*rows, rows[0] | wrong])


@pytest.mark.parametrize("desired", [[1, 0], [[1]] * 5])
def test_as_many_classes_as_rows_are_asked_for_or_one(desired, fitted):
    rows = make_loans(5, seed=1).drop(columns="grade")
    with pytest.raises(DataError, match="one for each of 5, but got"):
        fitted("vanillacf").recourse(rows, desired=desired)
    model = fitted("vanillacf")
    assert model.recourse(rows, desired=[1] * 5).desired.tolist() == [1] * 5


def test_nobody_is_answered_with_nothing(fitted):
    assert fitted("counternet").recourse_each([]) == []


def test_three_classes(graded_rocoursenet):
    model = graded_rocoursenet
    rows = make_loans(20, seed=4).drop(columns="grade")
    _, expected = by_table(model, rows, None)
    agree(model.recourse_each(rows.to_dict("records")), expected)


@pytest.mark.filterwarnings("ignore:Values outside the range")
def test_a_single_change_is_put_in_the_same_words(fitted):
    model = fitted("counternet")
    recourse = model.recourse(make_loans(60, seed=5).drop(columns="grade"))
    changes: pd.DataFrame = recourse.changes()
    words = [
        describe_change(model.schema_[change.feature], change[3], change.to)
        for change in changes.itertuples(index=True)
    ]
    assert words == [text for texts in recourse.descriptions() for text in texts]


@pytest.mark.parametrize(
    ("name", "kept"),
    [("rocourse", "categories"), ("rocourse-panel", "categories"), ("counternet", "numbers")],
)
def test_features_of_one_kind_are_advised_on_in_every_way(name, kept):
    loans = make_loans(200, seed=0)
    loans = loans.assign(means=np.where(loans["income"] > 50, "more", "less"))
    names = ["job", "region", "means"] if kept == "categories" else ["income", "debt", "age"]
    schema = Schema.infer(loans[[*names, "grade"]], target="grade", favourable=1)
    cls = METHODS[name]
    model = cls(schema=schema, random_state=0, **small(cls)).fit(loans[names], loans["grade"])
    rows = loans[names].head(20)
    found = model.recourse(rows, desired=1, options=2)
    assert len(found.options) == 2
    records = model.recourse_each(rows.to_dict("records"), desired=1)
    assert [one["status"] for one in records] == list(model.recourse(rows, desired=1).status)
    one = model.recourse_one(rows.iloc[0].to_dict(), desired=1)
    assert one["status"] == records[0]["status"]
