"""Levels that keep promises: conformal risk control against its own guarantee."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocourse.recourse.jury._calibration import (
    LEVELS,
    Trial,
    calibrate,
    promised_threshold,
    run_trials,
)

WITNESSES = 60


def simulated(rng, n=200):
    """Rows whose chances are known, and witnesses who keep each with its chance."""
    chance = rng.random(n)
    return trial_of(chance, (rng.random((WITNESSES, n)) < chance).mean(axis=0))


def trial_of(chance, kept):
    """A trial that all families judge alike."""
    return Trial(chance, kept, kept)


def calibrated(trial, kept):
    return calibrate(run_trials(trial, 2, WITNESSES), kept=kept)


@given(
    seed=st.integers(0, 10**6),
    kept=st.sampled_from([0.6, 0.8, 0.9]),
    digits=st.sampled_from([0, 1, 16]),
)
@settings(max_examples=60, deadline=None)
def test_what_is_promised_is_kept_by_the_witnesses_with_room_for_the_next_model(seed, kept, digits):
    trial = simulated(np.random.default_rng(seed))
    # Where few features change, many rows end alike, and the jury says the same of them.
    trial = trial._replace(chance=trial.chance.round(digits))
    promised = trial.chance >= promised_threshold(trial, kept, WITNESSES)
    if promised.any():
        broken = 1.0 - trial.kept[promised].mean()
        assert (WITNESSES * broken + 1.0) / (WITNESSES + 1.0) <= 1.0 - kept + 1e-9


@pytest.mark.parametrize("kept", [0.7, 0.9])
def test_the_next_model_keeps_the_promised_share_on_average(kept):
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(300):
        chance = rng.random(100)
        # Witnesses and the next model differ as whole models do, not row by row alone.
        severity = rng.normal(0.0, 0.5, 41)
        votes = rng.random((41, 100)) < 1 / (1 + np.exp(-(4 * chance - 1 + severity[:, None])))
        threshold = promised_threshold(trial_of(chance, votes[:-1].mean(axis=0)), kept, 40)
        promised = chance >= threshold
        if promised.any():
            shares.append(votes[-1, promised].mean())
    assert len(shares) > 100
    assert np.mean(shares) >= kept - 0.01


def test_a_share_that_no_number_of_witnesses_can_show_is_not_promised():
    perfect = trial_of(np.ones(50), np.ones(50))
    assert promised_threshold(perfect, 0.89, 9) <= 1.0
    assert promised_threshold(perfect, 0.95, 9) > 1.0


def test_the_cheapest_level_that_reaches_nearly_as_many_is_taken():
    def trial(target, level):
        if target == 0:
            return None
        # From a level of 1 on, all are kept; below, half of them.
        kept = np.ones(100)
        chance = np.linspace(0.9, 1.0, 100)
        if level < 1.0:
            kept[:50] = 0.0
        return trial_of(chance, kept)

    found = calibrated(trial, kept=0.9)
    assert found.levels[1] == 1.0
    assert found.coverage[1] == 1.0
    assert found.expected[1] == 1.0
    # Of a class that all rows have, nothing is promised.
    assert found.thresholds[0] > 1.0


def test_where_nothing_can_be_promised_the_surest_level_is_taken():
    def trial(target, level):
        return trial_of(np.full(100, 0.5), np.full(100, 0.1 * LEVELS.index(level)))

    found = calibrated(trial, kept=0.95)
    assert (found.levels == LEVELS[-1]).all()
    assert (found.coverage == 0.0).all()


def test_estimated_chances_are_what_witnesses_say():
    rng = np.random.default_rng(2)

    def trial(target, level):
        chance = rng.random(400)
        # The jury is too sure of itself: half of what it thinks is kept.
        return trial_of(chance, (rng.random((WITNESSES, 400)) < 0.5 * chance).mean(axis=0))

    found = calibrated(trial, kept=0.9)
    told = np.interp([0.2, 0.5, 0.9], found.chances[1], found.shares[1])
    np.testing.assert_allclose(told, [0.1, 0.25, 0.45], atol=0.04)


def test_where_nothing_can_be_promised_advice_that_is_as_sure_and_cheaper_is_taken():
    def trial(target, level):
        # Above a level of 1, hardly any more are kept.
        kept = 0.3 * min(level, 1.0) + 0.001 * level
        return trial_of(np.full(100, 0.5), np.full(100, kept))

    assert (calibrated(trial, kept=0.95).levels == 1.0).all()


@pytest.mark.parametrize(("kept", "asked"), [(0.6, 0.8), (0.8, 0.9), (0.93, 0.95), (0.97, 0.97)])
def test_of_made_up_shifts_more_is_asked(kept, asked):
    rng = np.random.default_rng(3)
    trial = simulated(rng, 400)
    trials = run_trials(lambda target, level: trial, 2, 1000, made_up=True)
    as_stated = run_trials(lambda target, level: trial, 2, 1000)
    np.testing.assert_array_equal(
        calibrate(trials, kept=kept).thresholds, calibrate(as_stated, kept=asked).thresholds
    )


@pytest.mark.parametrize(
    ("kept", "refits", "made_up", "least"),
    [(0.99, True, True, 3.0), (0.95, True, True, 0.5), (0.99, False, True, 0.5)]
    + [(0.99, True, False, 0.5)],
)
def test_few_refits_do_not_show_shares_near_to_one(kept, refits, made_up, least):
    """All is kept at all levels; 2.33 deviations are what normal leads of .99 take."""
    trial = trial_of(np.ones(100), np.ones(100))
    trials = run_trials(lambda target, level: trial, 2, 1000, made_up=made_up)
    assert (calibrate(trials, kept=kept, refits=refits).levels == least).all()


def test_a_level_that_reaches_nobody_is_not_taken_for_one_that_reaches_few():
    def trial(target, level):
        # Only the highest level has a few that all keep.
        kept = np.full(1000, 0.5)
        if level == LEVELS[-1]:
            kept[:12] = 1.0
        return trial_of(np.where(kept == 1.0, 0.9, 0.1), kept)

    assert calibrated(trial, kept=0.9).levels[1] == LEVELS[-1]
