"""Limits of change: whatever is proposed, what leaves `settle` keeps them all."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from tests.limits import broken_limits, random_rows, random_schema, stated_cost, stated_months
from tests.strategies import encode_quietly

from rocourse.errors import SchemaError
from rocourse.schema import (
    Categorical,
    Change,
    Continuous,
    Follows,
    Linear,
    Moves,
    Recourse,
    RowCodes,
    Rows,
    Schema,
    limits_in_words,
    together_in_words,
)

SEEDS = st.integers(0, 2**32)


def random_proposals(random, schema, count):
    """Whatever a generator might propose, wild numbers among it."""
    layout = schema.layout
    wild = [0.0, 1.0, -0.5, 2.0, float("nan")]
    values = [
        [
            random.choice(wild) if random.random() < 0.2 else random.random()
            for _ in schema.continuous
        ]
        for _ in range(count)
    ]
    codes = [[random.randrange(size) for size in layout.group_sizes] for _ in range(count)]
    return Rows(np.array(values, np.float32), np.array(codes, np.int32))


def settled_recourse(schema, frame, proposed):
    rows = encode_quietly(schema, frame)
    attempts = schema.settle(frame, rows, proposed)
    n = len(frame)
    return Recourse(
        schema, frame, rows, attempts, ["found"] * n, [0] * n, [1] * n, [0.5] * n, "test"
    )


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_settled_rows_keep_every_limit(seed):
    random = Random(seed)
    schema = random_schema(random)
    frame = random_rows(random, schema, 8)
    recourse = settled_recourse(schema, frame, random_proposals(random, schema, 8))
    rows, attempts = recourse.original_rows, recourse.attempts
    written, advised = schema.to_dict(), recourse.attempted()
    pairs = zip(frame.to_dict("records"), advised.to_dict("records"), strict=True)
    for i, (before, after) in enumerate(pairs):
        assert broken_limits(written, before, after) == []
        assert recourse.cost[i] == pytest.approx(
            stated_cost(written, before, after), rel=1e-5, abs=1e-2
        )
        if recourse.months is not None:
            assert recourse.months[i] == pytest.approx(stated_months(written, before, after))
    assert not schema.actions.breaches(schema.actions.numbers(frame), rows, attempts).any()
    assert schema.settle(frame, rows, rows) == rows
    assert schema.settle(frame, rows, attempts) == attempts
    again = Schema.from_json(schema.to_json())
    assert again == schema
    assert repr(again) == repr(schema)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_a_single_row_is_settled_as_a_table_is(seed):
    random = Random(seed)
    schema = random_schema(random)
    frame = random_rows(random, schema, 1)
    proposed = random_proposals(random, schema, 1)
    recourse = settled_recourse(schema, frame, proposed)
    codec = schema.row_codec
    row = codec.encode(frame.to_dict("records")[0])
    if row is None:
        return
    wish = RowCodes(tuple(proposed.continuous[0].tolist()), tuple(proposed.categories[0].tolist()))
    attempt = codec.settle(row, wish)
    assert attempt.values == tuple(recourse.attempts.continuous[0].tolist())
    assert attempt.categories == tuple(recourse.attempts.categories[0].tolist())
    assert not codec.breaks(row, attempt)
    assert codec.cost(row.codes, attempt) == pytest.approx(recourse.cost[0])
    months = None if recourse.months is None else pytest.approx(recourse.months[0])
    assert codec.months(row, attempt) == months


INCOME = Continuous(
    "income", 0, 100_000, change=Change(max_increase_share=0.2, max_decrease=500, step=100)
)
AGE = Continuous("age", 18, 78, integer=True, direction="up")
YEARS = Continuous("years", 0, 40, change=Change(months_per_unit=12, step=0.5))
HOUSING = Categorical(
    "housing",
    ("own", "rent", "free"),
    moves=Moves(
        allowed={"rent": ["own"]},
        forbidden={"own": ["free"]},
        cost={"rent": {"own": 5.0}},
        months=6,
    ),
)


def asked(schema, before, **wanted):
    """What is left of asking one row for other values."""
    frame = pd.DataFrame([before])
    goal = schema.encode(pd.DataFrame([before | wanted]), out_of_range="clip")
    recourse = settled_recourse(schema, frame, goal)
    return recourse.attempted().to_dict("records")[0], recourse


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"income": 26_000.0}, "max_increase_share"),
        ({"income": 19_500.0}, "max_decrease"),
        ({"income": 21_050.0}, "step"),
        ({"years": 3.2}, "step"),
        ({"years": 5.0}, "does not follow"),
        ({"age": 42}, "does not follow"),
        ({"years": 2.0, "age": 39}, "direction"),
        ({"housing": "free"}, "not allowed"),
        ({"income": 21_000.0, "housing": "own"}, "too many features"),
        ({"income": 24_000.0}, "sum"),
        ({"housing": "own"}, None),
        ({"years": 5.0, "age": 42}, None),
    ],
)
def test_the_oracle_sees_every_kind_of_violation(changes, rule):
    schema = Schema(
        [INCOME, AGE, YEARS, HOUSING],
        max_features=1,
        together=[Follows("age", "years"), Linear({"income": 1.0}, at_most=23_000)],
    )
    before = {"income": 20_550.0, "age": 40, "years": 3.0, "housing": "rent"}
    broken = broken_limits(schema.to_dict(), before, before | changes)
    assert (rule is None and not broken) or any(rule in text for text in broken)
    # What the library itself takes a last look for is the same.
    frame = pd.DataFrame([before])
    attempts = schema.encode(pd.DataFrame([before | changes]))
    rows, actions = schema.encode(frame), schema.actions
    assert actions.breaches(actions.numbers(frame), rows, attempts).tolist() == [bool(broken)]


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        (90_000, 24_600),  # no further than 20% of 20,550, in hundreds
        (23_149, 23_100),
        (1_000, 20_550),  # 500 less would be 20,050, and 20,100 is less than anybody notices
        (20_700, 20_550),
    ],
)
def test_a_number_goes_as_far_as_it_may_and_in_steps(wanted, given):
    after, _ = asked(Schema([INCOME]), {"income": 20_550.0}, income=wanted)
    assert after["income"] == given


@pytest.mark.parametrize("step", [0.1, 0.7, 2.5])
def test_multiples_of_a_step_are_the_nearest_floats_to_exact_ones(step):
    schema = Schema([Continuous("x", 0, 50, change=Change(step=step))])
    rows = Rows(np.linspace(0, 1, 300)[:, None], np.zeros((300, 0), np.int16))
    frame = pd.DataFrame({"x": np.zeros(300)})
    settled = schema.decode(schema.settle(frame, schema.encode(frame), rows))["x"]
    exact = {float(Fraction(str(step)) * k) for k in range(501)}
    assert set(settled) <= exact
    assert len(set(settled)) > 19


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ("rent", "own", "own"),
        ("rent", "free", "rent"),
        ("own", "free", "own"),
        ("own", "rent", "rent"),
        ("free", "rent", "rent"),
    ],
)
def test_categories_follow_as_they_may(before, wanted, after):
    settled, recourse = asked(Schema([HOUSING]), {"housing": before}, housing=wanted)
    assert settled["housing"] == after
    price = 0.0 if before == after else 5.0 if before == "rent" else 2.0
    assert recourse.cost.tolist() == [price]
    assert recourse.months.tolist() == [0.0 if before == after else 6.0]


def test_what_follows_moves_and_is_no_action():
    schema = Schema([AGE, YEARS], max_features=1, together=[Follows("age", "years")])
    after, recourse = asked(schema, {"age": 40, "years": 3.0}, years=5.2, age=70)
    assert after == {"age": 42, "years": 5.0}
    assert recourse.months.tolist() == [24.0]
    assert recourse.cost.tolist() == pytest.approx([2 / 40])
    assert recourse.proximity.tolist() == pytest.approx([2 / 40 + 2 / 60])


def test_a_number_goes_no_further_than_what_follows_it_can():
    schema = Schema([AGE, YEARS], together=[Follows("age", "years")])
    after, _ = asked(schema, {"age": 76, "years": 3.0}, years=9.0)
    assert after == {"age": 78, "years": 5.0}
    after, _ = asked(schema, {"age": 40, "years": 9.0}, years=2.0)
    assert after == {"age": 40, "years": 9.0}


def test_a_total_follows_its_parts():
    parts = [Continuous(name, 0, 1000) for name in ("wage", "rent")]
    schema = Schema(
        [*parts, Continuous("total", 0, 3000)], together=[Follows("total", ["wage", "rent"])]
    )
    row = {"wage": 300.0, "rent": 50.0, "total": 400.0}
    after, _ = asked(schema, row, wage=512.0, total=3000.0)
    assert after == {"wage": 512.0, "rent": 50.0, "total": 612.0}


def test_sums_are_limited_and_never_broken_further():
    schema = Schema(
        [Continuous("a", 0, 10), Continuous("b", 0, 10)],
        together=[Linear({"a": 1, "b": -1}, at_most=0)],
    )
    assert asked(schema, {"a": 2.0, "b": 5.0}, a=9.0)[0] == {"a": 5.0, "b": 5.0}
    assert asked(schema, {"a": 2.0, "b": 5.0}, a=9.0, b=9.5)[0] == {"a": 9.0, "b": 9.5}
    # It breaks the limit by 1 already: not more is what can be asked.
    assert asked(schema, {"a": 6.0, "b": 5.0}, a=9.0, b=7.0)[0] == {"a": 8.0, "b": 7.0}
    assert asked(schema, {"a": 6.0, "b": 5.0}, b=3.0)[0] == {"a": 6.0, "b": 5.0}


def test_of_too_many_changes_the_dearest_are_left():
    schema = Schema([AGE, YEARS, HOUSING], max_features=1)
    after, _ = asked(schema, {"age": 30, "years": 3.0, "housing": "free"}, years=9, housing="own")
    assert after == {"age": 30, "years": 3.0, "housing": "own"}


def test_without_limits_the_cost_is_the_proximity_and_nothing_is_said_of_time():
    schema = Schema([AGE, Categorical("k", ("a", "b"))])
    _, recourse = asked(schema, {"age": 20, "k": "a"}, age=50, k="b")
    assert recourse.cost is recourse.proximity
    assert recourse.months is None
    assert schema.to_dict()["version"] == 1


REFUSED = {
    "negative": (lambda: Change(max_increase=-1), "max_increase must not be negative, but got -1"),
    "no step": (lambda: Change(step=0), "step must be above 0"),
    "two costs": (lambda: Change(weight=2, cost_per_unit=1), "a weight or a cost_per_unit"),
    "fraction": (
        lambda: Continuous("n", 0, 9, True, change=Change(step=0.5)),
        "Feature 'n' is integer, so its step must be a whole number, but got 0.5",
    ),
    "large step": (lambda: Continuous("x", 0, 1, change=Change(step=2)), "the whole of it"),
    "digits": (lambda: Continuous("x", 0, 1, change=Change(step=1 / 3)), "so few digits"),
    "no change": (lambda: Continuous("x", 0, 1, change=3), "must be a Change or None, but got 3"),
    "no category": (
        lambda: Categorical("k", ("a", "b"), moves=Moves(allowed={"a": ["c"]})),
        "moves must name its categories 'a', 'b', but got 'c'",
    ),
    "no list": (lambda: Moves(allowed={"a": "b"}), "must list categories, but got 'b'"),
    "no limit": (lambda: Linear({"a": 1}), "neither at_most nor at_least"),
    "no factor": (lambda: Linear({"a": 0}, at_most=1), "factors other than 0"),
    "no feature": (
        lambda: Schema([AGE], together=[Linear({"agee": 1}, at_most=1)]),
        r"got 'agee' (did you mean 'age'?)",
    ),
    "a category": (
        lambda: Schema([AGE, HOUSING], together=[Follows("age", "housing")]),
        "must name continuous features, but 'housing' is categorical",
    ),
    "immutable follower": (
        lambda: Schema([AGE, YEARS], together=[Follows("age", "years")]).constrain(
            immutable=["age"]
        ),
        "Feature 'age' follows others, so it must not be immutable",
    ),
    "a chain": (
        lambda: Schema(
            [AGE, YEARS, INCOME], together=[Follows("age", "years"), Follows("income", "age")]
        ),
        "must follow nothing itself, but 'age' does",
    ),
    "two leaders": (
        lambda: Schema(
            [AGE, YEARS, INCOME], together=[Follows("age", "years"), Follows("age", "income")]
        ),
        "by one rule, but got two",
    ),
    "no rule": (lambda: Schema([AGE], together=["age"]), "must be Follows or Linear"),
    "no count": (lambda: Schema([AGE], max_features=0), "a whole number from 1 on or None"),
    "wrong kind": (
        lambda: Schema([HOUSING]).constrain(change={"housing": Change()}),
        "must name continuous features, but 'housing' is categorical; use moves",
    ),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_in_one_sentence(make, message, assert_sentence):
    with pytest.raises(SchemaError) as caught:
        make()
    assert message in str(caught.value)
    assert_sentence(caught.value)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"features": [{"change": {"stepp": 1}}]}, "but got 'stepp' (did you mean 'step'?)"),
        ({"together": [{"linear": {"x": 1}, "follows": "x"}]}, "but got 'linear'"),
        ({"together": [{"at_most": 1}]}, "must have the key 'follows' or 'linear'"),
        ({"together": {}}, "together must be a list"),
        ({"max_features": "2"}, "max_features must be a whole number"),
    ],
)
def test_written_limits_are_read_strictly(part, message):
    written = Schema([Continuous("x", 0, 1)]).to_dict()
    features = [
        {**feature, **more}
        for feature, more in zip(written["features"], part.pop("features", [{}]), strict=True)
    ]
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(written | {"features": features, "version": 2} | part)
    assert message in str(caught.value)


def test_limits_in_words():
    assert limits_in_words(INCOME) == (
        "change it, up by at most 20%, down by at most 500, in steps of 100"
    )
    assert limits_in_words(HOUSING) == (
        "change it, rent only to own, own not to free, rent to own costs 5, takes 6 months"
    )
    assert limits_in_words(AGE) == "only raise it"
    both = Change(max_increase=2, max_decrease=2, weight=3)
    assert limits_in_words(Continuous("x", 0, 1, change=both)) == (
        "change it, by at most 2, 3 times as hard"
    )
    assert together_in_words(Follows("age", "years")) == "age follows years"
    rule = Linear({"debt": 1, "income": -0.4}, at_most=0, at_least=-9)
    assert together_in_words(rule) == "-9 ≤ debt − 0.4 × income ≤ 0"


def test_a_gap_that_is_a_category_may_be_left_whatever_follows_others():
    moves = Moves(allowed={"rent": ["own"]}, forbidden={"own": ["rent"]}, cost={"own": {"rent": 9}})
    housing = Categorical("housing", ("own", "rent"), moves=moves, missing="category")
    frame = pd.DataFrame({"housing": [None, None, "own", "rent", "rent"]})
    proposed = Rows(np.zeros((5, 0), np.float32), np.array([[0], [1], [2], [2], [0]], np.int32))
    recourse = settled_recourse(Schema([housing]), frame, proposed)
    assert recourse.attempts.categories[:, 0].tolist() == [0, 1, 0, 1, 0]
    np.testing.assert_allclose(recourse.cost, [2, 2, 0, 0, 2])
    directed = Schema([Categorical("housing", ("own", "rent"), False, "down", moves=moves)])
    directed = Schema([replace(directed["housing"], missing="category")])
    held = settled_recourse(directed, frame, proposed)
    assert held.attempts.categories[:2, 0].tolist() == [2, 2]
    # A last look sees it too.
    wrong = directed.actions.breaches(np.zeros((5, 0)), held.original_rows, proposed)
    assert wrong.tolist() == [True, True, True, True, False]


def test_the_largest_change_of_a_gap_is_measured_from_its_fill():
    income = replace(INCOME, missing="impute", fill=20_000)
    after, recourse = asked(Schema([income]), {"income": np.nan}, income=90_000.0)
    assert after["income"] == 24_000
    assert recourse.imputed == [("income",)]


def test_dates_change_by_days_and_by_no_share():
    since = Continuous(
        "since", "2020-01-01", "2021-12-31", integer=True, date=True, change=Change(max_increase=30)
    )
    after, _ = asked(Schema([since]), {"since": "2020-05-01"}, since="2021-05-01")
    assert after["since"] == "2020-05-31"
    assert limits_in_words(since) == "change it, up by at most 30 days"
    with pytest.raises(SchemaError, match="is a date, so its largest change must be days, but got"):
        replace(since, change=Change(max_increase_share=0.1))
