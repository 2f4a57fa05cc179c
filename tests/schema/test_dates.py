"""Dates: days since 1970 inside, dates outside."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocourse.errors import DataError, SchemaError
from rocourse.schema import Continuous, Recourse, Rows, Schema, describe_change

DAYS = ["2020-01-05", "2020-03-01", None, "2019-12-31"]
SINCE = Continuous("since", "2019-12-31", "2020-03-01", integer=True, unit="days", date=True)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(DAYS, dtype="str"),
        pd.Series(DAYS, dtype=object),
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("Europe/Berlin"),
        pd.Series([None if day is None else date.fromisoformat(day) for day in DAYS], dtype=object),
        pd.Series(pd.to_datetime(DAYS)).astype(pd.ArrowDtype(pa.timestamp("us"))),
        pd.Series(pd.to_datetime(DAYS)).astype(pd.ArrowDtype(pa.date32())),
    ],
    ids=["text", "objects", "times", "zone", "dates", "arrow times", "arrow dates"],
)
def test_dates_become_days_and_come_back_in_their_form(column):
    df = pd.DataFrame({"since": column})
    schema = Schema.infer(df)
    feature = schema["since"]
    # 2020-01-05 is the median, and 1970-01-01 the day 0.
    fill = (date(2020, 1, 5) - date(1970, 1, 1)).days
    assert (feature.date, feature.integer, feature.unit) == (True, True, "days")
    assert (feature.missing, feature.fill, feature.span) == ("impute", fill, 61)
    rows = schema.encode(df)
    np.testing.assert_array_equal(rows.continuous[:, 0], np.float32([5 / 61, 1, 5 / 61, 0]))
    asked = Rows([[1.0]] * 4, np.zeros((4, 0), int))
    settled = schema.settle(df, rows, asked)
    recourse = Recourse(schema, df, rows, settled, ["found"] * 4, [0] * 4, [1] * 4, [0.5] * 4, "t")
    for frame in (recourse.frame(), recourse.frame(stable=True)):
        assert frame["since"].dtype == column.dtype
        assert set(frame["since"]) == {column[1]}
    assert recourse.summaries() == [
        "since: 2020-01-05 → 2020-03-01",
        "",
        "since: missing → 2020-03-01",
        "since: 2019-12-31 → 2020-03-01",
    ]
    assert [record["changes"] for record in recourse.to_records()][2:] == [
        [{"feature": "since", "from": None, "to": "2020-03-01"}],
        [{"feature": "since", "from": "2019-12-31", "to": "2020-03-01"}],
    ]


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)))
def test_a_time_alone_is_read_as_in_a_column(moment):
    low, high = datetime(1900, 1, 1), datetime(2200, 1, 1)
    schema = Schema([Continuous("at", low, high, date=True)])
    expected = schema.encode(pd.DataFrame({"at": [moment]})).continuous[0, 0]
    exact = (moment - low) / (high - low)
    assert expected == pytest.approx(exact, abs=1e-6)
    forms = (moment, moment.isoformat(), moment.isoformat(" "), moment.isoformat() + "+02:00")
    for form in (*forms, pd.Timestamp(moment), np.datetime64(moment)):
        assert schema.row_codec.encode({"at": form}).codes.values == (expected,)
        assert schema.encode(pd.DataFrame({"at": [form]})).continuous[0, 0] == expected


@pytest.mark.parametrize("wrong", ["2020-02-30", "soon", "2020", "05.01.2020", 18262, True])
def test_what_is_no_date_is_refused(wrong, assert_sentence):
    schema = Schema([SINCE])
    assert schema.row_codec.encode({"since": wrong}) is None
    with pytest.raises(DataError, match="must hold dates such as 2020-01-31, but 1 row") as caught:
        schema.encode(pd.DataFrame({"since": [wrong]}))
    assert_sentence(caught.value)


def test_a_few_odd_cells_are_named_and_many_make_categories(assert_sentence):
    days = [f"2020-01-{day:02}" for day in range(1, 31)]
    with pytest.raises(SchemaError, match="1 row holds other values .*'unknown' in") as caught:
        Schema.infer(pd.DataFrame({"since": [*days, "unknown"]}))
    assert_sentence(caught.value)
    mixed = Schema.infer(pd.DataFrame({"since": [*days[:5], *"abcde"]}))
    assert len(mixed.categorical) == 1
    chosen = Schema.infer(pd.DataFrame({"since": days}), categorical=["since"])
    assert len(chosen.categorical) == 1


def test_bounds_are_dates(assert_sentence):
    schema = Schema([SINCE]).constrain(bounds={"since": ("2019-12-01", "2020-02-01")})
    assert schema.to_dict()["features"][0]["bounds"] == ["2019-12-01", "2020-02-01"]
    assert Schema.from_json(schema.to_json()) == schema
    with pytest.raises(DataError, match="at most 2020-02-01 by its bounds.*2020-02-02") as e:
        schema.encode(pd.DataFrame({"since": ["2020-02-02"]}))
    assert_sentence(e.value)
    with pytest.raises(SchemaError, match="must overlap the range 2019-12-31 to 2020-03-01"):
        schema.constrain(bounds={"since": ("2021-01-01", None)})


def test_times_of_day_are_told():
    at = Continuous("at", "2020-01-01T08:00", "2020-06-01T08:00", date=True)
    assert describe_change(at, "2020-01-05T10:30", datetime(2020, 3, 1, 9, 15, 30)) == (
        "at: 2020-01-05 10:30 → 2020-03-01 09:15:30"
    )
