"""Bounds are above whatever a box holds, and margins are what the model decides by."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recourse.proof.small_worlds import LAYOUT, NUMBERS, random_network

from rocourse.models import NetworkModel
from rocourse.networks import probabilities
from rocourse.recourse.proof._bounds import upper_bounds
from rocourse.recourse.proof._boxes import Boxes
from rocourse.recourse.proof._margins import least_margin, margins_of, rounding
from rocourse.schema import CutOff, one_hot, verdicts


def random_boxes(rng, n):
    ends = np.sort(rng.random((2, n, NUMBERS)), axis=0)
    allowed = rng.random((n, LAYOUT.width - NUMBERS)) < 0.5
    for part in LAYOUT.group_slices:
        size = part.stop - part.start
        allowed[np.arange(n), part.start - NUMBERS + rng.integers(0, size, n)] = True
    return Boxes(ends[0], ends[1], allowed)


def points_inside(rng, boxes, n):
    """Encoded rows of each box, corners among them, `[n, boxes, width]`."""
    shares = rng.random((n, *boxes.low.shape))
    shares = np.where(rng.random((n, 1, 1)) < 0.5, shares.round(), shares)
    x = np.zeros((n, len(boxes.low), LAYOUT.width))
    x[..., :NUMBERS] = boxes.low + shares * (boxes.high - boxes.low)
    for part in LAYOUT.group_slices:
        columns = slice(part.start - NUMBERS, part.stop - NUMBERS)
        drawn = np.where(
            boxes.allowed[:, columns], rng.random((n, *boxes.allowed[:, columns].shape)), 0
        )
        x[..., part] = drawn == drawn.max(axis=-1, keepdims=True)
    return x


def margins(rng, n_networks, n_classes):
    model = NetworkModel.of([random_network(rng, n_classes) for _ in range(n_networks)])
    return margins_of(model, int(rng.integers(n_classes)), None, LAYOUT)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(2, 3))
def test_nothing_in_a_box_is_above_its_bound(seed, n_networks, n_classes):
    rng = np.random.default_rng(seed)
    known, boxes = margins(rng, n_networks, n_classes), random_boxes(rng, 20)
    bound = upper_bounds(known, boxes)
    inside = points_inside(rng, boxes, 200)
    reached = least_margin(known, inside.reshape(-1, LAYOUT.width)).reshape(200, -1)
    assert (reached.max(axis=0) <= bound.upper + 1e-9).all()
    best = least_margin(known, one_hot(bound.best, LAYOUT).astype(float))
    assert (best <= bound.upper + 1e-6).all()


def test_bound_of_a_point_is_its_margin():
    rng = np.random.default_rng(0)
    known, boxes = margins(rng, 3, 2), random_boxes(rng, 20)
    x = points_inside(rng, boxes, 1)[0]
    points = Boxes(x[:, :NUMBERS], x[:, :NUMBERS], x[:, NUMBERS:] > 0.5)
    bound = upper_bounds(known, points)
    np.testing.assert_allclose(bound.upper, least_margin(known, x), atol=1e-9)
    np.testing.assert_array_equal(bound.worth, 0.0)


@pytest.mark.parametrize("threshold", [None, 0.5, 0.03, 0.9])
@pytest.mark.parametrize("favourable", [0, 1])
def test_sign_of_a_margin_is_the_verdict_up_to_rounding(threshold, favourable):
    rng = np.random.default_rng(1)
    model = NetworkModel.of([random_network(rng, 2) for _ in range(3)])
    cut_off = None if threshold is None else CutOff(threshold, favourable)
    boxes = random_boxes(rng, 1)._replace(
        low=np.zeros((1, NUMBERS)), high=np.ones((1, NUMBERS)), allowed=np.ones((1, 6), bool)
    )
    x = points_inside(rng, boxes, 4000)[:, 0].astype(np.float32)
    given = verdicts(model.probabilities(x), cut_off)
    for target in (0, 1):
        known = margins_of(model, target, cut_off, LAYOUT)
        found = least_margin(known, x.astype(float))
        (tolerance,) = rounding(known, boxes)
        assert tolerance < 0.01
        clear = np.abs(found) > tolerance
        assert clear.mean() > 0.9
        np.testing.assert_array_equal((found > 0)[clear], (given == target)[clear])


def test_rounding_covers_what_float32_is_wrong_by():
    rng = np.random.default_rng(2)
    for n_networks in (1, 3):
        model = NetworkModel.of([random_network(rng, 2) for _ in range(n_networks)])
        boxes = random_boxes(rng, 1)
        x = points_inside(rng, boxes, 4000)[:, 0].astype(np.float32)
        known = margins_of(model, 1, None, LAYOUT)
        logits = np.asarray(model.predictor(x.T))[0].astype(float)
        wrong = np.abs(logits - least_margin(known, x.astype(float))).max()
        assert 0 < wrong < rounding(known, boxes)[0] - known.slack


def test_probabilities_are_wrong_by_less_than_the_slack_allows_for():
    logits = np.linspace(-12.0, 12.0, 20_001, dtype=np.float32)
    told = np.asarray(probabilities(logits[None]), float)
    exact = 1.0 / (1.0 + np.exp(-logits.astype(float)))
    assert np.abs(told[1] - exact).max() < 16 * 2.0**-24
    assert np.abs(told[0] - (1.0 - exact)).max() < 16 * 2.0**-24
