"""`--model-from`: the model that a stored one explains comes from a function of the user's."""

import json

import pandas as pd
import pytest
from tests.applicants import TARGET, make_applicants, make_schema
from tests.command_line import refused, succeed

from rocourse.artifacts import make_model, save
from rocourse.errors import ConfigError
from rocourse.estimators import VanillaCF

SCORING = """
import numpy as np

HIGH = {high}


def score(frame):
    worked = frame["job"].map({{"none": -0.1, "part": 0.0, "full": 0.1}}).astype(float)
    return np.clip(frame["income"] / HIGH + worked, 0.0, 1.0).to_numpy()


def latest():
    return score


def broken():
    raise RuntimeError("no such bucket")


def forgetful():
    score
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A directory with modules, a model of one of them, and rows."""
    folder = tmp_path_factory.mktemp("scoring")
    package = folder / "given_scoring"
    package.mkdir()
    (package / "models.py").write_text(SCORING.format(high=100.0))
    (folder / "given_other.py").write_text(SCORING.format(high=110.0))
    (folder / "given_unready.py").write_text("import no_such_package\n")
    applicants = make_applicants(30)
    applicants.to_csv(folder / "a.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        model = make_model("given_scoring.models:latest")
    method = VanillaCF(make_schema(applicants), model=model, random_state=0, proposer__steps=40)
    save(method.fit(applicants.drop(columns=TARGET), None), folder / "model")
    return folder, method


@pytest.fixture(autouse=True)
def _here(stored, monkeypatch):
    monkeypatch.chdir(stored[0])


FROM = ("--model-from", "given_scoring.models:latest")


def test_recourses_are_those_of_python(stored):
    _, method = stored
    told = json.loads(succeed("recourse", "model", "a.csv", *FROM, "--json").stdout)
    rows = pd.read_csv("a.csv").drop(columns=TARGET)
    assert told["records"] == method.recourse(rows, desired="granted").to_records()
    assert told["found"] > 0


def test_predict_and_evaluate_ask_the_same_model(stored):
    _, method = stored
    told = json.loads(succeed("predict", "model", "a.csv", *FROM, "--json").stdout)
    rows = pd.read_csv("a.csv").drop(columns=TARGET)
    assert [one["predicted"] for one in told["predictions"]] == method.predict(rows).tolist()
    judged = succeed("evaluate", "model", "a.csv", "--against", "model", *FROM, "--json")
    adverse = json.loads(judged.stdout)["scores"]["protocols"]["adverse"]
    assert adverse["robust_validity"] == adverse["validity"] > 0


def test_a_model_without_its_own_says_what_is_missing():
    assert "stored without its 'model'" in refused("recourse", "model", "a.csv")


def test_another_model_is_refused():
    told = refused("recourse", "model", "a.csv", "--model-from", "given_other:latest")
    assert "must be the one that recourses were fitted for" in told


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("given_scoring", "must be written as package.module:function"),
        ("../given_other:latest", "must be written as package.module:function"),
        ("no_such_module:latest", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("given_unready:latest", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("given_other:oldest", "AttributeError"),
        ("given_other:HIGH", "must be a function without arguments, but it is a float"),
        ("given_other:score", "but it raised TypeError"),
        ("given_other:broken", "but it raised RuntimeError: no such bucket; try it"),
        ("given_other:forgetful", "but it returned None"),
    ],
)
def test_what_makes_no_model_gets_a_sentence(reference, told):
    assert told in refused("recourse", "model", "a.csv", "--model-from", reference)


def test_the_path_of_modules_is_as_before():
    import sys

    before = list(sys.path)
    with pytest.raises(ConfigError):
        make_model("given_other:broken")
    assert sys.path == before
