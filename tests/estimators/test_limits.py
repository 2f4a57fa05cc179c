"""Limits of change hold for every method, and for every way of asking it."""

from random import Random

import pytest
from tests.limits import broken_limits, random_rows, random_schema, under

from rocourse.estimators import METHODS

SCHEMAS, ROWS = 12, 20


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:Values outside the range")
def test_every_method_keeps_random_limits(method, fitted):
    model, found = fitted(method), 0
    for seed in range(SCHEMAS):
        random = Random(seed)
        schema = random_schema(random, numbers=3, groups=(3, 2))
        frame = random_rows(random, schema, ROWS)
        advisor, written = under(model, schema), schema.to_dict()
        recourse = advisor.table(frame, None, out_of_range="clip")
        rows = frame.to_dict("records")
        for advised in (recourse.frame(), recourse.attempted()):
            for before, after in zip(rows, advised.to_dict("records"), strict=True):
                assert broken_limits(written, before, after) == []
        for before, record in zip(
            rows[:2], advisor.each(rows[:2], None, out_of_range="clip"), strict=True
        ):
            after = before | {change["feature"]: change["to"] for change in record["changes"]}
            assert broken_limits(written, before, after) == []
        found += recourse.advised.sum()
    # The limits are no wall: many of the rows can be helped within them.
    assert found > 0
