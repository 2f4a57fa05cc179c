"""A table as it comes: gaps, dates, ids, notes, and rows without a class; two commands."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.applicants import TINY
from tests.command_line import assignments, refused, succeed

from rocourse.artifacts import load
from rocourse.schema import Schema
from rocourse.tables import read_rows

TARGET = ("--target=paid", "--favourable=yes")
QUICK = ("--method=rocoursenet", *assignments({**TINY, "trainer__epochs": 40}))


def messy_table(n=90):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "number": [f"{k:04}" for k in range(n)],
            "income": rng.integers(20, 90, n),
            "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), "D"),
            "job": rng.choice(["clerk", "chef", "judge"], n),
            "debts": rng.choice(["None", "bank", "shop"], n),
            "notes": [f"came by on a {k}" for k in range(n)],
        }
    )
    table["paid"] = np.where(table["income"] + rng.normal(0, 9, n) > 50, "yes", "no")
    table = table.astype({"income": object, "since": str, "job": object, "paid": object})
    for column, count in (("income", 11), ("since", 7), ("job", 9), ("debts", 5), ("paid", 4)):
        table.loc[rng.choice(n, count, replace=False), column] = "NA"
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messy")
    messy_table().to_csv(folder / "messy.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def trained(folder):
    args = (*TARGET, "--id=number", "--drop=notes", *QUICK, "--out", folder / "model")
    return succeed("train", folder / "messy.csv", *args)


def test_training_says_what_was_done(folder, trained):
    assert "paid: 4 of 90 missing; these rows are left out" in trained.stdout
    table = messy_table()
    table = table[table["paid"] != "NA"]
    income = pd.to_numeric(table["income"], errors="coerce")
    missing = int(income.isna().sum())
    fill = int(np.rint(income.median()))
    assert f"income: {missing} of 86 missing, read as {fill} (median)" in trained.stdout
    dates = pd.to_datetime(table["since"], errors="coerce")
    assert (
        f"since: {dates.isna().sum()} of 86 missing, read as {dates.median():%Y-%m-%d} (median)"
        in (trained.stdout)
    )
    gaps = (table["job"] == "NA").sum()
    assert f"job: {gaps} of 86 missing, a category of its own" in trained.stdout
    schema = load(folder / "model").schema_
    assert schema.names == ("income", "since", "job", "debts")
    assert (schema.id, schema.ignored) == ("number", ("notes",))
    assert schema["income"].integer and schema["since"].date
    # A word that people want; "NA" is none.
    assert schema["debts"].categories == ("None", "bank", "shop")


def test_advice_needs_no_second_preparation(folder, trained):
    out = folder / "advice.csv"
    result = succeed("recourse", folder / "model", folder / "messy.csv", "--out", out, "--json")
    records = json.loads(result.stdout)["records"]
    table, advice = messy_table(), pd.read_csv(out, dtype=str, keep_default_na=False)
    assert list(advice.columns[:2]) == ["number", "row"]
    assert advice["number"].tolist() == table["number"].tolist() == [r["id"] for r in records]
    assert advice["imputed"].tolist() == ["; ".join(record["imputed"]) for record in records]
    for k, record in enumerate(records):
        gaps = [name for name in ("income", "since") if table[name][k] == "NA"]
        assert record["imputed"] == gaps
        changed = {change["feature"]: change for change in record["changes"]}
        for name in ("income", "since", "job", "debts"):
            given = "" if table[name][k] == "NA" else str(table[name][k])
            if name in changed:
                told = changed[name]
                assert advice[name][k] == str(told["to"]) not in ("", "NA")
                assert str(told["from"] or "") == given
                assert f"{name}: {given or 'missing'} → {told['to']}" in advice["changes"][k]
            else:
                # As it stands in the file: only numbers are written anew.
                assert advice[name][k] in (given, str(table[name][k]))
    assert {record["status"] for record in records} >= {"found", "not_needed"}


def test_a_single_row_is_advised_as_in_the_file(folder, trained):
    model = load(folder / "model")
    rows = messy_table().drop(columns="paid")
    frame = read_rows(folder / "messy.csv", schema=model.schema_, drop=None)
    together = model.recourse(frame, desired="yes").to_records()
    for k, row in enumerate(rows.to_dict("records")):
        if row["income"] != "NA":
            row["income"] = int(row["income"])
        alone = model.recourse_one(row, desired="yes")
        assert alone["imputed"] == together[k]["imputed"]
        assert alone["changes"] == together[k]["changes"]
        assert alone["probability"] == pytest.approx(together[k]["probability"], abs=1e-4)


def test_predictions_and_scores_read_the_same_table(folder, trained):
    result = succeed("predict", folder / "model", folder / "messy.csv", "--json")
    predictions = json.loads(result.stdout)["predictions"]
    assert [line["number"] for line in predictions] == messy_table()["number"].tolist()
    result = succeed("evaluate", folder / "model", folder / "messy.csv", "--json")
    assert json.loads(result.stdout)["scores"]["rows"] == 86


def test_another_id_may_be_named_and_a_strange_one_is_refused(folder, trained):
    args = (folder / "model", folder / "messy.csv", "--json")
    records = json.loads(succeed("recourse", *args, "--id=notes").stdout)["records"]
    assert records[7]["id"] == "came by on a 7"
    assert "(did you mean 'notes'?)" in refused("recourse", *args, "--id=note")


def test_a_needed_column_is_asked_for(folder, trained, tmp_path):
    messy_table().rename(columns={"income": "incomes"}).to_csv(tmp_path / "t.csv", index=False)
    told = refused("recourse", folder / "model", tmp_path / "t.csv")
    assert "Column 'income' is in the schema but missing" in told
    assert "rename 'incomes'" in told


def test_words_for_gaps(folder, tmp_path):
    data, out = folder / "messy.csv", tmp_path / "schema.json"
    infer = ("schema", "infer", data, *TARGET, "--drop=notes,number")
    shown = succeed(*infer, "--missing=drop", "--missing=job=category", "--out", out)
    assert "these rows are left out" in shown.stdout
    features = {feature["name"]: feature for feature in json.loads(out.read_text())["features"]}
    assert features["income"]["missing"] == "drop"
    assert features["job"]["missing"] == "category"
    args = ("--target=paid", "--schema", out, *QUICK, "--out", tmp_path / "model")
    report = json.loads(succeed("train", data, *args, "--json").stdout)
    kept = messy_table()[["income", "since", "debts", "paid"]]
    assert report["rows"] == (kept != "NA").all(axis=1).sum()
    told = refused("recourse", tmp_path / "model", data)
    assert "fill them or leave such rows out" in told
    assert "--missing must be WORD or COL=WORD" in refused(*infer, "--missing=guess")
    assert "one word for the table" in refused(*infer, "--missing=drop", "--missing=impute")
    assert "must come without --schema" in refused(
        "train", data, *args, "--force", "--missing=drop"
    )


def test_bounds_may_be_dates(folder, tmp_path):
    out = tmp_path / "schema.json"
    succeed(
        "schema",
        "infer",
        folder / "messy.csv",
        *TARGET,
        "--drop=notes,number",
        "--bounds=since=2010-01-01:",
        "--out",
        out,
    )
    features = {feature["name"]: feature for feature in json.loads(out.read_text())["features"]}
    assert features["since"]["bounds"] == ["2010-01-01", None]


def test_what_is_dropped_for_safety_is_remembered(folder, tmp_path):
    data, out = folder / "messy.csv", tmp_path / "schema.json"
    args = ("schema", "infer", data, *TARGET, "--drop=notes", "--fix=safe", "--out", out)
    told = succeed(*args).stderr
    assert "fixed: 'number' left out (id)" in told
    assert "fixed: 'since' made immutable (date)" in told
    schema = Schema.load(out)
    assert (schema.id, schema.ignored) == (None, ("notes", "number"))
    assert schema["since"].immutable
    # The table as it is goes with the schema; a column that nobody decided about does not.
    args = (*TARGET, "--schema", out, *QUICK, "--out", tmp_path / "model")
    succeed("train", data, *args)
    messy_table().assign(more=1).to_csv(tmp_path / "more.csv", index=False)
    told = refused("train", tmp_path / "more.csv", *args, "--force")
    assert "--drop more" in told.replace("\n", " ")


def test_what_is_said_of_gaps_and_ids_is_not_asked_again(folder):
    said = ("--target=paid", "--favourable=yes", "--drop=notes", "--id=number", "--missing=impute")
    shown = succeed("check", folder / "messy.csv", *said, "--json")
    kinds = {finding["kind"] for finding in json.loads(shown.stdout)["findings"]}
    assert not kinds & {"missing", "id"}


def coded_table():
    """Years that are -999 where nobody knows, "?" among numbers, and a word for a gap."""
    rng = np.random.default_rng(8)
    table = messy_table()[["number", "job", "paid"]].replace({"job": {"NA": "unknown"}})
    income = rng.integers(20, 90, len(table))
    table["income"] = np.where(rng.random(len(table)) < 0.1, "?", income.astype(str))
    table["years"] = np.where(rng.random(len(table)) < 0.2, -999, rng.integers(0, 30, len(table)))
    table["paid"] = np.where(income + table["years"].clip(0) > 65, "yes", "no")
    return table


def test_codes_for_missing_values_are_never_told(tmp_path):
    table, data, out = coded_table(), tmp_path / "coded.csv", tmp_path / "advice.csv"
    table.to_csv(data, index=False)
    asked = (data, *TARGET, "--id=number")
    told = refused("train", *asked, "--out", tmp_path / "model")
    assert "have them read as missing with --missing-code 'income=?'" in told
    codes = ("--missing-code=?", "--missing-code=job=unknown", "--missing-code=years=-999")
    check = json.loads(succeed("check", *asked, *codes, "--json").stdout)
    assert not {"bad cells", "missing code"} & {finding["kind"] for finding in check["findings"]}
    trained = succeed("train", *asked, *codes, *QUICK, "--out", tmp_path / "model")
    assert f"years: {(table['years'] == -999).sum()} of 90 missing, read as" in trained.stdout
    model = load(tmp_path / "model")
    assert model.schema_["years"].low >= 0 and model.schema_["income"].integer
    assert "unknown" not in model.schema_["job"].categories
    # Nothing has to be said again.
    succeed("recourse", tmp_path / "model", data, "--out", out)
    told = pd.read_csv(out, dtype=str, keep_default_na=False)
    advised = told["status"].isin(["found", "found_unsure"])
    assert advised.any() and not told[advised].isin(["-999", "?", "unknown"]).any(axis=None)
    filled = told[advised & (table["years"] == -999)]["changes"]
    assert not filled.str.contains("-999").any()
    rows = table.drop(columns=["number", "paid"])
    rows["income"] = [None if cell == "?" else int(cell) for cell in rows["income"]]
    together = model.recourse(rows, desired="yes").to_records()
    for row, record in zip(rows.to_dict("records"), together, strict=True):
        alone = model.recourse_one(row, desired="yes")
        assert alone["imputed"] == record["imputed"] and alone["changes"] == record["changes"]
        if row["years"] == -999:
            assert "years" in record["imputed"]
    wrong = refused("train", *asked, "--missing-code=yeers=-999", "--out", tmp_path / "m")
    assert "--missing-code must be VALUE or COL=VALUE" in wrong and "did you mean 'years'" in wrong
