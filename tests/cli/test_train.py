"""`rocourse train`: the command trains what the Python interface trains."""

import json

import numpy as np
import pytest
from tests.applicants import TARGET, TINY, make_schema, trained_model
from tests.command_line import assignments, refused, run, succeed

from rocourse.artifacts import load
from rocourse.schema import Schema

CONSTRAINED = ("--immutable", "region", "--increase-only", "age")
TINY_OPTIONS = (
    "--method=rocoursenet",
    *assignments({k: value for k, value in TINY.items() if k != "trainer__epochs"}),
)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_the_model_is_that_of_the_python_interface(files, applicants, tmp_path, name):
    out = tmp_path / "model"
    args = ("--set=trainer.epochs=40", "--out", out, "--json")
    result = succeed(
        "train",
        files / name,
        "--target=loan",
        "--favourable=granted",
        *CONSTRAINED,
        *TINY_OPTIONS,
        *args,
    )
    expected, loaded = trained_model(), load(out)
    rows = applicants.drop(columns=TARGET)
    np.testing.assert_array_equal(loaded.predict_proba(rows), expected.predict_proba(rows))
    assert loaded.schema_ == expected.schema_
    report = json.loads(result.stdout)
    assert report["metrics"] == expected.history_[expected.best_epoch_ - 1]
    assert (report["method"], report["rows"], report["epochs"]) == ("rocoursenet", 80, 40)
    assert (report["classes"], report["favourable"]) == (["denied", "granted"], "granted")


def test_schema_config_and_seed_are_used(files, applicants, tmp_path):
    schema, config, out = tmp_path / "schema.json", tmp_path / "tiny.toml", tmp_path / "model"
    Schema.infer(applicants, target="loan", favourable="granted", immutable=["region"]).save(schema)
    lines = [f"{k.replace('__', '.')} = {json.dumps(value)}" for k, value in TINY.items()]
    config.write_text("\n".join(lines))
    args = ("--schema", schema, "--increase-only=age", "--config", config, "--out", out)
    options = ("--method=rocoursenet", "--set=trainer.epochs=2", "--seed=7")
    result = succeed(
        "train", files / "a.csv", "--target=loan", "--favourable=granted", *options, *args
    )
    model = load(out)
    assert model.schema_ == make_schema(applicants)
    assert (model.n_iter_, model.trainer.encoder_widths) == (2, (8, 4))
    assert model.to_state()[0]["seed"] != trained_model().seed_
    assert "weights of epoch" in result.stdout and str(out) in result.stdout
    assert result.stderr.splitlines()[0].startswith("epoch 1/2 accuracy ")


def test_the_default_promises_and_periods_are_no_feature(files, applicants, tmp_path):
    table, out = tmp_path / "years.csv", tmp_path / "model"
    applicants.assign(year=[2001 + i % 2 for i in range(len(applicants))]).to_csv(table)
    small = assignments(
        {
            "trainer__epochs": 5,
            "proposer__jurors": 2,
            "proposer__witnesses": 4,
            "trainer__committee": 1,
        }
    )
    options = ("--kept=0.7", "--period=year", "--drop", "Unnamed: 0", *small)
    result = succeed(
        "train", table, "--target=loan", "--favourable=granted", *options, "--out", out
    )
    assert "promises to be kept" in result.stdout and "0.7" in result.stdout
    model = load(out)
    assert model.method == "rocourse" and "year" not in model.schema_.names
    assert model.pledge().kept == 0.7


def test_the_cut_off_is_an_option(files, applicants, tmp_path):
    rows = applicants.drop(columns=TARGET)
    args = (
        "train",
        files / "a.csv",
        "--target=loan",
        "--favourable=granted",
        *CONSTRAINED,
        *TINY_OPTIONS,
    )
    args = (*args, "--set=trainer.epochs=5", "--json")
    report = json.loads(succeed(*args, "--threshold=0.4", "--out", tmp_path / "t").stdout)
    assert report["threshold"] == 0.4
    model = load(tmp_path / "t")
    likely = model.predict_proba(rows)[:, 1]
    np.testing.assert_array_equal(model.predict(rows) == "granted", likely >= 0.4)
    told = json.loads(succeed("predict", tmp_path / "t", files / "a.csv", "--json").stdout)
    given = [record["predicted"] for record in told["predictions"]]
    assert given == model.predict(rows).tolist()
    report = json.loads(succeed(*args, "--approval-rate=0.25", "--out", tmp_path / "r").stdout)
    rated = load(tmp_path / "r")
    assert report["threshold"] == rated.cut_off_.threshold
    assert (rated.predict(rows) == "granted").sum() == len(rows) // 4


def test_quiet_prints_nothing_and_force_replaces(files, tmp_path):
    out = tmp_path / "model"
    args = (
        "train",
        files / "a.csv",
        "--target=loan",
        "--favourable=granted",
        *CONSTRAINED,
        *TINY_OPTIONS,
    )
    assert succeed(*args, "--set=trainer.epochs=1", "--out", out, "--quiet").output == ""
    succeed(*args, "--set=trainer.epochs=2", "--out", out, "--quiet", "--force")
    assert load(out).n_iter_ == 2


