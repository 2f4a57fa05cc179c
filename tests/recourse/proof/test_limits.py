"""Proofs under limits of change and wishes: no verdict differs from that of trying everything."""

from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pandas as pd
import pytest
from tests.limits import broken_limits
from tests.recourse.proof.small_worlds import (
    GROUPS,
    World,
    random_frame,
    random_network,
)
from tests.recourse.proof.test_prove import SCHEMA, Idle, advisor, ask
from tests.wishes import broken_wishes, random_wishes

from rocourse.models import NetworkModel
from rocourse.recourse import Advisor, Context
from rocourse.recourse.proof import prove, seek
from rocourse.schema import (
    Categorical,
    Change,
    Continuous,
    Follows,
    Linear,
    Moves,
    Narrowing,
    Schema,
    Target,
)

ROWS = 5


def limited_schema(random):
    """Whole numbers and categories under random limits of change."""

    def maybe(value, chance=0.35):
        return value if random.random() < chance else None

    def rule():
        return random.choice([{}, {}, {}, {"immutable": True}, {"direction": "up"}])

    features = []
    for k, size in enumerate((5, 8, 11)):
        low = random.randint(-6, 6)
        change = Change(
            max_increase=maybe(random.randint(1, 5)),
            max_decrease=maybe(random.randint(0, 5)),
            max_increase_share=maybe(random.choice([0.2, 1.0])),
            step=maybe(random.choice([1, 2, 3]), 0.25),
        )
        features.append(
            Continuous(f"n{k}", low, low + size, True, change=maybe(change, 0.7), **rule())
        )
    for k, size in enumerate(GROUPS):
        names = tuple("abcd"[:size])
        moves = Moves(forbidden={names[0]: random.sample(names, 1)}, allowed={"b": names[:1]})
        features.append(Categorical(f"g{k}", names, moves=maybe(moves, 0.5), **rule()))
    schema = Schema(tuple(features), Target("ok", (0, 1)), max_features=maybe(random.randint(1, 3)))
    free = [feature.name for feature in schema.continuous if not feature.immutable]
    random.shuffle(free)
    together = []
    if len(free) > 1 and random.random() < 0.4:
        leaders = {name: random.choice([1.0, -1.0]) for name in free[1:]}
        together.append(Follows(free[0], leaders))
    if random.random() < 0.4:
        factors = {feature.name: random.choice([1.0, -1.0, 0.5]) for feature in schema.continuous}
        together.append(Linear(factors, at_most=random.uniform(-4, 10)))
    return replace(schema, together=tuple(together))


def limited_world(seed, *, wishing):
    """A model, rows that it refuses, and what is wished for them."""
    random, rng = Random(seed), np.random.default_rng(seed)
    schema = limited_schema(random)
    wishes = random_wishes(random, schema) if wishing else None
    model = NetworkModel.of([random_network(rng, 2) for _ in range(2)])
    context = Context(schema, model, None, 0)
    frame = random_frame(rng, schema, 4 * ROWS)
    rows = schema.encode(frame)
    asking = np.flatnonzero(context.verdicts(context.predict(rows)) == 0)[:ROWS]
    world = World(context, frame.iloc[asking], rows.take(asking), np.ones(len(asking), int))
    return world, wishes


def exists(world, place, wishes):
    """Whether any row that an applicant may become is given the class."""
    schema, applicant = world.context.schema, dict(world.frame.iloc[place])
    followers = {rule.feature for rule in schema.together if isinstance(rule, Follows)}
    values = [
        possible(feature, applicant[feature.name], feature.name in followers)
        for feature in schema.features
    ]
    table = pd.DataFrame(product(*values), columns=list(schema.names))
    good = world.context.verdicts(world.context.predict(schema.encode(table))) == 1
    written, groups = schema.to_dict(), [feature.name for feature in schema.categorical]
    return any(
        not broken_limits(written, applicant, row)
        and (wishes is None or not broken_wishes(wishes, applicant, row, groups))
        for row in table[good].to_dict("records")
    )


