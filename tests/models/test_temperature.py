"""A temperature: found where it is known, and without a say in verdicts."""

import numpy as np
import pytest
from scipy.special import expit
from tests.loans import fit

from rocourse.estimators import RoCourse, VanillaCF
from rocourse.models import SteadyTrainer
from rocourse.models._temperature import sharpness

SMALL = SteadyTrainer(
    encoder_widths=(16, 8),
    head_widths=(8,),
    batch_size=64,
    epochs=12,
    learning_rate=0.01,
    copies=0,
    balance=0.0,
)


@pytest.mark.parametrize("factor", [0.3, 0.7, 1.0, 1.6])
def test_the_factor_that_labels_were_drawn_by_is_found(factor):
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 3, 20_000)
    labels = (rng.random(20_000) < expit(factor * logits)).astype(int)
    scores = np.stack([np.zeros_like(logits), logits])
    assert sharpness(scores, labels) == pytest.approx(factor, rel=0.05)


def test_a_few_rows_are_no_evidence():
    assert sharpness(np.ones((2, 5)), np.zeros(5, int)) == 1.0


def test_rows_that_are_all_told_right_do_not_make_it_sure_of_everything():
    logits = np.repeat([-1.0, 1.0], 50)
    scores = np.stack([np.zeros(100), logits])
    assert sharpness(scores, (logits > 0).astype(int)) <= 2.0


def test_advice_does_not_depend_on_the_temperature(loans):
    rows = loans.drop(columns="grade").head(60)
    told = [
        fit(RoCourse, loans, trainer=SMALL(tempered=told)).recourse(rows, desired=1)
        for told in (False, True)
    ]
    np.testing.assert_array_equal(told[0].status, told[1].status)
    np.testing.assert_allclose(told[0].proximity, told[1].proximity, atol=1e-3)
    assert not np.allclose(told[0].probability, told[1].probability, atol=1e-3)


def test_a_tempered_committee_decides_as_before(loans):
    rows = loans.drop(columns="grade")
    plain, tempered = (
        fit(VanillaCF, loans, trainer=SMALL(tempered=told)) for told in (False, True)
    )
    np.testing.assert_array_equal(tempered.predict(rows), plain.predict(rows))
    odds = [
        np.log(model.predict_proba(rows)[:, 1] / model.predict_proba(rows)[:, 0])
        for model in (plain, tempered)
    ]
    middle = np.abs(odds[0]) < 5
    ratio = odds[1][middle] / odds[0][middle]
    # One factor for all.
    assert np.ptp(ratio) < 1e-2 and abs(ratio.mean() - 1.0) > 1e-3