def test_the_output_is_checked_before_anything_else(tmp_path):
    (tmp_path / "model").mkdir()
    missing = tmp_path / "missing.csv"
    sentence = refused(
        "train", missing, "--target=loan", "--favourable=granted", "--out", tmp_path / "model"
    )
    assert "exists already" in sentence


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set=trainer.epoch=3"], ["'trainer.epoch'", "did you mean 'trainer.epochs'?"]),
        (["--set=trainer.epochs"], ["name=value", "'trainer.epochs'"]),
        (["--set=random_state=3"], ["'random_state'", "--seed"]),
        (["--set=schema=3"], ["'schema'", "--schema"]),
        (["--set=trainer.epochs=0"], ["'epochs' of SteadyTrainer", "0"]),
        (["--method=counternet", "--set=proposer.network=paint"], ["'network'", "'paint'"]),
        (["--kept=1.5"], ["'kept' of JuryProposer", "1.5"]),
        (["--method=roar", "--kept=0.9"], ["'kept'", "ROARProposer"]),
        (["--threshold=1"], ["'threshold' must be a number above 0 and below 1", "1.0"]),
        (["--threshold=.4", "--approval-rate=.5"], ["'approval_rate'", "leave one of them out"]),
        (["--period=yaer"], ["--period", "'yaer'"]),
        (["--set=proposer=paint"], ["proposer must be one of", "'paint'"]),
        (["--set=trainer.encoder_widths=8"], ["'encoder_widths'", "8"]),
        (["--method=counternet", "--set=attack.norm=l2"], ["'attack.norm'"]),
        (["--method=roar", "--set=attack=true"], ["'attack' must be None with a ROARProposer"]),
        (["--set=preset=paper"], ["'preset' must be one of", "'paper'"]),
        (["--immutable=regoin"], ["'regoin'", "did you mean 'region'?"]),
        (["--drop=id"], ["'id'", "--drop"]),
    ],
    ids=lambda value: " ".join(value) if value[0].startswith("--") else "",
)
def test_wrong_options_are_refused(files, tmp_path, options, words):
    out = tmp_path / "model"
    sentence = refused(
        "train", files / "a.csv", "--target=loan", "--favourable=granted", "--out", out, *options
    )
    assert all(word in sentence for word in words)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_method_is_wrong_usage_and_gets_a_hint(files, tmp_path):
    args = (
        "--target=loan",
        "--favourable=granted",
        "--out",
        tmp_path / "model",
        "--method=counter-net",
    )
    result = run("train", files / "a.csv", *args)
    assert result.exit_code == 2 and result.stdout == ""
    assert "Invalid value for '--method'" in result.stderr
    told = " ".join(result.stderr.replace("│", " ").split())
    assert "rocourse-panel: got 'counter-net' (did you mean 'counternet'?)" in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("c.ini", "trainer: 3", "must end in .toml, .yaml or .json"),
        ("c.yaml", "a: [1", "must be YAML, but it is malformed"),
        ("c.yaml", "- trainer", "must map names to values"),
        ("c.json", "{", "must be JSON, but it is malformed"),
        ("c.toml", "trainer 3", "must be TOML, but it is malformed"),
        ("c.json", "[3]", "must map names to values, but got list"),
        ("c.json", '{"trainer": {"epoch": 3}}', "did you mean 'trainer.epochs'?"),
        (None, None, "must be readable, but got No such file"),
    ],
)
def test_wrong_config_files_are_refused(files, tmp_path, name, text, words):
    config = tmp_path / (name or "missing.json")
    if text is not None:
        config.write_text(text)
    args = (
        "--target=loan",
        "--favourable=granted",
        "--out",
        tmp_path / "model",
        "--config",
        config,
    )
    assert words in refused("train", files / "a.csv", *args)


def test_a_schema_says_already_what_columns_are(files, applicants, tmp_path):
    schema = tmp_path / "schema.json"
    make_schema(applicants).save(schema)
    args = (
        "--target=loan",
        "--favourable=granted",
        "--out",
        tmp_path / "model",
        "--schema",
        schema,
    )
    assert "without --schema" in refused("train", files / "a.csv", *args, "--categorical=age")
    assert "'job' is categorical" in refused("train", files / "a.csv", *args, "--bounds=job=0:1")
    sentence = refused("train", files / "a.csv", *args, "--immutable=regoin")
    assert "has no feature 'regoin' (did you mean 'region'?)" in sentence
    both = ("--increase-only=age", "--decrease-only=age")
    assert "got it in both" in refused("train", files / "a.csv", *args, *both)
    sentence = refused("train", files / "a.csv", "--target=job", *args[1:])
    assert "that of the schema, 'loan', but --target is 'job'" in sentence


def test_a_favourable_class_needs_a_known_target(files, applicants, tmp_path):
    schema = tmp_path / "schema.json"
    Schema.infer(applicants.drop(columns=TARGET)).save(schema)
    args = (
        "--target=loan",
        "--favourable=granted",
        "--out",
        tmp_path / "model",
        "--schema",
        schema,
    )
    sentence = refused("train", files / "a.csv", *args, "--favourable=denied")
    assert "a schema without one" in sentence
    assert "with a target" in refused("schema", "infer", files / "a.csv", "--favourable=denied")
