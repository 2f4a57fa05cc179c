"""`rocourse evaluate`: the scores of the Python interface."""

import json

import pytest
from tests.applicants import TARGET, make_applicants, trained_model, untrained_model
from tests.command_line import refused, succeed

from rocourse.artifacts import save
from rocourse.evaluation import Plausibility, evaluate_model
from rocourse.schema import Schema


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
    schema = Schema.infer(change(make_applicants()), target=TARGET)
    save(untrained_model(schema=schema), tmp_path / "judge")
    args = ("evaluate", files / "model", files / "a.csv", "--against", tmp_path / "judge")
    assert words in refused(*args)
