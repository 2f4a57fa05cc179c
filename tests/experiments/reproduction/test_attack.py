"""The attack on a fitted model's recourses."""

import numpy as np
import pytest
from tests.applicants import TARGET, make_applicants, trained_model, untrained_model

from rocourse.attack import Attack
from rocourse.errors import ConfigError
from rocourse.experiments.reproduction import _attack
from rocourse.experiments.reproduction._attack import attack_recourses

ATTACK = Attack(steps=3, unroll=1, learning_rate=0.03)


@pytest.fixture(autouse=True)
def _several_batches(monkeypatch):
    """So that 80 rows are two full batches and a half."""
    monkeypatch.setattr(_attack, "_BATCH_SIZE", 32)


@pytest.fixture(scope="module")
def rows():
    frame = make_applicants()
    return frame.drop(columns=TARGET), frame[TARGET].to_numpy()


def test_without_a_step_to_speak_of_nothing_changes(rows):
    still = ATTACK(learning_rate=1e-9)
    scores = attack_recourses(trained_model(), *rows, still, seed=0)
    recourse = trained_model().recourse(rows[0])
    assert scores.rows == 80
    assert scores.validity == scores.robust_validity == pytest.approx(np.mean(recourse.valid))
    predicted = trained_model().predict(rows[0])
    assert (
        scores.accuracy == scores.attacked_accuracy == pytest.approx(np.mean(predicted == rows[1]))
    )


def test_a_stronger_attack_breaks_more_and_the_model_stays_as_it_was(rows):
    model = trained_model()
    before = model.predict_proba(rows[0])
    shares = [
        attack_recourses(
            model, *rows, ATTACK(learning_rate=rate, epsilon=3.0), seed=0
        ).robust_validity
        for rate in (0.001, 1.0)
    ]
    assert shares[1] < shares[0]
    np.testing.assert_array_equal(model.predict_proba(rows[0]), before)


def test_the_same_seed_gives_the_same_scores(rows):
    model = trained_model()
    assert attack_recourses(model, *rows, ATTACK, seed=1) == attack_recourses(
        model, *rows, ATTACK, seed=1
    )


def test_a_model_of_three_classes_is_refused(rows):
    frame = make_applicants(classes=("high", "low", "none"))
    with pytest.raises(ConfigError, match="two classes"):
        attack_recourses(
            untrained_model(frame=frame), frame.drop(columns=TARGET), frame[TARGET], ATTACK, seed=0
        )
