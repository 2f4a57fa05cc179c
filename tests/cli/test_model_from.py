"""`--model-from`: the model that a stored one explains comes from a function of the user's."""

import json

import pandas as pd
import pytest
from tests.applicants import TARGET, make_applicants, make_schema
from tests.cli.test_audit import AT, write_ledger
from tests.command_line import refused, succeed
from tests.service.making import client_of, decide

from rocourse.artifacts import make_model, model_digest, save
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


def richer():
    return lambda frame: frame["salary"].to_numpy() / HIGH


def pipeline():
    from sklearn.linear_model import LogisticRegression
    import pandas as pd
    return LogisticRegression().fit(pd.DataFrame({{"salary": [0.0, 1.0]}}), ["denied", "granted"])
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


@pytest.fixture(scope="module")
def promises(stored):
    """A ledger of what the model promises."""
    folder, method = stored
    rows = pd.read_csv(folder / "a.csv").drop(columns=TARGET)
    found = method.recourse(rows, desired="granted")
    advised = json.loads(found.frame()[found.status == "found"].to_json(orient="records"))
    return write_ledger(folder / "promises.db", advised, model=model_digest(folder / "model"))


def test_audit_asks_the_same_model(promises):
    audited = succeed("audit", promises, "--model", "model", *AT, *FROM, "--json")
    (found,) = json.loads(audited.stdout)["audits"]
    assert found["total"]["honoured"] == found["total"]["promises"] > 0
    # The digest covers what the model answers: promises are told to be those of this one.
    assert found["model"] == model_digest("model") and list(found["by_issuer"]) == [found["model"]]


def test_serve_asks_the_same_model(stored, monkeypatch):
    import rocourse.service

    told = []

    def ask(settings, *, on_ready):
        row = {"income": 40.0, "age": 30, "job": "full", "region": "north"}
        with client_of(rocourse.service.create_app(settings)) as client:
            told.append(decide(client, row)["decisions"][0]["probability"])

    monkeypatch.setattr(rocourse.service, "serve", ask)
    succeed("serve", "model", *FROM, "--deadline", "60")
    assert told == [pytest.approx(0.5)]


COMMANDS = {
    "recourse": ("recourse", "model", "a.csv"),
    "predict": ("predict", "model", "a.csv"),
    "evaluate": ("evaluate", "model", "a.csv", "--against", "model"),
    "audit": ("audit", "promises.db", "--model", "model"),
    "serve": ("serve", "model", "--port", "0"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("no_such_module:latest", "No module named 'no_such_module'"),
        ("given_other:HIGH", "must be a function without arguments, but it is a float"),
        ("given_other:latest", "must be the one that recourses were fitted for, function with"),
        ("given_other:richer", "but it raised KeyError: 'salary'"),
        ("given_other:pipeline", "must be fitted on columns of the schema, but it was fitted on"),
    ],
)
def test_every_command_refuses_a_wrong_factory_in_a_sentence(command, reference, told, promises):
    assert told in refused(*COMMANDS[command], "--model-from", reference)


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
