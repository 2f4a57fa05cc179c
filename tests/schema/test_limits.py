"""Limits of change: whatever is proposed, what leaves `settle` keeps them all."""

from random import Random

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from tests.limits import broken_limits, random_rows, random_schema, stated_cost, stated_months
from tests.strategies import encode_quietly

from rocourse.schema import Recourse, RowCodes, Rows, Schema

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
