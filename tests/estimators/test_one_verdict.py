"""A model that calls every row the same: said at once, and made to decide where a class is rare."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from rocourse.estimators import CounterNet, OneVerdictWarning, VanillaCF
from rocourse.models import PlainTrainer
from rocourse.schema import Schema

SMALL = PlainTrainer(encoder_widths=(16, 8), head_widths=(8,), epochs=40, batch_size=64)(
    learning_rate=0.01
)


def table(share, n=1000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"income": rng.normal(50, 15, n), "debt": rng.normal(20, 8, n)})
    score = frame["income"] - frame["debt"] + rng.normal(0, 6, n)
    return frame.assign(approved=(score > np.quantile(score, 1 - share)).astype(int))


def fitted(frame, **options):
    schema = Schema.infer(frame, target="approved")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", OneVerdictWarning)
        model = VanillaCF(schema, **{"trainer": SMALL, "random_state": 0, **options})
        model.fit(frame.drop(columns="approved"), frame["approved"])
    return model, [str(w.message) for w in said if w.category is OneVerdictWarning]


def test_two_percent_favourable_rows_work_out_of_the_box():
    frame = table(0.02)
    model, (sentence,) = fitted(frame)
    rows = frame.drop(columns="approved")
    granted = model.predict(rows) == 1
    # As many as have it; those that are granted it are those that have it, by and large.
    assert granted.sum() == 20
    assert frame.loc[granted, "approved"].mean() > 0.5
    recourse = model.recourse(rows[~granted].head(50), desired=1)
    assert recourse.valid.mean() > 0.9
    changed = recourse.frame()
    assert model.cut_off_ is not None and len(changed) == 50
    for words in ("approved = 0", "approved = 1", "2.0%", "approval_rate=", "threshold="):
        assert words in sentence
    assert sentence.count(". ") == 0


@pytest.mark.parametrize("stated", [{"threshold": 0.3}, {"approval_rate": 0.1}])
def test_what_the_user_states_wins(stated):
    model, (sentence,) = fitted(table(0.02), **stated)
    assert "the one that you state" in sentence
    if "threshold" in stated:
        assert model.cut_off_.threshold == 0.3
    else:
        assert model.predict(table(0.02)[["income", "debt"]]).mean() == pytest.approx(0.1)


def test_a_model_that_decides_is_left_alone():
    model, said = fitted(table(0.4))
    assert said == [] and model.cut_off_ is None and model.trainer_ == SMALL


def test_a_model_that_has_not_learned_enough_is_said_to_and_left_alone():
    model, (sentence,) = fitted(table(0.35), trainer=SMALL(epochs=1, learning_rate=1e-6))
    assert "train it longer" in sentence
    assert model.cut_off_ is None and model.trainer_.loss == "mse"


def test_a_generator_is_trained_for_the_cut_off():
    frame = table(0.03)
    schema = Schema.infer(frame, target="approved")
    rows = frame.drop(columns="approved")
    model = CounterNet(schema, random_state=0)
    model.set_params(
        trainer__encoder_widths=(16, 8),
        trainer__head_widths=(8,),
        trainer__epochs=12,
        trainer__batch_size=64,
        proposer__widths=(8,),
        proposer__epochs=30,
    )
    with pytest.warns(OneVerdictWarning):
        model.fit(rows, frame["approved"])
    refused = rows[model.predict(rows) == 0].head(100)
    assert model.recourse(refused, desired=1).valid.mean() > 0.5


def test_a_model_of_the_users_keeps_its_verdicts():
    frame = table(0.02)
    rows, labels = frame.drop(columns="approved"), frame["approved"]
    given = DummyClassifier().fit(rows, labels)
    model, (sentence,) = fitted(frame, model=given)
    assert "state a cut-off" in sentence and model.cut_off_ is None
