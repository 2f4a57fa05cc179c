"""Models in MLflow: what is logged is our directory, what is asked is advice."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.loans import make_loans, make_schema, small

import rocourse
import rocourse.mlflow
from rocourse.errors import ArtifactError, ConfigError, DependencyError
from rocourse.estimators import CounterNet, RoCourse, VanillaCF

# MLflow's own warnings are not ours.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory):
    """MLflow with records in a file of its own, and nothing told to anybody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("DO_NOT_TRACK", "true")
        patch.chdir(tmp_path_factory.mktemp("mlflow"))
        yield pytest.importorskip("mlflow", reason="mlflow-skinny is missing")


@pytest.fixture(scope="module")
def table():
    return make_loans(200, seed=4)


@pytest.fixture(scope="module")
def X(table):
    return table.drop(columns="grade")


@pytest.fixture(scope="module")
def model(table, X):
    method = RoCourse(make_schema(table), random_state=0, **small(RoCourse, proposer__kept=0.5))
    return method.fit(X, table["grade"])


def score(frame):
    return np.clip(frame["income"].to_numpy() / 90.0, 0.0, 1.0)


def test_a_logged_model_advises_as_a_pyfunc(mlflow, model, X, tmp_path):
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/records.db")
    with mlflow.start_run():
        logged = rocourse.mlflow.log_model(model, "recourse", input_example=X.head(2))
    asked = mlflow.pyfunc.load_model(logged.model_uri)
    advice, expected = asked.predict(X.head(20)), model.recourse(X.head(20), desired=1)
    assert advice["status"].tolist() == expected.status.tolist()
    assert expected.valid.any() and "not_needed" in set(advice["status"])
    for name in ("robustness", "cost", "probability"):
        np.testing.assert_array_equal(advice[name], getattr(expected, name))
    pd.testing.assert_frame_equal(
        advice[list(X.columns)], expected.frame().reset_index(drop=True), check_dtype=False
    )
    loaded = rocourse.mlflow.load_model(logged.model_uri)
    assert loaded.recourse(X).to_records() == model.recourse(X).to_records()
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=logged.model_uri))
    assert (folder / "card.md").read_text().startswith("# Model card: RoCourse for grade")


def test_a_saved_model_holds_no_code_and_says_what_it_takes(mlflow, model, X, tmp_path):
    path = tmp_path / "saved"
    rocourse.mlflow.save_model(model, path)
    files = [file for file in path.rglob("*") if file.is_file()]
    assert {file.suffix for file in files} == {"", ".json", ".md", ".safetensors", ".txt", ".yaml"}
    # Arrays begin with their header's length, which may be any byte.
    texts = [file.read_bytes() for file in files if file.suffix != ".safetensors"]
    assert not any(text.startswith(b"\x80") for text in texts)
    requirements = (path / "requirements.txt").read_text()
    assert f"rocourse=={rocourse.__version__}" in requirements
    noted = mlflow.models.Model.load(str(path))
    kinds = {column["name"]: column["type"] for column in noted.signature.inputs.to_dict()}
    assert kinds == {
        "income": "double",
        "debt": "any",
        "age": "any",
        "job": "string",
        "region": "string",
    }
    assert {"status", "robustness", "cost"} <= set(noted.signature.outputs.input_names())
    digest = rocourse.artifacts.model_digest(path / "data" / "model")
    assert noted.flavors["rocourse"]["digest"] == digest
    assert json.loads((path / "input_example.json").read_text())["columns"] == list(X.columns)
    with pytest.raises(mlflow.exceptions.MlflowException, match="region"):
        mlflow.pyfunc.load_model(str(path)).predict(X.drop(columns="region"))


def test_rows_with_gaps_and_other_types_pass_the_signature(mlflow, table, tmp_path):
    odd = table.assign(
        owner=np.arange(len(table)) % 2 == 0, children=np.arange(len(table)) % 3, debt=table["debt"]
    )
    odd.loc[::7, "debt"] = np.nan
    schema = rocourse.Schema.infer(
        odd,
        target="grade",
        favourable=1,
        categorical=["children"],
        missing={"debt": "impute", "age": "error", "children": "error"},
    )
    method = CounterNet(schema, random_state=0, **small(CounterNet, trainer__epochs=2))
    rows = odd.drop(columns="grade")
    rocourse.mlflow.save_model(method.fit(rows, odd["grade"]), tmp_path / "saved")
    asked = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    advice = asked.predict(rows.head(15))
    assert advice["status"].tolist() == method.recourse(rows.head(15), desired=1).status.tolist()
    assert advice["imputed"].tolist()[0] == "debt"


def test_a_model_that_is_given_comes_from_its_factory(mlflow, table, X, tmp_path, monkeypatch):
    (tmp_path / "mlflow_scoring.py").write_text(
        "from tests.test_mlflow import score\n\n\ndef latest():\n    return score\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    method = VanillaCF(make_schema(table), model=score, random_state=0, proposer__steps=10)
    method.fit(X, None)
    with pytest.raises(ConfigError, match="because a function cannot be written.*model_from="):
        rocourse.mlflow.save_model(method, tmp_path / "none")
    assert not (tmp_path / "none").exists()
    rocourse.mlflow.save_model(method, tmp_path / "saved", model_from="mlflow_scoring:latest")
    path, rows = str(tmp_path / "saved"), X.head(5)
    expected = method.recourse(rows, desired=1)
    advice = mlflow.pyfunc.load_model(path).predict(rows)
    assert advice["status"].tolist() == expected.status.tolist()
    for loaded in (
        rocourse.mlflow.load_model(path),
        rocourse.mlflow.load_model(path, model=score),
    ):
        assert loaded.recourse(rows, desired=1).to_records() == expected.to_records()


def test_models_of_other_flavors_are_refused(mlflow, tmp_path):
    other = mlflow.models.Model()
    other.add_flavor("other", version=1)
    (tmp_path / "other").mkdir()
    other.save(str(tmp_path / "other" / "MLmodel"))
    with pytest.raises(ArtifactError, match="rocourse.mlflow wrote, but it has the flavors ot"):
        rocourse.mlflow.load_model(str(tmp_path / "other"))


def test_without_mlflow_the_extra_is_named(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(rocourse.mlflow, "import_module", missing)
    with pytest.raises(DependencyError, match=r"pip install 'rocourse\[mlflow\]'"):
        rocourse.mlflow.load_model("models:/recourse/1")
