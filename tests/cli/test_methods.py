"""`rocourse methods`, and every method through the commands."""

import json

import pandas as pd
import pytest
from rocourse.methods import METHODS
from tests.applicants import TARGET, tiny
from tests.command_line import refused, succeed

from rocourse.artifacts import load


def settings(method, **params):
    values = {**tiny(method), **params}
    return [f"--set={name}={json.dumps(value)}" for name, value in values.items()]


def test_methods_are_listed_with_what_they_are():
    lines = json.loads(succeed("methods", "--json").stdout)
    assert list(lines) == list(METHODS)
    shown = succeed("methods").stdout
    assert all(name in shown for name in METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_parameters_of_a_method_are_explained(method):
    listed = json.loads(succeed("methods", method, "--json").stdout)
    assert listed.keys() == METHODS[method]().get_params(deep=False).keys()
    assert all(entry["doc"].endswith(".") for entry in listed.values())


def test_an_unknown_method_gets_a_hint():
    assert "did you mean 'rocoursenet'?" in refused("methods", "rocourse-net")


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_trained_gives_advice_and_is_evaluated(method, files, tmp_path):
    model, advice = tmp_path / "model", tmp_path / "advice.csv"
    quick = {"epochs": 15}
    if "generator_epochs" in METHODS[method]().get_params():
        quick["generator_epochs"] = 5
    args = ("--target=loan", "--immutable=region", "--out", model, "--method", method)
    report = succeed("train", files / "a.csv", *args, *settings(method, **quick), "--json")
    assert json.loads(report.stdout)["method"] == method
    succeed("recourse", model, files / "a.csv", "--drop", TARGET, "--out", advice)
    assert len(pd.read_csv(advice)) == 80
    scores = json.loads(
        succeed(
            "evaluate",
            model,
            files / "a.csv",
            "--against",
            files / "model",
            "--reference",
            files / "a.csv",
            "--json",
        ).stdout
    )
    assert 0 <= scores["scores"]["protocols"]["all"]["robust_validity"] <= 1


@pytest.mark.parametrize("method", ["vanillacf", "rbr", "cf-model"])
def test_a_stored_model_is_explained(method, files, tmp_path):
    out = tmp_path / "explained"
    args = ("--target=loan", "--method", method, "--explain", files / "model", "--out", out)
    quick = {"generator_epochs": 2} if method == "cf-model" else {}
    succeed("train", files / "a.csv", *args, *settings(method, **quick))
    rows = pd.read_csv(files / "a.csv").drop(columns=TARGET)
    base, explained = load(files / "model"), load(out)
    assert (explained.predict_proba(rows) == base.predict_proba(rows)).all()


def test_a_method_that_trains_its_own_predictor_explains_no_other(files, tmp_path):
    message = refused(
        "train", files / "a.csv", "--target=loan", "--explain", files / "model", "--out",
        tmp_path / "m", "--method=counternet",
    )  # fmt: skip
    assert "--explain must be used with a method that comes after training" in message
    assert "cf-model" in message and "roar" in message
