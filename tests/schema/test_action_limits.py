"""Limits of change inside compiled code: each row's box and categories, prices, what follows."""

from random import Random

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from tests.limits import random_rows, random_schema
from tests.strategies import encode_quietly

from rocourse.schema import (
    Categorical,
    Change,
    Continuous,
    Follows,
    Linear,
    Moves,
    Schema,
    one_hot,
)
from rocourse.schema.constraints import ConstraintLayer

SCHEMA = Schema(
    [
        Continuous("income", 1000, 11_000, change=Change(max_increase_share=0.5, max_decrease=500)),
        Continuous("age", 20, 70, direction="up"),
        Continuous("years", 0, 40, change=Change(weight=3.0)),
        Categorical(
            "housing",
            ("own", "rent", "free"),
            moves=Moves(allowed={"rent": ["own"]}, cost={"rent": {"own": 5.0}}),
        ),
    ],
    max_features=2,
    together=[Follows("age", "years"), Linear({"income": 1, "years": 100}, at_most=4000)],
)
ROW = {"income": 3000.0, "age": 65.0, "years": 10.0, "housing": "rent"}


def encoded(**changes):
    rows = SCHEMA.encode(pd.DataFrame([ROW | changes]))
    return jnp.asarray(one_hot(rows, SCHEMA.layout)[0])


def test_the_box_of_a_row_is_what_it_can_reach():
    limits = ConstraintLayer.from_schema(SCHEMA).limits(encoded())
    # Income by 50% up and by 500 down; age follows, and holds years back at 5 more.
    spans = np.array([10_000, 50, 40])
    np.testing.assert_allclose(limits.low * spans, [1500, 45, 10], rtol=1e-5)
    np.testing.assert_allclose(limits.high * spans, [3500, 45, 15], rtol=1e-5)
    assert limits.allowed.tolist() == [True, True, False]


def test_prices_followers_and_sums_are_the_schemas():
    actions = ConstraintLayer.from_schema(SCHEMA).actions
    row, changed = encoded(), encoded(income=3500.0, years=12.0, housing="own")
    cost = jnp.sum(actions.rates(row) * jnp.abs(changed - row))
    assert cost == pytest.approx(0.05 + 3.0 * 2 / 40 + 5.0)
    moved = actions.moved(changed, row)
    np.testing.assert_allclose(moved, encoded(income=3500.0, years=12.0, age=67.0, housing="own"))
    # Of 4000 nothing is left, nor of what there was more: the sums are 4000 and 4700.
    assert actions.room(row, row)[0] == pytest.approx(0.0, abs=1e-6)
    assert actions.room(moved, row)[0] == pytest.approx(-700 / (10_000 + 4000), rel=1e-4)


def test_first_layers_are_steered_by_leaders_and_what_follows():
    actions = ConstraintLayer.from_schema(SCHEMA).actions
    weight = np.random.default_rng(0).normal(size=(SCHEMA.layout.width, 4)).astype(np.float32)
    row, changed = encoded(), encoded(years=14.0)
    steered = actions.steered(jnp.asarray(weight))
    np.testing.assert_allclose(
        (changed - row) @ steered, (actions.moved(changed, row) - row) @ weight, rtol=1e-5
    )


def test_schemas_with_limits_share_compiled_code_and_others_have_none_of_it():
    layers = [ConstraintLayer.from_schema(random_schema(Random(seed))) for seed in range(20)]
    limited = [layer for layer in layers if layer.actions is not None]
    shapes = {(jax.tree.structure(one), *map(jnp.shape, jax.tree.leaves(one))) for one in limited}
    assert len(shapes) == 1
    assert ConstraintLayer.from_schema(Schema([Continuous("x", 0, 1)])).actions is None


@pytest.mark.parametrize("seed", range(20))
def test_what_is_settled_lies_in_the_box(seed):
    random = Random(seed)
    schema = random_schema(random)
    frame = random_rows(random, schema, 30)
    rows, layer = encode_quietly(schema, frame), ConstraintLayer.from_schema(schema)
    goal = rows.take(np.random.default_rng(seed).permutation(30))
    settled = schema.settle(frame, rows, goal)
    limits = layer.limits(jnp.asarray(one_hot(rows, schema.layout)).T)
    inside = (frame[[one.name for one in schema.continuous]].to_numpy() <= _highs(schema)).T
    linked = np.zeros(len(schema.continuous), dtype=bool)
    if schema.actions.joint is not None:
        # Leaders may make room for each other.
        follow = schema.actions.joint.follow
        linked = follow.any(axis=0) | follow.any(axis=1)
    # Beyond the range, a share of the number is not one of the number that is encoded.
    ours = inside & ~linked[:, None]
    values = settled.continuous.T
    assert (values >= limits.low - 1e-4)[ours].all()
    assert (values <= limits.high + 1e-4)[ours].all()
    chosen = np.take_along_axis(
        np.asarray(limits.allowed),
        settled.categories.T + np.cumsum((0, *schema.layout.group_sizes))[:-1, None],
        axis=0,
    )
    assert chosen.all()


def _highs(schema):
    return np.array([feature.high for feature in schema.continuous])
