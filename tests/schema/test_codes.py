"""Values that stand for missing ones: read as gaps in tables and rows, whatever holds them."""

import numpy as np
import pandas as pd
import pytest

from rocourse.errors import SchemaError
from rocourse.schema import Categorical, Continuous, Schema, codes_as_gaps, codes_as_none

TABLE = pd.DataFrame(
    {
        "years": [3, -999, 12, 7, -999],
        "pay": [1.5, 99.0, 2.5, 99.0, 4.0],
        "phone": ["yes", "unknown", "no", " unknown ", "yes"],
        "owner": [True, False, True, False, True],
    }
)
CODES = {"years": [-999], "pay": [99.0, "?"], "phone": ["unknown"], "owner": [1]}


@pytest.mark.parametrize(
    "dtypes",
    [
        {},
        {"years": object, "pay": object, "phone": object},
        {"years": "Int64", "pay": "Float64", "phone": "string"},
        {"years": float, "phone": "category"},
    ],
)
def test_codes_are_gaps_whatever_the_dtype(dtypes):
    before = TABLE.astype(dtypes)
    given = before.copy()
    read = codes_as_gaps(before, CODES)
    assert read["years"].isna().tolist() == [False, True, False, False, True]
    assert read["pay"].isna().tolist() == [False, True, False, True, False]
    assert read["phone"].isna().tolist()[1] and not read["phone"].isna()[0]
    # A flag is no number.
    assert not read["owner"].isna().any()
    pd.testing.assert_frame_equal(before, given)
    schema = Schema.infer(before, missing_codes=CODES)
    assert (schema["years"].low, schema["years"].high) == (3, 12)
    assert schema["years"].integer and schema["years"].missing == "impute"
    assert schema["phone"].categories == ("no", "yes") and schema["phone"].missing == "category"


def test_a_text_with_spaces_around_is_the_same_code():
    assert codes_as_gaps(TABLE, CODES)["phone"].isna().sum() == 2


def test_whole_numbers_become_decimals_whether_a_batch_has_codes_or_not():
    assert codes_as_gaps(TABLE.iloc[[0]], CODES)["years"].dtype == np.float64


def test_a_single_row_is_read_as_a_table_is():
    for row in TABLE.to_dict("records"):
        table = codes_as_gaps(pd.DataFrame([row]), CODES).iloc[0]
        alone = codes_as_none(row, CODES)
        assert [alone[name] is None for name in row] == table.isna().tolist() or " " in row["phone"]
    row = {"years": 3, "owner": True}
    assert codes_as_none(row, CODES) is row


def test_codes_are_written_and_read():
    schema = Schema.infer(TABLE, missing_codes=CODES)
    again = Schema.from_json(schema.to_json())
    assert again == schema and hash(again) == hash(schema)
    assert again.missing_codes["pay"] == ("99", "?")
    assert schema.to_dict()["version"] == 2
    assert "missing_codes" not in Schema.infer(TABLE).to_dict()


def test_toml_has_them_too(tmp_path):
    schema = Schema.infer(TABLE, missing_codes=CODES)
    schema.save(tmp_path / "schema.toml")
    assert Schema.load(tmp_path / "schema.toml") == schema


@pytest.mark.parametrize(
    ("codes", "sentence"),
    [
        ({"yaers": [-999]}, "did you mean 'years'"),
        ({"years": -999}, "write a list"),
        ({"years": "-999"}, "write a list"),
        ({"years": [True]}, "texts or numbers"),
        ({"years": [" "]}, "texts or numbers"),
        ([-999], "must map columns"),
        ({"phone": ["no"]}, "it does both"),
    ],
)
def test_codes_that_cannot_be_are_refused(codes, sentence):
    features = (Continuous("years", 0, 9), Categorical("phone", ("no", "yes")))
    with pytest.raises(SchemaError, match=sentence):
        Schema(features, missing_codes=codes)
