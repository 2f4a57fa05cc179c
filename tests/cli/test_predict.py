"""`rocourse predict`: the answers of the Python interface, in files and on the screen."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.applicants import TARGET, trained_model
from tests.command_line import refused, succeed


@pytest.fixture(scope="module")
def expected(applicants):
    return trained_model().predict_proba(applicants.drop(columns=TARGET))


def check(table, expected):
    assert list(table.columns) == ["row", "predicted", "probability_denied", "probability_granted"]
    # To the last place, but for what pandas 2 makes of a CSV file.
    np.testing.assert_allclose(table.iloc[:, 2:].to_numpy(), expected, rtol=1e-12)
    labels = np.array(["denied", "granted"])[expected.argmax(axis=1)]
    assert table["predicted"].tolist() == labels.tolist()
    assert table["row"].tolist() == list(range(len(expected)))


@pytest.mark.parametrize("source", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("out", ["p.csv", "p.parquet"])
def test_predictions_are_written(files, expected, tmp_path, source, out):
    result = succeed("predict", files / "model", files / source, "--out", tmp_path / out)
    assert str(tmp_path / out) in result.stdout
    read = pd.read_csv if out.endswith("csv") else pd.read_parquet
    check(read(tmp_path / out), expected)


def test_json_holds_all_predictions_and_nothing_else(files, expected):
    result = succeed("predict", files / "model", files / "a.csv", "--json")
    check(pd.DataFrame(json.loads(result.stdout)["predictions"]), expected)
    assert result.stderr == ""


def test_the_screen_shows_the_first_rows(files):
    text = succeed("predict", files / "model", files / "a.csv").stdout
    assert "probability_granted" in text
    assert "… and 60 more rows: write all of them with --out" in text


def test_quiet_prints_nothing(files):
    assert succeed("predict", files / "model", files / "a.csv", "--quiet").output == ""


def test_columns_are_taken_by_name(files, applicants, expected, tmp_path):
    path = tmp_path / "b.csv"
    applicants[applicants.columns[::-1]].drop(columns=TARGET).to_csv(path, index=False)
    result = succeed("predict", files / "model", path, "--json")
    check(pd.DataFrame(json.loads(result.stdout)["predictions"]), expected)


def test_columns_beside_the_features_are_not_looked_at(files, applicants, expected, tmp_path):
    path = tmp_path / "b.csv"
    applicants.assign(id=range(80), note="x").to_csv(path, index=False)
    for more in ((), ("--drop", "id,note")):
        result = succeed("predict", files / "model", path, "--json", *more)
        check(pd.DataFrame(json.loads(result.stdout)["predictions"]), expected)


def test_labels_of_stored_rows_are_kept(files, applicants, tmp_path):
    path = tmp_path / "b.parquet"
    applicants.head(3).set_axis(["ann", "bob", "cem"], axis=0).to_parquet(path)
    result = succeed("predict", files / "model", path, "--json")
    labels = [record["row"] for record in json.loads(result.stdout)["predictions"]]
    assert labels == ["ann", "bob", "cem"]


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_on_stderr(files, applicants, tmp_path):
    path = tmp_path / "b.csv"
    applicants.assign(income=500.0).to_csv(path, index=False)
    result = succeed("predict", files / "model", path, "--json")
    assert result.stderr.startswith("warning: Values outside the range")
    assert result.stderr.count("\n") == 1
    json.loads(result.stdout)
    assert succeed("predict", files / "model", path, "--quiet").output == ""


def test_an_output_of_another_kind_is_refused(files, tmp_path):
    out = tmp_path / "p.xlsx"
    sentence = refused("predict", files / "model", files / "a.csv", "--out", out)
    assert "must end in .csv or .parquet, but it ends in '.xlsx'" in sentence
