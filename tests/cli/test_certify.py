"""`rocourse certify`: what `certify` says, in files, as JSON and on the screen."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.applicants import TARGET, trained_model
from tests.command_line import refused, run, succeed


@pytest.fixture(scope="module")
def told(applicants):
    model = trained_model()
    return model.certify(model.recourse(applicants.drop(columns=TARGET), desired="granted"))


@pytest.mark.parametrize("name", ["c.csv", "c.parquet"])
def test_levels_are_written_beside_the_advice(files, told, tmp_path, name):
    at = float(np.nanmedian(told.level))
    out = tmp_path / name
    text = succeed("certify", files / "model", files / "a.csv", "--at", at, "--out", out).stdout
    table = (pd.read_csv if name.endswith("csv") else pd.read_parquet)(out)
    np.testing.assert_allclose(table["certificate_level"], told.level, rtol=1e-5)
    np.testing.assert_array_equal(table["certificate_holds"], told.level >= at)
    statement = json.loads(table["certificate_statement"][np.isfinite(told.level)].iloc[0])
    assert statement["kind"] == "delta" and statement["covers"].startswith("Every model")
    assert f"{int((told.level >= at).sum())} of them reach" in text
    assert "It says: Every model" in text and "It does not say: " in text


def test_json_has_the_whole_record(files, told):
    options = ("--kind", "sampled", "--delta", "0.001", "--at", "0.9", "--json")
    document = json.loads(succeed("certify", files / "model", files / "a.csv", *options).stdout)
    stored = json.loads((files / "model" / "model.json").read_text())
    statement = document["certificate"]
    assert statement["model"] == stored["digest"] and statement["kind"] == "sampled"
    assert statement["parameters"]["draws"] == 29 and statement["confidence"] == 0.95
    levels = [record["certificate"]["level"] for record in document["records"]]
    assert [level is None for level in levels] == np.isnan(told.level).tolist()
    assert document["certified"] == sum(level is not None and level >= 0.9 for level in levels)


def test_training_rows_come_from_a_file(files):
    options = ("--kind", "ellipsoid", "--reference", files / "a.csv", "--json")
    document = json.loads(succeed("certify", files / "model", files / "a.csv", *options).stdout)
    assert document["certificate"]["parameters"]["rows"] == 80


def test_what_cannot_be_certified_is_refused_in_a_sentence(files, tmp_path):
    args = ("certify", files / "model", files / "a.csv")
    assert "kind must be one of" in refused(*args, "--kind", "magic")
    assert "--reference" in refused(*args, "--kind", "witnesses")
    out = tmp_path / "c.csv"
    assert "between 0 and 1" in refused(*args, "--confidence", 2, "--out", out)
    assert not out.exists()


def test_recourses_are_searched_for_until_they_are_certified(files, told, tmp_path):
    model = files / "model"
    args = ("recourse", model, files / "a.csv", "--certify", "delta", "--at")
    assert "RoCourse or RoCoursePanel" in refused(*args, 0.001)
    result = run("recourse", model, files / "a.csv", "--at", 1)
    assert result.exit_code == 2 and "--certify" in result.stderr
