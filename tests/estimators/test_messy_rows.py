"""Estimators fitted on rows with gaps: every sort of search reads them, and asks nobody for one."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.loans import make_loans, make_schema, small

from rocourse.errors import DataError
from rocourse.estimators import METHODS
from rocourse.schema import Categorical, Continuous, Schema


def messy_loans(n, *, seed):
    """Loans with gaps in numbers and categories; who has no job told is mostly refused."""
    frame = make_loans(n, seed=seed)
    rng = np.random.default_rng(seed)
    frame = frame.astype({"debt": float, "job": object})
    frame.loc[rng.random(n) < 0.15, "debt"] = None
    frame.loc[rng.random(n) < 0.2, "job"] = None
    return frame


TRAINING = messy_loans(240, seed=1)


@pytest.fixture(scope="module", params=["counternet", "vanillacf", "rocourse-panel", "rocourse"])
def model(request):
    cls = METHODS[request.param]
    model = cls(schema=make_schema(TRAINING), random_state=0, **small(cls))
    return model.fit(TRAINING.drop(columns="grade"), TRAINING["grade"])


def test_nobody_is_asked_for_a_gap(model):
    rows = messy_loans(80, seed=2).drop(columns="grade")
    recourse = model.recourse(rows, desired=1)
    assert model.schema_["job"].missing == "category"
    changes = recourse.changes()
    assert len(changes) and not changes["to"].isna().any()
    for after in (recourse.frame(), recourse.attempted()):
        for name in rows:
            assert (after[name].isna() <= rows[name].isna()).all()
    records = recourse.to_records()
    assert [record["imputed"] for record in records] == [
        ["debt"] if gap else [] for gap in rows["debt"].isna()
    ]
    alone = model.recourse_each(rows[:12].to_dict("records"), desired=1)
    for one, other in zip(alone, records, strict=False):
        assert one["imputed"] == other["imputed"]
        assert [c["feature"] for c in one["changes"]] == [c["feature"] for c in other["changes"]]


def test_other_frames_are_read_as_pandas_frames(model):
    rows = messy_loans(20, seed=3).drop(columns="grade")
    expected = model.predict_proba(rows)
    more = rows.assign(note="x")

    class Speaks:
        """What polars and others offer: rows by Arrow's stream, and nothing else."""

        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    table = pa.Table.from_pandas(more)
    backed = table.to_pandas(types_mapper=pd.ArrowDtype)
    for frame in (more, more.convert_dtypes(), backed, table, Speaks(table)):
        np.testing.assert_array_equal(model.predict_proba(frame), expected)
    assert model.recourse(table).to_records() == model.recourse(rows).to_records()


def test_rows_with_gaps_are_left_out_with_a_word():
    cls = METHODS["counternet"]
    schema = Schema.infer(TRAINING, target="grade", missing={"debt": "drop"})
    rows, labels = TRAINING.drop(columns="grade"), TRAINING["grade"]
    whole = rows["debt"].notna()
    with pytest.warns(UserWarning, match=f"{(~whole).sum()} of 240 rows were left out of training"):
        model = cls(schema=schema, random_state=0, **small(cls)).fit(rows, labels)
    same = cls(schema=schema, random_state=0, **small(cls)).fit(rows[whole], labels[whole])
    np.testing.assert_array_equal(model.predict_proba(rows[whole]), same.predict_proba(rows[whole]))
    with pytest.raises(DataError, match="'debt' must not have missing values.*as was done"):
        model.predict(rows)


def test_fills_are_learned_from_training_rows():
    cls = METHODS["counternet"]
    schema = Schema(
        [
            Continuous("debt", 0, 40, missing="impute"),
            Categorical("job", ("full", "none", "part"), missing="impute"),
        ]
    )
    rows = TRAINING[["debt", "job"]]
    model = cls(schema=schema, random_state=0, **small(cls)).fit(rows, TRAINING["grade"])
    assert model.schema_["debt"].fill == rows["debt"].median()
    assert model.schema_["job"].fill == rows["job"].mode()[0]
    filled = rows.fillna({"debt": rows["debt"].median(), "job": rows["job"].mode()[0]})
    np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(filled))
