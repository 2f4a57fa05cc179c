"""The examples run, and their advice is what the explained models honour."""

import importlib.util
from pathlib import Path

import pytest

from rocourse import datasets

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def load_example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example():
    return load_example("explain_your_model")


@pytest.fixture(scope="module")
def credit():
    data = datasets.load("german_credit")
    rows = data.subsets["org"]
    schema = data.actionable_schema
    return schema, rows[list(schema.names)], rows[data.target]


def test_explaining_your_own_model_runs(example):
    table = example.main(applicants=3)
    assert table["model"].nunique() == 2
    assert list(table["method"]) == ["VanillaCF", "ROAR", "RBR"] * 2
    assert table["valid"].between(0, 1).all()
    assert table["valid"].mean() > 0.5
    assert (table["proximity"] > 0).any()


@pytest.mark.parametrize("method", ["VanillaCF", "ROAR", "RBR"])
def test_the_forest_itself_grants_what_was_advised(method, example, credit):
    schema, X, y = credit
    forest = example.train_forest(schema, X, y)
    explainer = getattr(example, method)(schema, model=forest, random_state=0).fit(X, y)
    refused = X[forest.predict(X) == 0].head(5)
    recourse = explainer.recourse(refused)
    found = recourse.status == "found"
    assert found.any()
    assert (forest.predict(recourse.frame())[found] == 1).all()


def test_a_generator_of_your_own_runs_and_gives_valid_recourses():
    shares = load_example("own_generator").main()
    assert shares.keys() == {"cf-model", "robust-cf-model"}
    assert min(shares.values()) > 0.8


def test_models_that_are_there_are_promised_for_stored_and_read(tmp_path):
    pytest.importorskip("numba", reason="trees need rocourse[trees], which is missing")
    jury = {"proposer__jurors": 2, "proposer__witnesses": 4, "proposer__kept": 0.5}
    jury |= {"proposer__shift__drift": 0.2}
    found = load_example("your_model").main(tmp_path, loans=False, **jury, trainer__epochs=4)
    whole = {name: figures["stored whole"] for name, figures in found.items()}
    assert whole == {"pipeline on German Credit": True, "PyTorch": False, "HTTP": False}
    assert min(figures["promised"] for figures in found.values()) > 0.0
