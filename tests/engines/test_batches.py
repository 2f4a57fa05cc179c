"""A model as a function of Arrow batches: by hand, on Dask, on Ray Data's form, and on Spark."""

import os
import pickle
import shutil

import pandas as pd
import pyarrow as pa
import pytest
from tests.applicants import make_applicants, trained_model

from rocourse.artifacts import save
from rocourse.engines import batch_function
from rocourse.errors import ConfigError, DataError
from rocourse.tables import prediction_table, recourse_table

ROWS = 40


@pytest.fixture(scope="module")
def rows():
    """Rows with an id, and the class that they had."""
    return make_applicants(ROWS, seed=1).assign(number=[f"n{k}" for k in range(ROWS)])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return save(trained_model(), tmp_path_factory.mktemp("model") / "model")


@pytest.fixture(scope="module")
def advice(rows):
    """What a table of the whole says."""
    found = trained_model().recourse(rows[["income", "age", "job", "region"]], desired="granted")
    return recourse_table(found, stable=True, ids=rows["number"]).drop(columns="row")


def test_batches_are_answered_one_by_one_in_their_order(rows, path, advice):
    function = pickle.loads(pickle.dumps(batch_function(path, id="number")))
    batches = pa.Table.from_pandas(rows).to_batches(max_chunksize=15)
    answers = list(function(iter(batches)))
    assert [len(batch) for batch in answers] == [15, 15, 10]
    first, *others = (batch.schema for batch in answers)
    assert all(first.equals(each, check_metadata=True) for each in others)
    pd.testing.assert_frame_equal(pa.Table.from_batches(answers).to_pandas(), advice)
    assert list(function(iter([]))) == []


def test_a_fitted_model_and_predictions_will_do(rows):
    function = batch_function(trained_model(), "predict", id="number")
    told = function.frame(rows)
    expected = prediction_table(trained_model(), rows, "number").drop(columns="row")
    pd.testing.assert_frame_equal(told, expected)
    assert list(batch_function(trained_model(), "predict").frame(rows).columns)[0] == "predicted"


def test_what_cannot_be_is_refused(rows):
    with pytest.raises(ConfigError, match="'recourse' or 'predict', but got 'audit'"):
        batch_function(trained_model(), "audit")
    with pytest.raises(DataError, match="column of ids, 'key', must be in the rows"):
        batch_function(trained_model(), id="key").frame(rows)


def test_on_dask_partitions_are_answered(rows, path, advice):
    dask = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    function = batch_function(path, id="number")
    meta = function.frame(rows[:1])[:0]
    partitions = dask.from_pandas(rows, npartitions=3, sort=False)
    told = partitions.map_partitions(function.frame, meta=meta).compute(scheduler="synchronous")
    found = told.reset_index(drop=True).astype(advice.dtypes.to_dict())
    pd.testing.assert_frame_equal(found, advice)


def test_on_spark_batches_are_mapped(rows, path, advice):
    if shutil.which("java") is None:
        pytest.skip("Spark needs a JVM, and there is none")
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = session.getOrCreate()
    try:
        function = batch_function(path, id="number")
        (sample,) = function(iter(pa.Table.from_pandas(rows[:1]).to_batches()))
        types = sql.pandas.types.from_arrow_schema(sample.schema)
        told = spark.createDataFrame(rows).mapInArrow(function, types).toPandas()
    finally:
        spark.stop()
    assert told["number"].tolist() == rows["number"].tolist()
    assert told["status"].tolist() == advice["status"].tolist()
