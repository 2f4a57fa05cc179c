"""None exists if and only if trying everything finds none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recourse.proof.small_worlds import (
    GROUPS,
    LAYOUT,
    NUMBERS,
    linear_network,
    random_schema,
    random_world,
    tried,
)
from tests.recourse.toy_models import HostModel

from rocourse.models import NetworkModel
from rocourse.recourse import Context
from rocourse.recourse.proof import seek
from rocourse.schema import Continuous, Schema, proximity

KINDS = [
    {},
    {"n_networks": 3, "cut_off": True},
    {"n_networks": 2},
    {"n_networks": 2, "n_classes": 3},
]


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_verdict_is_that_of_trying_everything(seed, kind):
    world = random_world(seed, **kind)
    found = seek(*world, boxes=100_000)
    truth = [tried(world, place)[0].any() for place in range(len(world.rows))]
    np.testing.assert_array_equal(found.exists, truth)
    np.testing.assert_array_equal(found.none, ~np.array(truth, bool))


@pytest.mark.parametrize("seed", range(4))
def test_recourse_is_allowed_and_not_far_from_the_cheapest(seed):
    world = random_world(seed, n_networks=2, cut_off=True, n=20)
    layout = world.context.schema.layout
    found = seek(*world, boxes=100_000)
    ours, best = [], []
    for place in np.flatnonzero(found.exists):
        good, rows = tried(world, place)
        point = found.points.take([place])
        same = (rows.continuous == point.continuous).all(1)
        same &= (rows.categories == point.categories).all(1)
        assert good[same].any()
        row = world.rows.take([place])
        costs = proximity(world.rows.take(np.full(len(rows), place)), rows, layout)
        ours.append(proximity(row, point, layout)[0])
        best.append(costs[good].min())
    assert sum(ours) <= 1.5 * sum(best)


def test_black_box_is_tried_point_by_point():
    world = random_world(3, n_networks=2, cut_off=True, n=20)
    by_boxes = seek(*world, boxes=100_000)
    hidden = replace(world.context, trained=HostModel(world.context.trained.predictor))
    by_points = seek(hidden, *world[1:], boxes=1)
    assert by_boxes.none.any() and by_boxes.exists.any()
    np.testing.assert_array_equal(by_points.none, by_boxes.none)
    np.testing.assert_array_equal(by_points.exists, by_boxes.exists)
    for place in np.flatnonzero(by_points.exists):
        good, rows = tried(world, place)
        layout = world.context.schema.layout
        costs = proximity(world.rows.take(np.full(len(rows), place)), rows, layout)
        (ours,) = proximity(world.rows.take([place]), by_points.points.take([place]), layout)
        assert ours == pytest.approx(costs[good].min())


def test_black_box_of_an_interval_stays_unknown():
    world = random_world(3, n=4)
    features = [replace(world.context.schema.features[0], immutable=False, direction=None)]
    features[0] = replace(features[0], integer=False)
    schema = Schema((*features, *world.context.schema.features[1:]))
    model = HostModel(world.context.trained.predictor)
    found = seek(Context(schema, model, None, 0), *world[1:], boxes=10)
    assert not found.none.any() and not found.exists.any()


def test_too_small_a_budget_proves_nothing_wrong():
    for seed in range(6):
        world = random_world(seed, n_networks=3, cut_off=True)
        little, much = (seek(*world, boxes=boxes) for boxes in (2, 100_000))
        assert not (little.none & ~much.none).any()
        assert not (little.exists & ~much.exists).any()
        # All boxes of a row that are waiting are looked at together.
        assert (little.examined <= much.examined).all()


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_intervals_of_a_linear_model_are_decided_by_their_best_corner(seed):
    rng = np.random.default_rng(seed)
    schema = Schema(
        tuple(
            replace(feature, integer=False, low=0.0, high=10.0, bounds=(None, None))
            if isinstance(feature, Continuous)
            else feature
            for feature in random_schema(rng).features
        )
    )
    numbers = {f"n{k}": rng.uniform(0.0, 10.0, 6) for k in range(NUMBERS)}
    groups = {f"g{k}": rng.choice(list("abcd"[:size]), 6) for k, size in enumerate(GROUPS)}
    frame = pd.DataFrame(numbers | groups)
    rows = schema.encode(frame)
    weights = rng.normal(size=LAYOUT.width)
    best = [
        sum(
            best_part(feature, k, frame[feature.name][place], weights)
            for k, feature in enumerate(schema.features)
        )
        for place in range(len(frame))
    ]
    # Out of reach for some by a little, within reach for others.
    level = np.median(best) + rng.normal(0.0, 0.05)
    context = Context(schema, NetworkModel.of([linear_network(weights, -level)]), None, 0)
    beyond = np.array(best) - level
    asked = (context.verdicts(context.predict(rows)) == 0) & (np.abs(beyond) > 1e-3)
    where = np.flatnonzero(asked)
    target = np.ones(len(where), int)
    found = seek(context, frame.iloc[where], rows.take(where), target, boxes=2000)
    np.testing.assert_array_equal(found.exists, beyond[where] > 0)
    np.testing.assert_array_equal(found.none, beyond[where] < 0)


def best_part(feature, k, value, weights):
    """The most that a feature can add to a sum, by what it may become."""
    up = not feature.immutable and feature.direction != "down"
    down = not feature.immutable and feature.direction != "up"
    if isinstance(feature, Continuous):
        ends = [end for end, may in ((10.0, up), (0.0, down)) if may and abs(end - value) >= 0.05]
        return max(weights[k] * end / 10.0 for end in [value, *ends])
    start = NUMBERS + (0 if k == NUMBERS else GROUPS[0])
    here = feature.categories.index(value)
    return max(
        weights[start + code]
        for code in range(len(feature.categories))
        if code == here or (code > here and up) or (code < here and down)
    )
