"""Bad input: each kind is told in one sentence that says what to do, and nothing is written."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.applicants import TARGET, TINY, make_applicants, make_schema, untrained_model
from tests.command_line import assignments, refused, succeed

from rocourse import CounterNet, RoCourseNet, Schema
from rocourse.artifacts import load, save
from rocourse.errors import ArtifactError, ConfigError, DataError, OutputError, SchemaError

TINY_OPTIONS = ["--method=rocoursenet", *assignments(TINY)]


@pytest.fixture(scope="module")
def applicants():
    return make_applicants()


@pytest.fixture(scope="module")
def model():
    return untrained_model()


@pytest.fixture
def folder(tmp_path, monkeypatch, applicants, model):
    """The current directory, with rows and a model in it, which no failure may change."""
    monkeypatch.chdir(tmp_path)
    applicants.to_csv("good.csv", index=False)
    save(model, "model")
    return tmp_path


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def sentence(error, *words):
    """Checks that an error is one sentence with a remedy, in which all the words occur."""
    message = str(error)
    assert "\n" not in message and message.endswith("."), message
    assert not re.search(r"[.!?] [A-Z]", message), f"more than one sentence: {message}"
    assert "; " in message, f"no remedy: {message}"
    assert [word for word in words if word not in message] == [], message


def check_training(folder, frame, error, *words, options=()):
    """Python and the command line refuse to train on the rows, in the same words."""
    estimator = RoCourseNet(**TINY)
    with pytest.raises(error) as caught:
        schema = Schema.infer(frame, target=TARGET, favourable="granted")
        estimator.set_params(schema=schema).fit(frame.drop(columns=TARGET), frame[TARGET])
    sentence(caught.value, *words)
    frame.to_csv("bad.csv", index=False)
    before = snapshot(folder)
    sentence(
        refused(
            "train", "bad.csv", f"--target={TARGET}", "--favourable=granted", "--out=new", *options
        ),
        *words,
    )
    sentence(
        refused(
            "schema",
            "infer",
            "bad.csv",
            f"--target={TARGET}",
            "--favourable=granted",
            "--out=new.json",
        ),
        *words,
    )
    assert snapshot(folder) == before


def check_prediction(folder, model, frame, *words, python_only=False):
    """Python and the command line refuse to predict and to advise for the rows."""
    rows = frame.drop(columns=TARGET, errors="ignore")
    for call in (model.predict, model.predict_proba, model.recourse):
        with pytest.raises(DataError) as caught:
            call(rows)
        sentence(caught.value, *words)
    if python_only:
        return
    frame.to_csv("bad.csv", index=False)
    before = snapshot(folder)
    for command in ("predict", "recourse"):
        sentence(refused(command, "model", "bad.csv", "--out=new.csv"), *words)
    sentence(refused("evaluate", "model", "bad.csv"), *words)
    assert snapshot(folder) == before


def test_missing_column(folder, model, applicants):
    frame = applicants.rename(columns={"income": "incom"})
    words = ["Column 'income'", "missing", "rename 'incom'"]
    check_prediction(folder, model, frame, *words)


def test_missing_target(folder):
    before = snapshot(folder)
    words = ["target", "'lone'", "did you mean 'loan'?"]
    sentence(refused("train", "good.csv", "--target=lone", "--out=new"), *words)
    assert snapshot(folder) == before


def test_unseen_category(folder, model, applicants):
    frame = applicants.assign(job=["astronaut", *applicants["job"][1:]])
    check_prediction(
        folder, model, frame, "Column 'job'", "unseen category", "'astronaut'", "row 0"
    )


def test_missing_values_where_they_are_refused(folder, applicants):
    schema = Schema.infer(applicants, target=TARGET, favourable="granted", missing="error")
    schema.save(folder / "strict.json", force=True)
    for name, gap, words in (
        ("income", np.nan, ["Column 'income'", "missing values", "NaN", "row 0", "fill or drop"]),
        ("job", None, ["Column 'job'", "missing values", "row 0"]),
    ):
        frame = applicants.assign(**{name: [gap, *applicants[name][1:]]})
        with pytest.raises(DataError) as caught:
            RoCourseNet(schema=schema).fit(frame.drop(columns=TARGET), frame[TARGET])
        frame.to_csv(folder / "bad.csv", index=False)
        args = ("bad.csv", "--target", TARGET, "--schema", "strict.json", "--out", "new")
        for sentence in (str(caught.value), refused("train", *args)):
            for word in words:
                assert word in sentence


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity(folder, model, applicants, value):
    frame = applicants.assign(income=[value, *applicants["income"][1:]])
    words = ["Column 'income'", "finite", str(value), "row 0", "replace or drop"]
    check_prediction(folder, model, frame, *words)
    check_training(folder, frame, DataError, *words)


def test_text_in_a_number_column(folder, model, applicants):
    frame = applicants.assign(income=["plenty", *applicants["income"][1:]])
    check_prediction(folder, model, frame, "Column 'income'", "numbers", "text", "'plenty'")


def test_constant_column(folder, applicants):
    frame = applicants.assign(age=40)
    check_training(folder, frame, SchemaError, "Column 'age'", "constant", "40", "drop it")
    frame = applicants.assign(job="full")
    check_training(folder, frame, SchemaError, "Column 'job'", "constant", "'full'", "drop it")


def test_one_class_only(folder, applicants):
    frame = applicants.assign(loan="granted")
    words = ["'loan'", "at least two classes", "'granted'", "add rows"]
    check_training(folder, frame, SchemaError, *words)
    with pytest.raises(DataError) as caught:
        RoCourseNet(**TINY).fit(applicants.drop(columns=TARGET), frame[TARGET])
    sentence(caught.value, "at least two classes", "'granted'")


def test_three_classes_with_flip(folder):
    save(untrained_model(frame=make_applicants(classes=("a", "b", "c"))), "three")
    before = snapshot(folder)
    args = ("recourse", "three", "good.csv", "--flip", "--out=new.csv")
    sentence(refused(*args), "--flip", "two classes", "3: a, b, c", "--desired")
    assert snapshot(folder) == before


def test_no_rows(folder, model, applicants):
    rows = applicants.head(0).drop(columns=TARGET)
    for call in (model.predict, model.recourse, Schema.infer, model.schema_.encode):
        with pytest.raises(DataError) as caught:
            call(rows)
        sentence(caught.value, "no rows")
    applicants.head(0).to_csv("empty.csv", index=False)
    before = snapshot(folder)
    for args in (
        ("train", "empty.csv", "--target=loan", "--favourable=granted", "--out=new"),
        ("schema", "infer", "empty.csv", "--out=new.json"),
        ("predict", "model", "empty.csv", "--out=new.csv"),
        ("recourse", "model", "empty.csv", "--out=new.csv"),
        ("evaluate", "model", "empty.csv"),
    ):
        sentence(refused(*args), "'empty.csv'", "no rows", "add rows")
    assert snapshot(folder) == before


def test_fewer_rows_than_a_batch_work(folder, applicants):
    # 40 rows, of which 8 are held out: the smaller batch has the shape of the other tests' batches.
    applicants.head(40).to_csv("few.csv", index=False)
    options = [*TINY_OPTIONS, "--set=trainer.epochs=1", "--set=trainer.batch_size=1024", "--quiet"]
    succeed(
        "train",
        "few.csv",
        "--target=loan",
        "--favourable=granted",
        "--immutable=region",
        "--out=new",
        *options,
    )
    assert load("new").n_iter_ == 1


def test_duplicated_column_names(folder, model, applicants):
    frame = applicants.drop(columns=TARGET)
    frame = frame.set_axis(["income", "age", "job", "job"], axis=1)
    for call in (Schema.infer, model.predict, model.recourse):
        with pytest.raises(DataError) as caught:
            call(frame)
        sentence(caught.value, "'job'", "more than once", "rename or drop")
    frame.assign(loan=applicants[TARGET]).to_csv("bad.csv", index=False)
    before = snapshot(folder)
    for args in (
        ("train", "bad.csv", "--target=loan", "--favourable=granted", "--out=new"),
        ("predict", "model", "bad.csv", "--out=new.csv"),
    ):
        sentence(refused(*args), "'bad.csv'", "'job'", "more than once", "rename or remove")
    assert snapshot(folder) == before


def test_values_outside_their_bounds(folder, applicants):
    schema = Schema.infer(applicants, target=TARGET, favourable="granted", bounds={"age": (18, 99)})
    model = untrained_model(schema=schema)
    save(model, "model", force=True)
    frame = applicants.assign(age=[120, *applicants["age"][1:]])
    check_prediction(folder, model, frame, "Column 'age'", "at most 99", "120", "row 0", "bounds")
    frame.to_csv("bad.csv", index=False)
    before = snapshot(folder)
    args = (
        "train",
        "bad.csv",
        "--target=loan",
        "--favourable=granted",
        "--bounds=age=18:99",
        "--out=new",
    )
    sentence(refused(*args), "Column 'age'", "at most 99", "120")
    assert snapshot(folder) == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"age": range(200, 280)}, ["'age'", "range", "80 of 80", "200"]),
        ({"age": ["young"] * 80}, ["Column 'age'", "numbers", "'young'"]),
        ({"age": [20.5] * 80}, ["Column 'age'", "whole numbers", "20.5"]),
        ({"job": ["astronaut"] * 80}, ["Column 'job'", "'astronaut'"]),
        ({"loan": ["granted"] * 79 + ["perhaps"]}, ["'loan'", "classes", "'perhaps'"]),
    ],
    ids=["range", "text", "fractions", "categories", "classes"],
)
def test_a_schema_that_contradicts_the_data(folder, applicants, change, words):
    make_schema(applicants).save("schema.json")
    frame = applicants.assign(**change)
    with pytest.raises(SchemaError) as caught:
        RoCourseNet(make_schema(applicants), **TINY).fit(frame.drop(columns=TARGET), frame[TARGET])
    sentence(caught.value, *words)
    frame.to_csv("bad.csv", index=False)
    before = snapshot(folder)
    args = (
        "train",
        "bad.csv",
        "--target=loan",
        "--favourable=granted",
        "--schema=schema.json",
        "--out=new",
    )
    sentence(refused(*args), *words)
    assert snapshot(folder) == before


MODEL_COMMANDS = [
    ("predict", "{}", "good.csv", "--out=new.csv"),
    ("recourse", "{}", "good.csv", "--out=new.csv"),
    ("evaluate", "{}", "good.csv"),
    ("evaluate", "model", "good.csv", "--against={}"),
]


def check_model(folder, path, *words):
    before = snapshot(folder)
    for command in MODEL_COMMANDS:
        sentence(refused(*(part.format(path) for part in command)), *words)
    assert snapshot(folder) == before


def test_a_missing_model(folder):
    with pytest.raises(ArtifactError) as caught:
        load("absent")
    sentence(caught.value, "'absent'", "nothing is there", "check the path")
    check_model(folder, "absent", "'absent'", "nothing is there", "check the path")


def test_a_damaged_model(folder, model):
    weights = save(model, "broken") / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    check_model(folder, "broken", "'broken'", "weights.safetensors", "truncated", "train the model")


def test_a_model_of_another_schema(folder, applicants):
    schema = Schema.infer(
        applicants.rename(columns={"job": "work"}), target=TARGET, favourable="granted"
    )
    save(untrained_model(schema=schema), "other")
    before = snapshot(folder)
    for command in ("predict", "recourse", "evaluate"):
        words = ["Column 'work'", "missing from the rows", "add it"]
        sentence(refused(command, "other", "good.csv"), *words)
    args = ("evaluate", "model", "good.csv", "--against=other")
    sentence(refused(*args), "'other'", "'job'", "same schema")
    assert snapshot(folder) == before


OUTPUTS = [
    ("train", "good.csv", "--target=loan", "--favourable=granted", "--out={}/new"),
    ("schema", "infer", "good.csv", "--out={}/new.json"),
    ("predict", "model", "good.csv", "--out={}/new.csv"),
    ("recourse", "model", "good.csv", "--out={}/new.parquet"),
]


@pytest.mark.parametrize("command", OUTPUTS, ids=lambda command: command[0])
def test_an_output_path_that_exists(folder, command):
    args = [part.format("taken") for part in command]
    taken = folder / args[-1].removeprefix("--out=")
    taken.parent.mkdir()
    taken.write_text("mine")
    before = snapshot(folder)
    words = [repr(str(taken.relative_to(folder))), "exists already", "--force"]
    sentence(refused(*args), *words)
    assert snapshot(folder) == before


@pytest.mark.parametrize("command", OUTPUTS, ids=lambda command: command[0])
def test_an_output_path_that_cannot_be_written(folder, command):
    args = [part.format("good.csv") for part in command]
    before = snapshot(folder)
    words = ["must lie in a directory", "good.csv' is a file", "choose another path"]
    sentence(refused(*args), *words)
    assert snapshot(folder) == before


def test_an_output_that_exists_in_python(folder, model, applicants):
    before = snapshot(folder)
    for call in (lambda: model.save("model"), lambda: save(model, "good.csv/new")):
        with pytest.raises(OutputError) as caught:
            call()
        sentence(caught.value, "Output path")
    with pytest.raises(OutputError) as caught:
        make_schema(applicants).save("good.csv")
    sentence(caught.value, "'good.csv'", "exists already")
    assert snapshot(folder) == before


def test_options_that_cannot_be(applicants):
    rows, labels = applicants.drop(columns=TARGET), applicants[TARGET]
    for cls in (CounterNet, RoCourseNet):
        with pytest.raises(ConfigError) as caught:
            cls(trainer__epochs=0)
        sentence(caught.value, "'epochs' of JointTrainer must be a whole number of at least 1")
        with pytest.raises(ConfigError) as caught:
            cls(trainer="joint").fit(rows, labels)
        sentence(caught.value, "'trainer' must be a Trainer: got 'joint'")


# A background job of a shell ignores interrupts, and so do its children unless they say otherwise.
HEED_INTERRUPTS = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("rocourse.cli", run_name="__main__", alter_sys=True)
"""


