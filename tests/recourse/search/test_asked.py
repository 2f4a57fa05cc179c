"""Models that can only be asked: where numbers stop on their way back."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from rocourse.recourse.search import Asked, Edits, Ways, cut_back, usual_stops, usual_values
from rocourse.schema import Continuous, Layout, Rows, Schema

STEP = 0.02


@dataclass(eq=False)
class Steps:
    """A model of one number: sure of the second class on some intervals between turns."""

    places: np.ndarray
    favoured: np.ndarray

    n_classes = 2

    def probabilities(self, x):
        # At a turn the left side speaks, as in scikit-learn's trees.
        own = np.searchsorted(self.places, x[:, 0], side="left")
        share = np.where(self.favoured[own], 0.9, 0.1)
        return np.stack([1 - share, share], axis=1).astype(np.float32)

    def read_rows(self, x):
        return None

    def quick_probabilities(self, x, read=None):
        return self.probabilities(x)

    def turns(self):
        return (self.places,)


def stops_of(model, whole=0.0):
    one = np.ones(1)
    return usual_stops(Asked(model, ()), STEP * one, 0 * one, 0 * one, one, whole * one)


def taken_back(model, start, far, stops):
    layout = Layout(1, ())
    number = np.zeros(1, np.float32)
    edits = Edits(np.zeros(1, np.int32), np.zeros(1, np.int32), number, number, number + 1)
    n = len(start)
    ways = Ways(edits, stops, np.zeros((n, 1)), np.ones((n, 1)), np.ones((n, 0), bool), layout)
    rows = [np.asarray(values, np.float32)[:, None] for values in (start, far)]
    target, level = np.ones(n, int), np.ones(n)

    def nobody(x, target):
        return np.empty((0, len(x)))

    return cut_back(Asked(model, ()), nobody, ways, *rows, target, level)[:, 0]


turns = st.lists(st.integers(1, 999), min_size=1, max_size=12, unique=True).map(
    lambda found: np.sort(np.array(found)) * 0.001 + 0.0003
)


@settings(deadline=None, max_examples=60)
@given(turns, st.floats(0.0, 1.0))
def test_the_smallest_change_past_a_threshold_is_found(places, start):
    """Of a model that asks for more than the last threshold, which any value beyond it meets."""
    favoured = np.arange(len(places) + 1) == len(places)
    model, last = Steps(places, favoured), places[-1]
    if start > last:
        return
    (found,) = taken_back(model, [start], [1.0], stops_of(model))
    assert found > last
    # An amount, if one lies between the threshold and the end; else a finer one, or the end.
    amount = STEP * np.ceil(last / STEP + 1e-3)
    finer = [last + size for size in (STEP / 10, STEP / 100)]
    expected = amount if amount < 1.0 else next((v for v in finer if v < 1.0), 1.0)
    assert found <= expected + 1e-6
    if amount < 1.0:
        assert found == pytest.approx(amount, abs=1e-6)


@settings(deadline=None, max_examples=60)
@given(turns)
def test_between_any_two_thresholds_there_is_a_stop(places):
    """All that lie further apart than the finest amounts, on either side of each."""
    (stops,) = stops_of(Steps(places, np.zeros(len(places) + 1, bool)))
    assert (np.diff(stops) > 0).all() and stops.min() >= 0.0 and stops.max() <= 1.0
    for low, high in zip(places[:-1], places[1:], strict=True):
        within = stops[(stops > low) & (stops < high)]
        assert len(within)
        assert within[0] - low < STEP + 1e-6 and high - within[-1] < STEP + 1e-6


def test_a_narrow_interval_that_no_amount_meets_is_stopped_in():
    """Only between .5003 and .5103 is the model sure: amounts are 0.5 and 0.52."""
    places = np.array([0.5003, 0.5103])
    model = Steps(places, np.array([False, True, False]))
    (found,) = taken_back(model, [0.2], [0.5101], stops_of(model))
    assert 0.5003 < found < 0.505
    (found,) = taken_back(model, [0.9], [0.5004], stops_of(model))
    assert 0.505 < found < 0.5103


@pytest.mark.parametrize("low", [217.0, 1013.0])
def test_amounts_are_stopped_at_to_the_last_digit(low):
    """5,100 and not 5,099.9997: what is told is read by people."""
    schema = Schema((Continuous("income", low=low, high=5801.0),))
    values = np.linspace(0.0, 1.0, 400, dtype=np.float32)[:, None]
    edits, grid = usual_values(
        Rows(values, np.empty((400, 0), schema.layout.category_dtype)),
        schema,
        min_category_share=0.02,
    )
    model, whole = Steps(np.empty(0), np.zeros(1, bool)), np.zeros(1)
    (stops,) = usual_stops(Asked(model, ()), grid.step, grid.first, edits.low, edits.high, whole)
    amounts = np.arange(1200.0, 5700.0, 100.0)
    encoded = schema.encode(pd.DataFrame({"income": amounts})).continuous[:, 0]
    assert np.isin(encoded, stops).all()


def test_whole_numbers_stay_whole():
    places = np.array([0.313, 0.314, 0.502])
    (stops,) = stops_of(Steps(places, np.zeros(4, bool)), whole=0.01)
    np.testing.assert_allclose(stops, 0.01 * np.round(stops / 0.01), atol=1e-6)


@dataclass(eq=False)
class Line:
    """A model of two numbers: the log-odds of the second class are a weighted sum."""

    weights: tuple[float, float]
    start: float

    n_classes = 2

    def probabilities(self, x):
        share = 1 / (1 + np.exp(-(self.start + x @ np.array(self.weights))))
        return np.stack([1 - share, share], axis=1).astype(np.float32)


@pytest.mark.parametrize("gain", [0.02, 0.2, 2.0])
@pytest.mark.parametrize("level", [1.0, 3.0])
@pytest.mark.parametrize("start", [0.1, 0.5, 1.5])
def test_a_change_stays_if_more_models_agree_than_it_costs(gain, level, start):
    """The second number costs .6 and makes surer; deviations are those of no refits, a half."""
    model = Line((1.0, gain / 0.6), start - 1.0)
    number = np.zeros(2, np.float32)
    edits = Edits(np.zeros(1, np.int32), np.zeros(1, np.int32), number[:1], number, number + 1)
    ways = Ways(
        edits,
        (np.array([0.0, 1.0], np.float32),) * 2,
        np.zeros((1, 2)),
        np.ones((1, 2)),
        np.ones((1, 0), bool),
        Layout(2, ()),
    )
    row, x = np.array([[1.0, 0.0]], np.float32), np.array([[1.0, 0.6]], np.float32)
    found = cut_back(
        Asked(model, ()),
        lambda x, target: np.empty((0, len(x))),
        ways,
        row,
        x,
        np.ones(1, int),
        np.array([level]),
    )
    without, both = start / 0.5, (start + gain) / 0.5
    worth = 8.0 * level**2 * (norm.cdf(0.9 * both) - norm.cdf(0.9 * without))
    needed = without < level - 1e-4 and both > without + 1e-4
    if not needed or (worth < 0.6 + 0.3 and without >= 0.25):
        assert found[0, 1] == 0.0
    else:
        assert found[0, 1] > 0.0
    assert found[0, 0] == 1.0
