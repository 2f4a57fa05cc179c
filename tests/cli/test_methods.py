"""`rocourse methods`, and every method through the commands."""

import json

import pandas as pd
import pytest
from tests.applicants import TARGET, tiny
from tests.command_line import assignments, refused, succeed

from rocourse.artifacts import load
from rocourse.attack import Attack
from rocourse.cli._methods import CHOICE
from rocourse.estimators import METHODS


def settings(method, **params):
    return assignments(tiny(method) | params)


def test_methods_are_listed_with_what_they_are():
    lines = json.loads(succeed("methods", "--json").stdout)
    assert list(lines) == list(METHODS)
    shown = succeed("methods").stdout
    assert all(name in shown for name in METHODS)


def test_the_list_begins_with_when_to_take_which():
    assert next(iter(METHODS)) == next(iter(CHOICE)) == "rocourse"
    shown = succeed("methods").stdout
    assert shown.index("start here") < shown.index("what it is")
    assert {name for names in CHOICE for name in names.split(", ")} <= METHODS.keys()


@pytest.mark.parametrize("method", METHODS)
def test_parameters_of_a_method_are_explained(method):
    listed = json.loads(succeed("methods", method, "--json").stdout)
    params = METHODS[method]().get_params()
    assert listed.keys() == {name.replace("__", ".") for name in params}
    assert all(entry["doc"].endswith(".") for entry in listed.values())


def test_an_unknown_method_gets_a_hint():
    assert "did you mean 'rocoursenet'?" in refused("methods", "rocourse-net")


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_trained_gives_advice_and_is_evaluated(method, files, tmp_path):
    model, advice = tmp_path / "model", tmp_path / "advice.csv"
    quick = {"trainer__epochs": 15}
    if "proposer__epochs" in METHODS[method]().get_params():
        quick["proposer__epochs"] = 5
    args = (
        "--target=loan",
        "--favourable=granted",
        "--immutable=region",
        "--out",
        model,
        "--method",
        method,
    )
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
    args = (
        "--target=loan",
        "--favourable=granted",
        "--method",
        method,
        "--explain",
        files / "model",
        "--out",
        out,
    )
    quick = {"proposer__epochs": 2} if method == "cf-model" else {}
    succeed("train", files / "a.csv", *args, *settings(method, **quick))
    rows = pd.read_csv(files / "a.csv").drop(columns=TARGET)
    base, explained = load(files / "model"), load(out)
    assert (explained.predict_proba(rows) == base.predict_proba(rows)).all()


def test_a_method_with_a_trainer_of_its_own_explains_a_stored_model_too(files, tmp_path):
    out = tmp_path / "explained"
    args = (
        "--target=loan",
        "--favourable=granted",
        "--method=counternet",
        "--explain",
        files / "model",
        "--out",
        out,
    )
    succeed("train", files / "a.csv", *args, *settings("counternet", proposer__epochs=2))
    rows = pd.read_csv(files / "a.csv").drop(columns=TARGET)
    base, explained = load(files / "model"), load(out)
    assert (explained.predict_proba(rows) == base.predict_proba(rows)).all()
    assert explained.n_iter_ == 2


def test_trainers_and_proposers_are_named_by_their_kind(files, tmp_path):
    out = tmp_path / "model"
    chosen = ("--set=proposer=vanillacf", "--set=proposer.steps=5", "--set=trainer=steady")
    sizes = assignments({k: v for k, v in tiny("vanillacf").items() if k != "trainer__epochs"})
    others = (*sizes, "--set=trainer.epochs=2", "--set=trainer.committee=2")
    args = ("--target=loan", "--favourable=granted", "--method=counternet", "--out", out)
    succeed("train", files / "a.csv", *args, *chosen, *others)
    model = load(out)
    assert (model.trainer_.kind, model.trainer_.committee, model.trainer_.epochs) == (
        "steady",
        2,
        2,
    )
    assert (model.proposer_.kind, model.proposer_.steps) == ("vanillacf", 5)
    words = refused("train", files / "a.csv", *args, "--force", "--set=trainer=stedy")
    assert "trainer must be one of plain, joint, steady: got 'stedy'" in words


def test_an_attack_is_switched_on_where_there_is_none(files, tmp_path):
    out = tmp_path / "model"
    args = ("--target=loan", "--favourable=granted", "--method=counternet", "--out", out)
    brief = settings("counternet", trainer__epochs=1)
    wished = ("--set=attack=true", "--set=attack.steps=1", "--set=attack.unroll=1")
    succeed("train", files / "a.csv", *args, *brief, *wished)
    assert load(out).attack_ == Attack(steps=1, unroll=1)
    words = refused("train", files / "a.csv", *args, "--force", *wished[1:])
    assert "'attack.steps' must be one that the method has" in words
