"""`rocourse recourse`: the advice of the Python interface, in files and in words."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.applicants import TARGET, make_applicants, trained_model, untrained_model
from tests.command_line import refused, run, succeed

from rocourse.artifacts import save
from rocourse.schema import Schema

RECORD = [
    "row",
    "status",
    "predicted",
    "desired",
    "probability",
    "proximity",
    "features_changed",
    "cost",
]


@pytest.fixture(scope="module")
def rows(applicants):
    return applicants.drop(columns=TARGET)


@pytest.fixture(scope="module")
def expected(rows):
    return trained_model().recourse(rows, desired="granted")


@pytest.mark.parametrize("source", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("out", ["r.csv", "r.parquet"])
def test_advice_is_written(files, rows, expected, tmp_path, source, out):
    result = succeed("recourse", files / "model", files / source, "--out", tmp_path / out)
    read = pd.read_csv if out.endswith("csv") else pd.read_parquet
    table = read(tmp_path / out)
    assert list(table.columns) == [*RECORD, *rows.columns, "changes", "imputed"]
    pd.testing.assert_frame_equal(table[list(rows.columns)], expected.frame())
    assert table["status"].tolist() == expected.status.tolist()
    assert {"found", "not_needed"} <= set(table["status"])
    assert set(table["desired"]) == {"granted"}
    for name in ("probability", "proximity", "features_changed"):
        # Half a unit in the last place, as pandas 2 reads CSV files.
        np.testing.assert_allclose(table[name], getattr(expected, name), rtol=1e-15)
    found = int((expected.status == "found").argmax())
    assert table["changes"][found] == "; ".join(expected.describe(found))
    assert str(tmp_path / out) in result.stdout


def test_json_holds_the_records(files, expected):
    result = succeed("recourse", files / "model", files / "a.csv", "--json")
    document = json.loads(result.stdout)
    assert document["records"] == expected.to_records()
    assert document["rows"] == 80
    assert document["found"] == (expected.status == "found").sum()
    assert result.stderr == ""


def test_the_screen_tells_the_first_advice_in_words(files, expected):
    text = succeed("recourse", files / "model", files / "a.csv").stdout
    found = int((expected.status == "found").argmax())
    assert f"row {found}: denied → granted" in text
    assert f"  {expected.describe(found)[0]}\n" in text
    assert "Advice found for" in text


def test_quiet_prints_nothing(files):
    assert succeed("recourse", files / "model", files / "a.csv", "--quiet").output == ""


def test_flip_asks_for_the_other_class(files, rows):
    result = succeed("recourse", files / "model", files / "a.csv", "--flip", "--json")
    assert json.loads(result.stdout)["records"] == trained_model().recourse(rows).to_records()


def test_a_desired_class_can_be_named(files, rows):
    args = ("recourse", files / "model", files / "a.csv", "--desired")
    result = succeed(*args, "denied", "--json")
    asked = trained_model().recourse(rows, desired="denied")
    assert json.loads(result.stdout)["records"] == asked.to_records()
    assert "must be one of 'denied', 'granted', but got 'yes'" in refused(*args, "yes")


@pytest.mark.parametrize(
    ("classes", "text", "label"),
    [((0, 1), "0", 0), ((0.0, 1.0), "1", 1.0), ((False, True), "False", False)],
)
def test_a_desired_class_need_not_be_text(files, tmp_path, classes, text, label):
    save(untrained_model(frame=make_applicants(classes=classes)), tmp_path / "model")
    data = files / "a.csv"
    drop = ("--drop", "loan") if label is None else ()
    result = succeed("recourse", tmp_path / "model", data, "--desired", text, "--json", *drop)
    desired = {record["desired"] for record in json.loads(result.stdout)["records"]}
    assert desired == {label} and type(desired.pop()) is type(label)


def test_flip_and_desired_exclude_each_other(files):
    result = run("recourse", files / "model", files / "a.csv", "--flip", "--desired", "denied")
    assert result.exit_code == 2


def test_many_classes_ask_for_the_favourable_one(files):
    result = succeed("recourse", files / "three", files / "a.csv", "--json")
    assert {record["desired"] for record in json.loads(result.stdout)["records"]} == {"none"}


def test_categories_that_look_like_numbers_or_gaps_stay_text(tmp_path):
    frame = make_applicants().replace({"job": {"full": "1", "none": "None", "part": "2"}})
    save(
        untrained_model(schema=Schema.infer(frame, target=TARGET, favourable="granted")),
        tmp_path / "model",
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    succeed("recourse", tmp_path / "model", tmp_path / "a.csv", "--out", tmp_path / "r.csv")
    advice = pd.read_csv(tmp_path / "r.csv", dtype={"job": "str"}, keep_default_na=False)
    assert set(advice["job"]) <= {"1", "2", "None"}


def test_options_are_lines_and_records(files, rows, tmp_path):
    expected = trained_model().recourse(
        rows, desired="granted", options=3, wishes={"lock": ["age"]}
    )
    wished = ("--options", "3", "--lock", "age")
    out = tmp_path / "options.csv"
    succeed("recourse", files / "model", files / "a.csv", *wished, "--out", out)
    table = pd.read_csv(out)
    assert list(table.columns[:3]) == ["row", "option", "status"]
    assert set(table["row"]) == set(range(len(rows)))
    for row, lines in table.groupby("row"):
        there = sum(option.advised[row] for option in expected.options)
        assert lines["option"].tolist() == list(range(1, max(there, 1) + 1))
        np.testing.assert_allclose(
            lines["proximity"], [expected.options[k].proximity[row] for k in range(len(lines))]
        )
    result = succeed("recourse", files / "model", files / "a.csv", *wished, "--json")
    assert json.loads(result.stdout)["records"] == expected.to_records()


@pytest.mark.parametrize("in_file", [False, True])
def test_wishes_are_kept(files, rows, tmp_path, in_file):
    wished = ("--range", "income=50..", "--range", "job=full,part", "--prefer", "income")
    if in_file:
        each = {"ranges": {"income": [50, None], "job": ["full", "part"]}, "prefer": ["income"]}
        (tmp_path / "wishes.json").write_text(json.dumps([each] * len(rows)))
        wished = ("--wishes", tmp_path / "wishes.json")
    result = succeed("recourse", files / "model", files / "a.csv", *wished, "--json")
    wishes = {"ranges": {"income": (50, None), "job": ("full", "part")}, "prefer": ["income"]}
    expected = trained_model().recourse(rows, desired="granted", wishes=wishes)
    assert json.loads(result.stdout)["records"] == expected.to_records()
    advised = expected.frame()[expected.advised]
    assert len(advised)
    assert (advised["income"] >= 50).all()
    assert set(advised["job"]) <= {"full", "part"}


@pytest.mark.parametrize(
    ("wished", "said"),
    [
        (("--range", "income"), "--range must be COL=LOW..HIGH"),
        (("--range", "income=much.."), "--range of 'income' must be LOW..HIGH"),
        (("--range", "income=1.."), "can only narrow"),
        (("--range", "job=boss"), "--range of 'job' must name some of"),
        (("--lock", "salary"), "no feature 'salary'"),
        (("--wishes", "nowhere.json"), "--wishes must be a readable file of JSON"),
        (("--wishes", "nowhere.json", "--lock", "age"), "--wishes must come without"),
    ],
)
def test_wrong_wishes_are_refused(files, wished, said):
    assert said in refused("recourse", files / "model", files / "a.csv", *wished)


def test_proofs_are_told_where_nothing_is_found(tmp_path):
    frame = make_applicants()
    # Nothing but the region may change, which says little.
    still = ["income", "age", "job"]
    schema = Schema.infer(frame, target=TARGET, favourable="granted", immutable=still)
    model = trained_model()
    asked = untrained_model(schema=schema)
    asked.model_, asked.network_ = model.model_, model.network_
    asked.__dict__.pop("_advisor", None)
    save(asked, tmp_path / "model")
    frame.drop(columns=TARGET).to_csv(tmp_path / "a.csv", index=False)
    args = ("recourse", tmp_path / "model", tmp_path / "a.csv", "--prove", "--loosen", "job,income")
    document = json.loads(succeed(*args, "--json").stdout)
    unfound = [record for record in document["records"] if record["status"] == "not_found"]
    assert unfound and document["proved_none"] == len(unfound)
    assert {record["proof"] for record in unfound} == {"none exists"}
    rules = {rule["feature"] for r in unfound if r["loosen"] for rule in r["loosen"]["rules"]}
    assert rules and rules <= {"job", "income"}
    text = succeed(*args, "--out", tmp_path / "r.csv").stdout
    assert f"Proved for {len(unfound)} of {len(unfound)} rows without advice" in text
    table = pd.read_csv(tmp_path / "r.csv", keep_default_na=False)
    assert (table["proof"] == "none exists").sum() == len(unfound)
    assert table["loosen"].str.contains("would be enough").any()


def test_loosen_goes_with_prove(files):
    result = run("recourse", files / "model", files / "a.csv", "--loosen", "job")
    assert result.exit_code == 2
