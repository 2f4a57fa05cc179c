"""Evidence that promises break: against its definition, and by simulated streams."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocourse.errors import ConfigError, DataError
from rocourse.evaluation import promise_alarm, promise_evidence


def streams(rng, chance, count, length):
    return (rng.random((count, length)) < chance).astype(float)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=80), st.sampled_from([0.5, 0.8, 0.95]))
def test_evidence_is_the_worth_of_bets_that_begin_again_and_again(honoured, kept):
    """Each bet written out: its money times its own product."""
    total = 0.0
    spent = 0.0
    for j, start in enumerate(range(0, len(honoured), 25), start=1):
        money = 1.0 / (j * (j + 1))
        spent += money
        for times in (1.5, 2.0, 3.0, 5.0):
            rate = min((times - 1.0) / kept, 1.0 / (1.0 - kept))
            total += money / 4 * np.prod([1.0 + rate * (kept - h) for h in honoured[start:]])
    evidence = promise_evidence(honoured, kept=kept)
    assert evidence[-1] == pytest.approx(total + 1.0 - spent)
    assert (evidence >= 0).all()


def test_false_alarms_are_as_rare_as_said():
    """1,000 streams of 1,000 promises each, kept exactly as stated: the worst that is allowed."""
    rng = np.random.default_rng(0)
    for kept in (0.8, 0.95):
        evidence = promise_evidence(streams(rng, kept, 1000, 1000), kept=kept)
        assert (evidence.max(axis=1) >= 20.0).mean() <= 0.05
        # On average money wins nothing, whenever one looks: all streams of ten, by their chances.
        every = np.array(list(product([0.0, 1.0], repeat=10)))
        chance = np.where(every == 1.0, kept, 1.0 - kept).prod(axis=1)
        means = chance @ promise_evidence(every, kept=kept)
        assert means == pytest.approx(np.ones(10))


def test_a_fall_is_noticed_whenever_it_comes():
    """From .97 to .90 where .95 was stated, at once or after 500 promises."""
    rng = np.random.default_rng(1)
    delays = {}
    for before in (0, 500):
        told = np.concatenate(
            [streams(rng, 0.97, 100, before), streams(rng, 0.90, 100, 3000)], axis=1
        )
        evidence = promise_evidence(told, kept=0.95)
        assert (evidence[:, :before] >= 20.0).any(axis=1).mean() <= 0.05
        delays[before] = np.median((evidence[:, before:] >= 20.0).argmax(axis=1))
    assert delays[0] <= 350 and delays[500] <= 600, delays


def test_an_alarm_is_the_first_time_that_evidence_suffices():
    broken = [0.0] * 10
    place = promise_alarm(broken, kept=0.9)
    evidence = promise_evidence(broken, kept=0.9)
    assert evidence[place] >= 20.0 > evidence[place - 1]
    assert promise_alarm([1.0] * 50, kept=0.9) is None
    assert promise_alarm(broken, kept=0.9, false_alarms=1e-6) > place


def test_bad_streams_are_refused():
    with pytest.raises(DataError, match="must be 0, 1 or a share"):
        promise_evidence([1.0, np.nan], kept=0.9)
    with pytest.raises(ConfigError, match="kept must be a number"):
        promise_evidence([1.0], kept=1.0)
    with pytest.raises(ConfigError, match="false_alarms must be"):
        promise_alarm([1.0], kept=0.9, false_alarms=0.0)
