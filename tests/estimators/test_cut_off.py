"""A lender's cut-off: verdicts, recourses and judges by it, probabilities as they are."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.loans import fit, make_loans, make_schema, small

import rocourse
from rocourse.errors import ConfigError
from rocourse.estimators import (
    METHODS,
    CounterNet,
    RoCoursePanel,
    VanillaCF,
    oracle,
)
from rocourse.models import NetworkModel, Shift, TrainingRows, predict_rows
from rocourse.models.jurors import family_leads, train_jurors
from rocourse.schema import CutOff, one_hot

EVERY = [
    "rocourse",
    "counternet",
    "cf-model",
    "vae-cf",
    "vanillacf",
    "roar",
    "rbr",
    "rocourse-panel",
]


@pytest.fixture(scope="module")
def rows(loans):
    return loans.drop(columns="grade").head(60)


def granted_from(model, rows, threshold):
    return model.predict_proba(rows)[:, 1] >= threshold


@settings(max_examples=25, deadline=None)
@given(threshold=st.floats(0.02, 0.98))
def test_the_class_is_predicted_from_the_threshold_on(threshold, counternet, rows):
    model = copy(counternet)
    model.cut_off_ = CutOff(threshold, 1)
    np.testing.assert_array_equal(model.predict(rows) == 1, granted_from(model, rows, threshold))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("threshold", [0.25, 0.8])
def test_every_method_gives_recourse_by_the_cut_off(name, threshold, loans, rows, tmp_path):
    cls = METHODS[name]
    model = fit(cls, loans, threshold=threshold)
    before = model.predict_proba(rows)[:, 1]
    np.testing.assert_array_equal(model.predict(rows) == 1, before >= threshold)
    recourse = model.recourse(rows, desired=1)
    np.testing.assert_array_equal(recourse.predicted, model.predict(rows))
    np.testing.assert_array_equal(recourse.status == "not_needed", before >= threshold)
    after = model.predict_proba(recourse.attempted())[:, 1]
    np.testing.assert_allclose(recourse.probability, after, atol=1e-6)
    assert (after[recourse.advised] >= threshold).all()
    helped = recourse.advised[before < threshold]
    assert helped.mean() > 0.6
    back = model.recourse(rows, desired=0)
    refused = model.predict_proba(back.attempted())[:, 1] < threshold
    assert refused[back.advised].all()
    loaded = rocourse.load(model.save(tmp_path / "model"))
    assert loaded.cut_off_ == model.cut_off_ == CutOff(threshold, 1)
    assert loaded.threshold == threshold
    pd.testing.assert_frame_equal(loaded.recourse(rows).frame(), model.recourse(rows).frame())


def test_probabilities_are_the_models_own(loans, rows):
    plain, cut = (fit(VanillaCF, loans, threshold=threshold) for threshold in (None, 0.9))
    assert plain.cut_off_ is None
    np.testing.assert_array_equal(cut.predict_proba(rows), plain.predict_proba(rows))


def test_single_applicants_are_told_the_same(loans, rows):
    model = fit(CounterNet, loans, threshold=0.75)
    table = model.recourse(rows.head(8), desired=1)
    before = model.predict_proba(rows.head(8))[:, 1]
    for place, applicant in enumerate(rows.head(8).to_dict("records")):
        (record,) = model.recourse_each([applicant], desired=1)
        assert record["status"] == table.status[place]
        assert record["predicted"] == table.predicted[place]
        assert record["probability_before"] == pytest.approx(before[place], abs=1e-6)
        assert record["probability"] == pytest.approx(table.probability[place], abs=1e-6)


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.77])
def test_an_approval_rate_is_that_of_the_training_rows(rate, loans):
    model = fit(VanillaCF, loans, approval_rate=rate)
    features = loans.drop(columns="grade")
    granted = model.predict(features) == 1
    likely = model.predict_proba(features)[:, 1]
    ties = (likely == likely[granted].min()).sum() - 1
    assert 0 <= granted.sum() - round(rate * len(loans)) <= ties
    np.testing.assert_array_equal(granted, likely >= model.cut_off_.threshold)


def test_the_favourable_class_may_be_the_first(loans, rows):
    schema = make_schema(loans)
    schema = replace(schema, target=replace(schema.target, favourable=0))
    model = VanillaCF(schema, threshold=0.7, random_state=0, **small(VanillaCF))
    model.fit(loans.drop(columns="grade"), loans["grade"])
    likely = model.predict_proba(rows)[:, 0]
    np.testing.assert_array_equal(model.predict(rows) == 0, likely >= 0.7)
    recourse = model.recourse(rows, desired=0)
    found = recourse.status == "found"
    assert found.any() and (recourse.probability[found] >= 0.7).all()


@pytest.fixture(scope="module")
def forest(loans):
    model = make_pipeline(
        OneHotEncoder(handle_unknown="ignore", min_frequency=5),
        RandomForestClassifier(30, random_state=0),
    )
    return model.fit(loans.drop(columns="grade"), loans["grade"])


@pytest.mark.parametrize("name", ["vanillacf", "roar", "rbr", "cf-model", "rocourse-panel"])
def test_a_model_of_the_users_decides_by_a_cut_off(name, forest, loans, rows, tmp_path):
    cls = METHODS[name]
    options = {"proposer__neighbours": 200} if name in ("roar", "rbr") else {}
    model = cls(
        make_schema(loans), model=forest, threshold=0.3, random_state=0, **small(cls, **options)
    )
    model.fit(loans.drop(columns="grade"), loans["grade"])
    likely = forest.predict_proba(rows)[:, 1].astype(np.float32)
    np.testing.assert_array_equal(model.predict(rows) == 1, likely >= 0.3)
    recourse = model.recourse(rows, desired=1)
    found = recourse.status == "found"
    after = forest.predict_proba(recourse.frame())[:, 1].astype(np.float32)
    assert found.any() and (after[found] >= 0.3).all()
    loaded = rocourse.load(model.save(tmp_path / "model"), model=forest)
    pd.testing.assert_frame_equal(loaded.recourse(rows).frame(), model.recourse(rows).frame())


def test_slopes_of_a_users_model_are_those_of_shifted_log_odds(loans):
    numbers = loans[["income", "debt", "age"]].astype(float)
    linear = LogisticRegression(max_iter=1000).fit(numbers.to_numpy(), loans["grade"])
    model = VanillaCF(model=linear, threshold=0.8, random_state=0)
    model.fit(numbers.to_numpy(), loans["grade"])
    x = one_hot(
        model.schema_.encode(pd.DataFrame(numbers.to_numpy(), columns=model.schema_.names)),
        model.schema_.layout,
    )[:20]
    moved = model._context().model
    target = np.arange(20) % 2
    share, slope = moved.slopes(x, target)
    shares = moved.probabilities(x)
    np.testing.assert_allclose(share, shares[np.arange(20), target], atol=1e-6)
    step = 0.05
    for column in range(3):
        near = x.copy(), x.copy()
        near[0][:, column] -= step
        near[1][:, column] += step
        low, high = (moved.probabilities(part)[np.arange(20), target] for part in near)
        inner = (x[:, column] > step) & (x[:, column] < 1 - step)
        np.testing.assert_allclose(
            slope[inner, column], (high - low)[inner] / (2 * step), atol=0.05
        )


def test_a_given_models_cut_off_goes_with_it(loans, rows):
    base = fit(CounterNet, loans, threshold=0.7)
    features = loans.drop(columns="grade")
    model = VanillaCF(model=base, random_state=0).fit(features, None)
    assert model.cut_off_ == base.cut_off_
    np.testing.assert_array_equal(model.predict(rows), base.predict(rows))
    other = VanillaCF(model=base, threshold=0.2, random_state=0).fit(features, None)
    assert other.cut_off_ == CutOff(0.2, 1)


def test_jurors_lead_from_the_cut_off_on(loans):
    schema = make_schema(loans)
    features = loans.drop(columns="grade")
    data = TrainingRows(schema.encode(features), loans["grade"].to_numpy(np.int32), 2, schema)
    kept = {"networks": 2, "others": 2, "seed": 0}
    plain = train_jurors(data, Shift(), **kept)
    cut = train_jurors(data._replace(cut_off=CutOff(0.8, 1)), Shift(), **kept)
    x = one_hot(data.rows, schema.layout).T
    target = np.ones(x.shape[1], int)
    for before, after in zip(
        family_leads(plain, x, target), family_leads(cut, x, target), strict=True
    ):
        np.testing.assert_allclose(after, np.asarray(before) - np.log(4.0), atol=1e-4)


def test_witnesses_and_oracles_judge_by_the_cut_off(loans, rows):
    model = fit(VanillaCF, loans, witnesses=2, threshold=0.9)
    free = fit(VanillaCF, loans, witnesses=2)
    encoded = model.schema_.encode(rows)
    for cut, plain in zip(model.witnesses_, free.witnesses_, strict=True):
        shares = predict_rows(NetworkModel.of([plain]), encoded, model.schema_.layout)[:, 1]
        moved = predict_rows(NetworkModel.of([cut]), encoded, model.schema_.layout)[:, 1]
        np.testing.assert_array_equal(moved > 0.5, shares > 0.9)
    panel = fit(RoCoursePanel, loans, threshold=0.6)
    other = fit(VanillaCF, loans, threshold=0.9, trainer=panel.trainer)
    told = oracle(panel, [other]).recourse(rows, desired=1)
    found = told.status == "found"
    assert found.any() and (other.predict(told.attempted()[found]) == 1).mean() > 0.95


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"threshold": 0}, "'threshold' must be a number above 0 and below 1, or None: got 0"),
        ({"threshold": 1.0}, "'threshold' must be a number above 0 and below 1"),
        ({"threshold": "half"}, "'threshold' must be"),
        ({"approval_rate": True}, "'approval_rate' must be"),
        ({"approval_rate": -0.1}, "'approval_rate' must be"),
        (
            {"threshold": 0.4, "approval_rate": 0.5},
            "'approval_rate' must be None with a 'threshold'.*leave one of them out",
        ),
    ],
)
def test_an_impossible_cut_off_is_refused(params, words, loans):
    with pytest.raises(ConfigError, match=words):
        VanillaCF(make_schema(loans), **params).fit(loans.drop(columns="grade"), loans["grade"])


@pytest.mark.parametrize("params", [{"threshold": 0.4}, {"approval_rate": 0.4}])
def test_more_than_two_classes_have_no_cut_off(params):
    loans = make_loans(200, seed=0, n_classes=3)
    with pytest.raises(ConfigError, match="must be None with more than two.*got .0, 1, 2"):
        fit(VanillaCF, loans, **params)


def test_balanced_verdicts_go_with_an_approval_rate(loans):
    model = fit(RoCoursePanel, loans, approval_rate=0.4)
    assert model.trainer_.balance == 1.0
    granted = (model.predict(loans.drop(columns="grade")) == 1).sum()
    assert granted == pytest.approx(0.4 * len(loans), abs=1)
