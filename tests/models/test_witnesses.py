"""Witnesses: how many models of shifted rows would honour a recourse."""

import numpy as np
import pytest
from tests.loans import fit, make_loans, small

from rocourse.artifacts import load, save
from rocourse.errors import ConfigError
from rocourse.estimators import CounterNet, RoCoursePanel, VanillaCF
from rocourse.models import NetworkModel, predict_rows


@pytest.fixture(scope="module")
def asked():
    return make_loans(150, seed=9).drop(columns="grade")


@pytest.mark.parametrize("cls", [CounterNet, VanillaCF, RoCoursePanel])
def test_the_share_is_that_of_witnesses_that_give_the_desired_class(cls, loans, asked):
    model = fit(cls, loans, witnesses=3)
    recourse = model.recourse(asked)
    # Judged one by one, each in the place of the model.
    rows, layout = model.schema_.encode(recourse.attempted()), model.schema_.layout
    shares = [predict_rows(NetworkModel.of([w]), rows, layout) for w in model.witnesses_]
    verdicts = [model.classes_[share.argmax(axis=1)] == recourse.desired for share in shares]
    np.testing.assert_allclose(model.robustness(recourse), np.mean(verdicts, axis=0))


def test_witnesses_change_neither_model_nor_recourses(loans, asked):
    with_them, without = fit(CounterNet, loans, witnesses=2), fit(CounterNet, loans)
    np.testing.assert_array_equal(with_them.predict_proba(asked), without.predict_proba(asked))
    assert without.robustness(without.recourse(asked)) is None


def test_robust_recourses_have_more_witnesses_than_those_at_the_boundary(loans, asked):
    models = [
        fit(
            RoCoursePanel,
            loans,
            witnesses=6,
            trainer__epochs=30,
            trainer__committee=1,
            proposer__members=members,
            proposer__margin_quantile=quantile,
        )
        for members, quantile in ((1, 0.0), (4, 0.5))
    ]
    timid, bold = (model.robustness(model.recourse(asked)).mean() for model in models)
    assert bold > timid


@pytest.mark.parametrize("cls", [CounterNet, RoCoursePanel])
def test_a_stored_model_keeps_its_witnesses(cls, loans, asked, tmp_path):
    model = fit(cls, loans, witnesses=11, trainer__epochs=1)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    recourse = model.recourse(asked)
    np.testing.assert_array_equal(again.robustness(recourse), model.robustness(recourse))


@pytest.mark.parametrize("witnesses", [-1, 2.5, True])
def test_impossible_numbers_of_witnesses_are_refused(witnesses, loans):
    with pytest.raises(ConfigError, match="witnesses"):
        fit(CounterNet, loans, witnesses=witnesses)


def test_a_model_that_cannot_be_trained_anew_has_none(loans):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    features, labels = loans.drop(columns="grade"), loans["grade"]
    foreign = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    foreign.fit(features, labels)
    with pytest.raises(ConfigError, match="'witnesses' must be 0"):
        VanillaCF(model=foreign, **small(VanillaCF, witnesses=2)).fit(features, labels)
