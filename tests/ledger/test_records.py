"""Records that the ledger cannot keep are refused when they are made, without quoting them."""

import math
from datetime import datetime, timedelta, timezone

import pytest
from tests.ledger.making import NOW, make_issue, make_promise

from rocourse.errors import LedgerError

SECRET = "Jane Doe"
EAST = timezone(timedelta(hours=2))


def nested(depth):
    value = SECRET
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": SECRET}, "id of a promise must be a UUID"),
        ({"id": None}, "id of a promise must be a UUID"),
        ({"subject": ""}, "subject must have 1 to 255 characters, but got 0"),
        ({"subject": SECRET * 100}, "subject must have 1 to 255 characters, but got 800"),
        ({"subject": f"{SECRET}\x00"}, "subject must be text that a database can hold"),
        ({"subject": f"{SECRET}\ud800"}, "subject must be text that a database can hold"),
        ({"subject": 17}, "subject must be text, but got a int"),
        ({"model": ""}, "model must have"),
        ({"schema_version": 1}, "schema_version must be text"),
        ({"row": [SECRET]}, "row of a promise must be a mapping from column names"),
        ({"row": {1: SECRET}}, "but got a dict with other keys"),
        ({"row": {"a": object()}}, "must be JSON .* failed with TypeError"),
        ({"row": {"a": nested(100_000)}}, "must be JSON .* failed with RecursionError"),
        ({"recourse": {SECRET: math.nan}}, "must be JSON .* failed with ValueError"),
        ({"desired": math.inf}, "must be JSON .* failed with ValueError"),
        ({"probability_before": -0.1}, "probability_before of a promise must be a number"),
        ({"probability_after": math.nan}, "probability_after of a promise must be a number"),
        ({"probability_after": "0.5"}, "probability_after of a promise must be a number"),
        ({"robustness": 1.5}, "robustness of a promise must be a number from 0 to 1"),
        ({"issued_at": NOW.replace(tzinfo=None)}, "issued_at must be a datetime with a time zone"),
        ({"expires_at": SECRET}, "expires_at must be a datetime with a time zone, but got str"),
        ({"issued_at": datetime(1, 1, 1, tzinfo=EAST)}, "issued_at must be in the years 1 to 9999"),
        ({"expires_at": NOW}, "expires_at of a promise must be later"),
        ({"expires_at": NOW - timedelta(1)}, "expires_at of a promise must be later"),
    ],
)
def test_wrong_promise(changes, message):
    with pytest.raises(LedgerError, match=message) as caught:
        make_promise(**changes)
    assert "Jane" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": ""}, "key must have 1 to 255"),
        ({"key": "k\x00"}, "key must be text that"),
        ({"fingerprint": None}, "fingerprint must be text"),
        ({"answer": {}}, "answer must be text, but got a dict"),
    ],
)
def test_wrong_issue(changes, message):
    with pytest.raises(LedgerError, match=message):
        make_issue(**changes)