def possible(feature, value, follows):
    """All values of a feature that can be told from its own."""
    if isinstance(feature, Categorical):
        return feature.categories
    nearest = min(max(value, feature.low), feature.high)
    least = 0.0 if follows else 0.005 * feature.span
    numbers = range(int(feature.low), int(feature.high) + 1)
    return [value, *(one for one in numbers if abs(one - nearest) >= least and one != value)]


@pytest.mark.parametrize("wishing", [False, True])
@pytest.mark.filterwarnings("ignore:Values outside the range")
def test_verdict_under_limits_is_that_of_trying_everything(wishing):
    decided = 0
    for seed in range(12):
        world, wishes = limited_world(seed, wishing=wishing)
        context = world.context
        if wishes is not None:
            context = context.narrowed(Narrowing.of(wishes, context.schema))
        found = seek(context, *world[1:], boxes=20_000)
        truth = np.array([exists(world, place, wishes) for place in range(len(world.rows))], bool)
        np.testing.assert_array_equal(found.exists, truth)
        np.testing.assert_array_equal(found.none, ~truth)
        decided += found.none.sum()
    assert decided > 10


@pytest.mark.filterwarnings("ignore:Values outside the range")
def test_what_was_missed_under_wishes_keeps_to_them():
    given = 0
    for seed in range(12):
        world, wishes = limited_world(seed, wishing=True)
        if not len(world.rows):
            continue
        schema = world.context.schema
        asked = Advisor(world.context, Idle(), {}, np.array([0, 1]), (), "idle")
        record = asked.table(world.frame, 1, out_of_range="clip", wishes=[wishes] * len(world.rows))
        told = prove(asked, record, boxes=20_000, loosening=False)
        after = told.frame().to_dict("records")
        groups = [feature.name for feature in schema.categorical]
        for place in np.flatnonzero(told.advised):
            before = dict(world.frame.iloc[place])
            assert broken_limits(schema.to_dict(), before, after[place]) == []
            assert wishes is None or broken_wishes(wishes, before, after[place], groups) == []
            given += record.status[place] == "not_found"
    assert given


def limited(**features):
    """The schema of loans with other features, or rules of its own."""
    own = {name: features.pop(name) for name in ("max_features", "together") if name in features}
    changed = (replace(one, **features.get(one.name, {})) for one in SCHEMA.features)
    return replace(SCHEMA, features=tuple(changed), **own)


FREE = {"Duration": {"direction": None}, "Age": {"immutable": False}}


@pytest.mark.parametrize(
    ("schema", "weights", "intercept", "rule", "text"),
    [
        (
            limited(Amount={"change": Change(max_increase=100)}),
            {"Amount": 1.0},
            -0.9496,
            ("Amount", "largest change"),
            "Amount may rise further: 800 → 950 would be enough",
        ),
        (
            limited(Amount={"bounds": (None, None), "change": Change(step=300)}),
            {"Amount": 1.0},
            -0.9496,
            ("Amount", "step"),
            "Amount need not be a multiple of 300: 800 → 950 would be enough",
        ),
        (
            limited(Grade={"moves": Moves(forbidden={"c": ["d"]})}),
            {"d": 1.0},
            -0.5,
            ("Grade", "moves"),
            "Grade may make a move that is ruled out: C → D would be enough",
        ),
        (
            limited(max_features=1),
            {"d": 1.0, "yes": 1.0},
            -1.5,
            (None, "max_features"),
            "more than 1 feature may change would be enough, with Owner: no → yes; Grade: C → D",
        ),
        (
            limited(
                Duration={"direction": None},
                together=(Linear({"Duration": 1.0, "Age": -1.0}, at_least=-20),),
            ),
            {"Duration": -1.0},
            0.2254,
            (None, "linear"),
            "-20 ≤ Duration − Age may give way would be enough, with Duration: 24 → 13 months",
        ),
        (
            limited(**FREE, together=(Follows("Age", "Duration"),)),
            {"Duration": -1.0, "Age": 1.0},
            -0.2496,
            ("Age", "follows"),
            None,
        ),
    ],
)
def test_each_limit_can_stand_in_the_way(schema, weights, intercept, rule, text):
    (proof,) = ask(advisor(intercept, schema=schema, **weights)).proofs
    assert proof.none_exists
    assert proof.loosen.rules == (rule,)
    assert text is None or proof.loosen.text == text