def test_interrupted_training_leaves_nothing(folder):
    """A real interrupt of a real process, once it says that the first epoch is over."""
    before = snapshot(folder)
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HEED_INTERRUPTS,
            "train",
            "good.csv",
            "--target=loan",
            "--favourable=granted",
            "--immutable=age",
            "--out=new",
        ]
        + [*TINY_OPTIONS, "--set=trainer.epochs=1000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stderr.readline().startswith("epoch 1/1000000 ")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert stdout == ""
    assert stderr == "interrupted: no output was written\n"
    assert snapshot(folder) == before


def test_impossible_recourse_is_no_error(folder, applicants):
    everything = ["income", "age", "job", "region"]
    schema = Schema.infer(applicants, target=TARGET, favourable="granted", immutable=everything)
    model = untrained_model(schema=schema)
    rows = applicants.drop(columns=TARGET)
    recourse = model.recourse(rows)
    assert set(recourse.status) == {"not_found"}
    pd.testing.assert_frame_equal(recourse.frame(), rows)
    save(model, "rigid")
    succeed("recourse", "rigid", "good.csv", "--flip", "--out=advice.csv")
    advice = pd.read_csv("advice.csv")
    assert set(advice["status"]) == {"not_found"}
    pd.testing.assert_frame_equal(advice[everything], rows)
