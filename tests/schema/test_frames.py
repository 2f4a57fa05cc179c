"""Tables of other libraries, in and out."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rocourse.errors import DataError
from rocourse.schema import Categorical, Continuous, Recourse, Rows, Schema, as_frame

SCHEMA = Schema([Continuous("n", 0, 10, integer=True), Categorical("k", ("a", "b"))])
TABLE = {"n": [0, 5], "k": ["a", "b"]}


def advise(table):
    frame = as_frame(table)
    rows = SCHEMA.encode(frame)
    changed = Rows([[1.0], [0.5]], [[1], [1]])
    return Recourse(SCHEMA, frame, rows, changed, ["found"] * 2, [0, 0], [1, 1], [1, 1], "m")


@pytest.mark.parametrize("kind", [pl.DataFrame, pa.table, pd.DataFrame])
def test_advice_is_a_table_of_the_kind_that_was_given(kind):
    given = kind(TABLE)
    advice = advise(given).frame_like(given)
    assert type(advice) is type(given)
    wanted = {"n": [10, 5], "k": ["b", "b"]}
    columns = advice.to_dict("list") if kind is pd.DataFrame else as_frame(advice).to_dict("list")
    assert columns == wanted


def test_a_table_of_no_known_kind_is_refused():
    with pytest.raises(DataError, match="but got dict"):
        advise(pd.DataFrame(TABLE)).frame_like(TABLE)
