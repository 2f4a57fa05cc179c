"""`rocourse evaluate`: the scores of the Python interface."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.applicants import TARGET, make_applicants, trained_model, untrained_model
from tests.command_line import refused, run, succeed

from rocourse.artifacts import load, save
from rocourse.estimators import RoCourse
from rocourse.evaluation import Plausibility, evaluate_model
from rocourse.experiments import evaluate_rolling
from rocourse.models import SteadyTrainer
from rocourse.recourse import JuryProposer
from rocourse.schema import CutOff, Schema


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    return save(untrained_model(seed=3), tmp_path_factory.mktemp("judge") / "judge")


def timeless(scores):
    return {name: value for name, value in scores.items() if name != "seconds_per_recourse"}


def test_scores_are_those_of_the_python_interface(files, applicants, judge):
    args = ("--against", judge, "--against", files / "model", "--json")
    result = succeed("evaluate", files / "model", files / "a.parquet", *args)
    expected = evaluate_model(
        trained_model(),
        applicants.drop(columns=TARGET),
        applicants[TARGET],
        judges={str(judge): untrained_model(seed=3), str(files / "model"): trained_model()},
    )
    assert timeless(json.loads(result.stdout)["scores"]) == timeless(expected.to_dict())


def test_the_screen_shows_both_protocols(files, judge):
    args = ("evaluate", files / "model", files / "a.csv")
    alone = succeed(*args).stdout
    assert "adverse" in alone and "accuracy 0." in alone
    assert "robust" not in alone and "unchanged" not in alone
    judged = succeed(*args, "--against", judge).stdout
    assert "robust" in judged and "unchanged" in judged
    assert succeed(*args, "--quiet").output == ""


def test_plausibility_is_measured_by_the_training_rows(files, applicants, tmp_path):
    args = ("evaluate", files / "model", files / "a.csv")
    reference = ("--reference", files / "a.parquet")
    document = json.loads(succeed(*args, *reference, "--json").stdout)
    rows, labels = applicants.drop(columns=TARGET), applicants[TARGET]
    expected = evaluate_model(
        trained_model(),
        rows,
        labels,
        reference=Plausibility.fit(trained_model().schema_, rows, labels),
    )
    assert timeless(document["scores"]) == timeless(expected.to_dict())
    assert document["scores"]["protocols"]["all"]["neighbour_distance"] > 0
    assert document["reference"] == str(files / "a.parquet")
    assert "inliers" in succeed(*args, *reference).stdout
    assert "inliers" not in succeed(*args).stdout


def test_training_rows_may_have_other_columns_but_need_their_classes(files, applicants, tmp_path):
    args = ("evaluate", files / "model", files / "a.csv", "--reference", tmp_path / "train.csv")
    applicants.assign(id=range(80)).to_csv(tmp_path / "train.csv", index=False)
    succeed(*args)
    applicants.drop(columns=TARGET).to_csv(tmp_path / "train.csv", index=False)
    assert "The target must be a column of the rows, but got 'loan'" in refused(*args)
    applicants.replace({TARGET: {"granted": "paid"}}).to_csv(tmp_path / "train.csv", index=False)
    assert "among ['denied', 'granted']" in refused(*args)
    applicants.drop(columns="age").to_csv(tmp_path / "train.csv", index=False)
    assert "Column 'age'" in refused(*args)


def test_rows_without_the_target_have_no_accuracy(files, applicants, tmp_path):
    path = tmp_path / "b.csv"
    applicants.drop(columns=TARGET).to_csv(path, index=False)
    scores = json.loads(succeed("evaluate", files / "model", path, "--json").stdout)["scores"]
    assert scores["accuracy"] is None
    assert "The target must be a column" in refused(
        "evaluate", files / "model", path, "--target", "loan"
    )


def test_the_target_may_have_another_name(files, applicants, tmp_path):
    path = tmp_path / "b.csv"
    applicants.rename(columns={TARGET: "decision"}).to_csv(path, index=False)
    args = ("evaluate", files / "model", path, "--target", "decision", "--json")
    scores = json.loads(succeed(*args).stdout)["scores"]
    assert scores["accuracy"] > 0.8


@pytest.fixture
def flat(tmp_path):
    """A model that says the same of everyone."""
    model = untrained_model()
    header, tensors = model.to_state()
    zeros = {name: tensor * 0 for name, tensor in tensors.items()}
    return save(type(model).from_state(header, zeros), tmp_path / "flat")


def test_a_constant_model_is_told_of(files, flat):
    assert "predicts denied for every row" in succeed("evaluate", flat, files / "a.csv").stdout


def test_a_constant_judge_is_told_of(files, flat, judge):
    args = ("evaluate", files / "model", files / "a.csv", "--against", flat)
    assert f"The judge {flat} predicts denied for every row" in succeed(*args).stdout
    document = json.loads(succeed(*args, "--against", files / "model", "--json").stdout)
    assert document["constant_judges"] == {str(flat): "denied"}


def retyped(frame):
    return frame.assign(age=frame["age"].map(lambda age: "old" if age > 40 else "young"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.drop(columns="age"), "differ in 'age': it has no such feature"),
        (lambda frame: frame.assign(debt=range(80)), "differ in 'debt': it asks for it"),
        (retyped, "its 'age' is of another kind"),
        (
            lambda frame: frame.replace({"job": {"part": "none"}}),
            "its 'job' has no category 'part'",
        ),
        (
            lambda frame: frame.replace({TARGET: {"granted": "paid"}}),
            "must know the classes ['denied', 'granted']",
        ),
    ],
    ids=["missing", "extra", "kind", "category", "classes"],
)
def test_a_judge_of_another_schema_is_refused(files, tmp_path, change, words):
    frame = change(make_applicants())
    schema = Schema.infer(frame, target=TARGET, favourable=max(frame[TARGET]))
    save(untrained_model(schema=schema), tmp_path / "judge")
    args = ("evaluate", files / "model", files / "a.csv", "--against", tmp_path / "judge")
    assert words in refused(*args)


@pytest.fixture(scope="module")
def years(tmp_path_factory):
    """A model, and a table of three years with the column `year`."""
    folder = tmp_path_factory.mktemp("years")
    table = pd.concat(
        [make_applicants(seed=i).assign(year=2001 + i) for i in range(3)], ignore_index=True
    )
    # The order of the file is not that of time.
    table.sample(frac=1.0, random_state=0).to_csv(folder / "years.csv", index=False)
    model = RoCourse(
        Schema.infer(table.drop(columns="year"), target=TARGET, favourable="granted"),
        trainer=SteadyTrainer(epochs=5, copies=0, balance=0.0, committee=1),
        proposer=JuryProposer(jurors=2, witnesses=4, kept=0.7),
        threshold=0.6,
        random_state=0,
    )
    model.fit(table.drop(columns=["year", TARGET]), table[TARGET]).save(folder / "model")
    return folder


def test_periods_are_gone_through_in_their_order(years):
    args = ("evaluate", years / "model", years / "years.csv", "--period=year")
    result = succeed(*args, "--kept=0.5", "--json")
    document = json.loads(result.stdout)
    transitions = document["rolling"]["transitions"]
    assert [(t["period"], t["following"]) for t in transitions] == [
        ("2001", "2002"),
        ("2002", "2003"),
    ]
    assert all(set(t["judged"]) == {"network", "boosting", "logistic"} for t in transitions)
    kept = [t["kept"] for t in transitions if t["kept"] is not None]
    assert document["mean"]["kept"] == (pytest.approx(np.mean(kept)) if kept else None)
    assert "models" in result.stderr
    shown = succeed(*args, "--kept=0.5").stdout
    assert "rolling" in shown and "mean" in shown and "unchanged" in shown
    again = json.loads(succeed(*args, "--kept=0.5", "--json", "--quiet").stdout)
    assert again["rolling"] == document["rolling"]


def test_the_models_of_the_periods_decide_by_the_cut_off(years):
    table = pd.read_csv(years / "years.csv")
    model = load(years / "model")
    seen = []
    rows = table.drop(columns=["year", TARGET])
    evaluate_rolling(
        model, rows, table[TARGET], table["year"], on_progress=lambda *told: seen.append(told)
    )
    names = ["to 2001", "to 2002", "only 2002", "to 2003", "only 2003"]
    assert seen == [(i, 5, name) for i, name in enumerate(names)]
    # Everybody is granted from next to nothing on: nobody is refused, and nothing promised.
    model.cut_off_ = CutOff(1e-6, model.cut_off_.favourable)
    result = evaluate_rolling(model, rows, table[TARGET], table["year"])
    assert [one.refused for one in result.transitions] == [0, 0]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--period=yaer"], "--period must name a column of the rows, but got 'yaer'"),
        (["--period=income"], "no feature of the model, but got 'income'"),
        (["--period=year", "--kept=2"], "'kept' of JuryProposer must be at least 0 and below 1"),
    ],
)
def test_impossible_periods_are_told_in_a_sentence(years, args, words):
    assert words in refused("evaluate", years / "model", years / "years.csv", *args)


def test_periods_need_values_and_classes_and_each_other(years, tmp_path):
    table = pd.read_csv(years / "years.csv")

    def sentence(frame):
        frame.to_csv(tmp_path / "years.csv", index=False)
        return refused("evaluate", years / "model", tmp_path / "years.csv", "--period=year")

    missing = table.assign(year=table["year"].where(table.index != 3))
    assert "Every row must have a period, but row 3 has none" in sentence(missing)
    assert "periods must hold at least two" in sentence(table[table["year"] == 2001])
    one_class = table[(table["year"] != 2002) | (table[TARGET] == "denied")]
    assert "'2002' has none of 'granted'" in sentence(one_class)


@pytest.mark.parametrize("args", [["--kept=0.9"], ["--period=year", "--against=b"]])
def test_options_of_other_protocols_are_wrong_usage(years, args):
    assert run("evaluate", years / "model", years / "years.csv", *args).exit_code == 2


@pytest.mark.parametrize("name", ["r.svg", "r.png"])
def test_reliability_is_drawn(files, tmp_path, name):
    args = ("evaluate", files / "model", files / "a.csv", "--reliability", tmp_path / name)
    shown = succeed(*args).stdout
    assert "Brier score 0." in shown and "calibration error 0." in shown and name in shown
    opening = (tmp_path / name).read_bytes()[:5]
    assert opening == (b"<?xml" if name == "r.svg" else b"\x89PNG\r")
    assert "exists already" in refused(*args)
    succeed(*args, "--force")


def test_a_figure_needs_a_known_kind_and_classes(files, applicants, tmp_path):
    args = ("evaluate", files / "model", files / "a.csv")
    assert "must end in .svg or .png" in refused(*args, "--reliability", tmp_path / "r.pdf")
    applicants.drop(columns=TARGET).to_csv(tmp_path / "b.csv", index=False)
    args = ("evaluate", files / "model", tmp_path / "b.csv", "--reliability", tmp_path / "r.svg")
    assert "--reliability needs the classes" in refused(*args)
    assert not (tmp_path / "r.svg").exists()


def test_groups_are_told_by_any_columns_of_the_file(files, applicants, judge, tmp_path):
    table = applicants.assign(sex=np.where(np.arange(len(applicants)) % 2, "f", "m"))
    table.to_csv(tmp_path / "t.csv", index=False)
    args = ("evaluate", files / "model", tmp_path / "t.csv", "--by", "sex,job")
    document = json.loads(succeed(*args, "--against", judge, "--json").stdout)
    groups = document["groups"]
    assert groups["sex=f"]["people"] == groups["sex=m"]["people"] == len(table) / 2
    crossed = [one["people"] for name, one in groups.items() if "," in name]
    assert sum(crossed) == len(table)
    assert 0 <= groups["sex=f"]["kept"] <= 1 and groups["sex=f"]["promised"] is None
    text = succeed(*args).stdout
    assert "By people" in text and "(few)" in text
    assert "no 'age_group'" in refused(*args[:3], "--by", "age_group")
