"""`rocourse tune`: the search of the Python interface, and parameters that `train` takes."""

import json
import sys

import pytest
from tests.applicants import TARGET, TINY, make_schema
from tests.command_line import assignments, refused, run, succeed

from rocourse.artifacts import load
from rocourse.experiments import read_tuning, tune

FIXED = {
    name: TINY[name]
    for name in (
        "trainer__encoder_widths",
        "trainer__head_widths",
        "trainer__batch_size",
        "trainer__learning_rate",
        "proposer__widths",
    )
} | {"trainer__epochs": 30}
OPTIONS = (
    "--target=loan",
    "--favourable=granted",
    "--method=counternet",
    "--immutable=region",
    "--increase-only=age",
    "--trials=2",
    "--judges=1",
    *assignments(FIXED),
)


def timeless(trials):
    return [{**trial, "seconds": None} for trial in trials]


def test_the_result_is_that_of_the_python_interface(files, applicants, tmp_path):
    out, params = tmp_path / "tuned.json", tmp_path / "best.json"
    args = ("--out", out, "--params", params, "--protocol=adverse", "--seed=4", "--json")
    printed = json.loads(succeed("tune", files / "a.csv", *OPTIONS, *args).stdout)
    assert printed == json.loads(out.read_text("utf-8"))
    expected = tune(
        applicants,
        TARGET,
        "counternet",
        schema=make_schema(applicants),
        fixed=FIXED,
        trials=2,
        judges=1,
        protocol="adverse",
        seed=4,
    ).to_dict()
    assert timeless(printed["trials"]) == timeless(expected["trials"])
    assert printed["command"].startswith("rocourse tune a.csv --target=loan --method=counternet")
    assert json.loads(params.read_text("utf-8")) == printed["best"]["parameters"]


def test_training_takes_the_best_parameters(files, tmp_path):
    out, params, model = (tmp_path / name for name in ("tuned.json", "best.json", "model"))
    result = succeed("tune", files / "a.csv", *OPTIONS, "--out", out, "--params", params)
    assert "Best trials" in result.stdout and str(params) in result.stdout
    assert "trial 2/2" in result.stderr
    args = (
        "--target=loan",
        "--favourable=granted",
        "--method=counternet",
        "--config",
        params,
        "--out",
        model,
        "--quiet",
    )
    succeed("train", files / "a.csv", *args)
    trained = load(model).get_params()
    best = read_tuning(out).parameters
    assert {name: trained[name] for name in best} == best


def test_quiet_prints_nothing_and_force_replaces(files, tmp_path):
    out = tmp_path / "tuned.json"
    out.write_text("mine")
    args = ("tune", files / "a.csv", *OPTIONS, "--trials=1", "--out", out)
    assert "exists already" in refused(*args)
    assert out.read_text() == "mine"
    assert succeed(*args, "--force", "--quiet").output == ""
    assert len(read_tuning(out).trials) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set=trainer.epoch=3"], ["'trainer.epoch'", "did you mean 'trainer.epochs'?"]),
        (["--set=random_state=3"], ["'random_state'", "--seed"]),
        (["--set=trainer.epochs=0"], ["'epochs'", "0"]),
        (
            ["--set=proposer.proximity_weight=1"],
            ["a parameter to vary", "trainer.epochs, proposer.proximity_weight"],
        ),
        (["--target=lone"], ["'lone'", "did you mean 'loan'?"]),
        (["--immutable=regoin"], ["'regoin'", "did you mean 'region'?"]),
        (["--schema=absent.json"], ["absent.json"]),
    ],
    ids=lambda value: " ".join(value) if value[0].startswith("--") else "",
)
def test_wrong_options_are_refused(files, tmp_path, options, words):
    sentence = refused("tune", files / "a.csv", *OPTIONS, "--out", tmp_path / "t.json", *options)
    assert all(word in sentence for word in words), sentence
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--out", "--params"])
def test_outputs_are_checked_before_anything_else(tmp_path, option):
    taken = tmp_path / "taken.json"
    taken.write_text("mine")
    paths = {"--out": tmp_path / "t.json", option: taken}
    args = [part for pair in paths.items() for part in pair]
    sentence = refused(
        "tune", tmp_path / "missing.csv", "--target=loan", "--favourable=granted", *args
    )
    assert "exists already" in sentence


@pytest.mark.parametrize("options", [["--trials=0"], ["--method=oracle"], ["--protocol=some"]])
def test_wrong_usage_exits_with_2(files, tmp_path, options):
    args = ("--target=loan", "--favourable=granted", "--out", tmp_path / "t.json")
    assert run("tune", files / "a.csv", *args, *options).exit_code == 2


def test_without_optuna_it_is_said_how_to_get_it(files, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    sentence = refused("tune", files / "a.csv", *OPTIONS, "--out", tmp_path / "t.json")
    assert "pip install 'rocourse[tune]'" in sentence
