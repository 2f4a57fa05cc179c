"""`rocourse notice`: a letter for each refused applicant, of rows or of promises."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.applicants import TARGET, trained_model
from tests.command_line import refused, run, succeed

from rocourse.ledger import Issue, Ledger, NewPromise, new_id

AGE = '[features.age]\nreason = { en = "Your age ({value})." }\n'


@pytest.fixture
def lender(tmp_path):
    path = tmp_path / "lender.toml"
    path.write_text(f'[lender]\nname = "Sample Bank"\nreviewed = "us"\n{AGE}')
    return path


def test_every_refused_row_gets_a_letter(files, applicants, lender, tmp_path):
    denied = (trained_model().predict(applicants.drop(columns=TARGET)) == "denied").sum()
    args = ("notice", files / "model", files / "a.csv", "--lender", lender, "--valid-days", 90)
    out = tmp_path / "letters"
    document = json.loads(succeed(*args, "--format", "text,html", "--out", out, "--json").stdout)
    assert len(document["letters"]) == 2 * denied and document["withheld"] == []
    assert sorted(document["letters"]) == sorted(path.name for path in out.iterdir())
    text = next(out.glob("*.txt")).read_text()
    assert "Sample Bank" in text and "DRAFT" not in text and "1. " in text
    assert "holds files" in refused(*args, "--out", out)


def test_letters_that_name_a_protected_attribute_are_withheld(
    files, applicants, tmp_path, monkeypatch
):
    # As if income were one: it is among the reasons of some rows.
    monkeypatch.setattr("rocourse.reasons._record.is_protected", "income".__eq__)
    told = trained_model().reasons(applicants.drop(columns=TARGET)).principal()
    named = sum(any(one.protected for one in row) for row in told)
    out = tmp_path / "letters"
    result = succeed("notice", files / "model", files / "a.csv", "--out", out)
    # A few are told, and how many there are.
    assert result.stderr.count("withheld: ") == 5 < named
    assert f"… and {named - 5} more; --json names all" in result.stderr
    assert f"{named} letters withheld" in result.stdout
    # What is told to be added is enough.
    own = result.stderr.partition("[features.income]")
    (tmp_path / "lender.toml").write_text("".join(own[1:]))
    result = succeed(
        "notice",
        files / "model",
        files / "a.csv",
        "--out",
        tmp_path / "all",
        "--lender",
        tmp_path / "lender.toml",
    )
    assert "0 letters withheld" in result.stdout
    assert len(list(out.glob("*"))) == sum(map(bool, told)) - named


def test_a_promise_of_a_ledger_gets_its_letter(files, applicants, lender, tmp_path):
    digest = json.loads((files / "model" / "model.json").read_text())["digest"]
    row = applicants[trained_model().predict(applicants.drop(columns=TARGET)) == "denied"].iloc[0]
    row = {"income": float(row.income), "age": int(row.age), "job": row.job, "region": row.region}
    now = datetime.now(UTC)
    promise = NewPromise(
        subject="A-17",
        model=digest,
        schema_version="1",
        row=row,
        recourse={**row, "income": 88.0},
        desired="granted",
        probability_before=0.2,
        probability_after=0.9,
        robustness=None,
        issued_at=now,
        expires_at=now + timedelta(days=100),
    )
    with Ledger.open(tmp_path / "l.db") as ledger:
        ledger.issue([Issue(promises=[promise], fingerprint="f", answer="{}")])
    asked = ("--ledger", tmp_path / "l.db", "--promise", promise.id, "--lender", lender)
    out = tmp_path / "letters"
    succeed("notice", files / "model", *asked, "--format", "text", "--out", out)
    text = (out / "A-17.txt").read_text()
    assert f"Reference of this promise: {promise.id}" in text and "Income: 88" in text
    other = replace(promise, id=new_id(), model="f" * 64)
    with Ledger.open(tmp_path / "l.db") as ledger:
        ledger.issue([Issue(promises=[other], fingerprint="g", answer="{}")])
    asked = ("--ledger", tmp_path / "l.db", "--promise", other.id)
    said = refused("notice", files / "model", *asked, "--out", tmp_path / "others")
    assert "with the model that decided" in said


def test_what_cannot_be_asked_for_is_said(files, tmp_path):
    args = ("notice", files / "model", files / "a.csv", "--out", tmp_path / "letters")
    assert run(*args, "--format", "doc").exit_code == 2
    assert run(*args, "--promise", "x").exit_code == 2
    assert "one of en, de" in refused(*args, "--language", "fr")
