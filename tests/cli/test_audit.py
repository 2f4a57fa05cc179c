"""`rocourse audit`: what is counted, what is written, and how a pipeline is stopped."""

import csv
import json
import sys
from datetime import UTC, datetime, timedelta

import pytest
from tests.applicants import TARGET, make_applicants, trained_model, untrained_model
from tests.command_line import refused, run, succeed

from rocourse.artifacts import model_digest, save
from rocourse.errors import LedgerError
from rocourse.evaluation import audit
from rocourse.ledger import Issue, Ledger, NewPromise
from rocourse.schema import Schema

NOW = datetime(2026, 6, 1, tzinfo=UTC)
AT = ("--at", "2026-06-01")


def write_ledger(path, rows, *, days=10, **changes):
    issued = NOW - timedelta(days=days)
    promises = [
        NewPromise(
            **{
                "subject": f"applicant-{k}",
                "model": "m1",
                "schema_version": "1",
                "row": row,
                "recourse": row,
                "desired": "granted",
                "probability_before": 0.2,
                "probability_after": 0.8,
                "robustness": None,
                "issued_at": issued,
                "expires_at": issued + timedelta(days=365),
                **changes,
            }
        )
        for k, row in enumerate(rows)
    ]
    with Ledger.open(path) as ledger:
        ledger.issue([Issue(promises=promises, fingerprint="f", answer="{}")])
    return path


@pytest.fixture(scope="module")
def rows():
    frame = make_applicants()[["income", "age", "job", "region"]]
    return json.loads(frame.to_json(orient="records"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, rows):
    """The ledgers `l.db` and `empty.db`, the model that was trained and one that was not."""
    folder = tmp_path_factory.mktemp("audit")
    write_ledger(folder / "l.db", rows)
    write_ledger(folder / "empty.db", [])
    save(trained_model(), folder / "model")
    save(untrained_model(seed=3), folder / "other")
    return folder


def document(*args, code=0):
    result = run("audit", *args, "--json")
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)


def test_counts_are_those_of_the_python_interface(folder):
    models = ("--model", folder / "model", "--model", folder / "other")
    found = document(folder / "l.db", *models, *AT)
    with Ledger.open(folder / "l.db") as ledger:
        for path, model, told in zip(
            ("model", "other"),
            (trained_model(), untrained_model(seed=3)),
            found["audits"],
            strict=True,
        ):
            pages = ledger.binding_promises(at=NOW, page=7)
            digest = model_digest(folder / path)
            expected = audit(pages, model, digest=digest, at=NOW, name=str(folder / path))
            wanted = expected.to_dict()
            # They are of numbers that other batches round otherwise, in older releases of JAX.
            worst = [record.pop("worst") for record in (told, wanted)]
            assert told == wanted
            figures = [
                [one.pop(name) for name in ("margin", "probability") for one in broken]
                for broken in worst
            ]
            assert worst[0] == worst[1]
            assert figures[0] == pytest.approx(figures[1], rel=1e-5, abs=1e-6)
    assert found["ledger"] == str(folder / "l.db")
    assert found["required"] is None and found["passed"] is None
    # The rows are those that the model was trained on: it denies some, and grants others.
    assert 0 < found["audits"][0]["total"]["honoured"] < 80


def test_a_pipeline_is_stopped_by_its_exit_code(folder):
    args = (folder / "l.db", "--model", folder / "model", *AT)
    share = document(*args)["audits"][0]["total"]["share"]
    assert document(*args, "--require", share)["passed"] is True
    assert document(*args, "--require", share + 1e-6, code=3)["passed"] is False
    both = (*args, "--model", folder / "other")
    shares = [found["total"]["share"] for found in document(*both)["audits"]]
    assert min(shares) < max(shares)
    assert document(*both, "--require", max(shares), code=3)["passed"] is False
    shown = run("audit", *args, "--require", "1")
    assert shown.exit_code == 3 and shown.stdout.endswith("failed\n")
    assert run("audit", *args, "--require", "1", "--quiet").output == ""


def test_the_screen_shows_counts_ages_and_the_worst(folder):
    text = succeed("audit", folder / "l.db", "--model", folder / "model", *AT).stdout
    assert "promises" in text and "0-30" in text and "m1" in text
    assert text.count("broken: ") == 5 and "broken in all" in text


def test_an_empty_ledger_is_said_so_and_stops_nothing(folder, tmp_path):
    args = (folder / "empty.db", "--model", folder / "model")
    text = succeed("audit", *args, "--require", "1", "--html", tmp_path / "a.html").stdout
    assert text.startswith(f"The ledger {folder / 'empty.db'} has no promises that are owed")
    found = document(*args, "--require", "1")
    assert found["passed"] is True
    assert found["audits"][0]["total"]["share"] is None
    assert "no promises that are owed" in (tmp_path / "a.html").read_text("utf-8")


def test_expired_promises_do_not_count(folder):
    args = (folder / "l.db", "--model", folder / "model", "--at")
    # Issued ten days before, for a year.
    assert document(*args, "2027-05-21")["audits"][0]["total"]["promises"] == 80
    assert document(*args, "2027-05-22T00:00:00+00:00")["audits"][0]["total"]["promises"] == 0
    assert document(*args, "2027-05-22T01:00:00+02:00")["audits"][0]["total"]["promises"] == 80


def test_all_that_is_not_honoured_goes_to_a_file(folder, tmp_path, rows):
    ledger = tmp_path / "l.db"
    write_ledger(ledger, rows)
    write_ledger(ledger, [{**rows[0], "job": "pirate"}], subject='a, "quoted"\nsubject é')
    options = ("--broken", tmp_path / "b.csv", "--html", tmp_path / "a.html", "--list", "2")
    found = document(ledger, "--model", folder / "model", *AT, *options)["audits"][0]
    with (tmp_path / "b.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == found["total"]["broken"] + 1
    assert len(found["worst"]) == 2
    unread = [line for line in lines if line["reason"]]
    assert [line["subject"] for line in unread] == ['a, "quoted"\nsubject é']
    assert unread[0]["margin"] == ""
    margins = [float(line["margin"]) for line in lines if not line["reason"]]
    assert min(margins) == found["worst"][0]["margin"] and max(margins) <= 0
    assert {line["audited"] for line in lines} == {str(folder / "model")}
    assert "applicant-" in (tmp_path / "a.html").read_text("utf-8")


def test_a_model_of_another_schema_reads_nothing_and_says_why(folder, tmp_path):
    without = make_applicants().drop(columns="region")
    gone = untrained_model(schema=Schema.infer(without, target=TARGET, favourable="granted"))
    renamed = make_applicants(classes=("no", "yes"))
    save(gone, tmp_path / "gone")
    save(untrained_model(frame=renamed), tmp_path / "renamed")
    for path, reason in (
        ("gone", "column 'region' is in the promise, but not in the model"),
        ("renamed", "class 'granted' is none of the model's classes"),
    ):
        args = (folder / "l.db", "--model", tmp_path / path, *AT)
        found = document(*args, "--require", "0.1", code=3)["audits"][0]
        assert found["unreadable"] == {reason: 80}
        assert found["total"]["unreadable"] == 80 and found["total"]["share"] == 0
        assert f"unreadable: 80 because {reason}" in succeed("audit", *args).stdout


def test_numbers_out_of_range_are_judged_in_silence_unless_the_model_refuses_them(
    folder, tmp_path, rows
):
    ledger = write_ledger(tmp_path / "l.db", [{**rows[0], "income": 1e6}])
    result = succeed("audit", ledger, "--model", folder / "model", *AT)
    assert result.stderr == ""
    strict = untrained_model().set_params(out_of_range="error")
    save(strict, tmp_path / "strict")
    found = document(ledger, "--model", tmp_path / "strict", *AT)["audits"][0]
    assert found["total"]["unreadable"] == 1
    assert "the model refuses the row" in next(iter(found["unreadable"]))


@pytest.mark.parametrize("address", ["none.db", "sqlite:///none.db"])
def test_a_ledger_that_is_not_there_is_not_made(folder, tmp_path, monkeypatch, address):
    monkeypatch.chdir(tmp_path)
    expected = "Ledger 'none.db' must be there already, but there is none; check the path."
    assert refused("audit", address, "--model", folder / "model") == expected
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "none.db").touch()
    assert refused("audit", address, "--model", folder / "model") == expected
    assert (tmp_path / "none.db").read_bytes() == b""


def test_other_failures_are_told_in_one_line(folder, tmp_path):
    model = ("--model", folder / "model")
    assert "must be a file, but it is a directory" in refused("audit", folder, *model)
    assert "nothing is there" in refused("audit", folder / "l.db", "--model", tmp_path / "none")
    assert "scheme 'mysql'" in refused("audit", "mysql://host/name", *model)
    assert "File name too long" in refused("audit", "x" * 5000, *model)
    (tmp_path / "a.html").touch()
    out = ("--html", tmp_path / "a.html")
    assert "must be new" in refused("audit", folder / "l.db", *model, *out)
    succeed("audit", folder / "l.db", *model, *out, "--force")


@pytest.mark.parametrize(
    "options",
    [
        ("--require", "1.5"),
        ("--require", "nan"),
        ("--require", "most"),
        ("--at", "yesterday"),
        ("--list", "-1"),
        ("--html", "a.csv", "--broken", "a.csv"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(folder, options):
    result = run("audit", folder / "l.db", "--model", folder / "model", *options)
    assert result.exit_code == 2 and result.stdout == ""


def test_without_a_model_there_is_nothing_to_audit(folder):
    assert run("audit", folder / "l.db").exit_code == 2


def test_a_failure_leaves_nothing_half_written(folder, tmp_path, monkeypatch):
    pages = Ledger.promised_rows

    def fail_later(self, **asked):
        yield next(pages(self, **asked | {"page": 50}))
        raise LedgerError("A ledger must answer, but this one does not; try again.")

    monkeypatch.setattr(Ledger, "promised_rows", fail_later)
    out = tmp_path / "new" / "b.csv"
    options = ("--broken", out, "--html", tmp_path / "a.html")
    message = refused("audit", folder / "l.db", "--model", folder / "model", *AT, *options)
    assert "must answer" in message
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_hint_says_what_to_install(folder, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("rocourse.ledger")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    message = refused("audit", folder / "l.db", "--model", folder / "model")
    assert "sqlalchemy" in message and "pip install 'rocourse[serve]'" in message


def test_no_cell_of_the_file_is_a_formula(folder, tmp_path, rows):
    evil = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "-5", "A-1017"]
    for k, subject in enumerate(evil):
        lost = {**rows[k], "job": "unheard of"}
        write_ledger(tmp_path / "l.db", [rows[k]], subject=subject, recourse=lost)
    out = tmp_path / "broken.csv"
    succeed("audit", tmp_path / "l.db", "--model", folder / "model", *AT, "--broken", out)
    with out.open(newline="") as file:
        subjects = [line["subject"] for line in csv.DictReader(file)]
    assert sorted(subjects) == sorted([*(f"'{text}" for text in evil[:4]), *evil[4:]])


def test_broken_promises_do_not_vanish_from_the_next_gate(tmp_path, folder, rows):
    """Eight of ten were broken by a model; the next one is judged by all ten."""
    path = write_ledger(tmp_path / "l.db", rows[:10])
    with Ledger.open(path) as ledger:
        ids = sorted(p.id for page in ledger.binding_promises(at=NOW) for p in page)
        for id in ids[:8]:
            ledger.record(id, "broken", model="m2", at=NOW)
        ledger.record(ids[9], "redeemed", model="m2", at=NOW - timedelta(days=2))
    command = ("audit", path, "--model", folder / "model", *AT, "--json")
    [found] = json.loads(succeed(*command).stdout)["audits"]
    assert found["total"]["promises"] == 9
    assert {key: part["promises"] for key, part in found["by_status"].items()} == {
        "broken": 8,
        "open": 1,
    }
    for since, judged in (("2026-05-29", 10), ("2026-05-31", 9)):
        [found] = json.loads(succeed(*command, "--since", since).stdout)["audits"]
        assert found["total"]["promises"] == judged
    [found] = json.loads(succeed(*command, "--tenant", "nobody").stdout)["audits"]
    assert found["total"]["promises"] == 0
    assert "broken" in succeed(*command[:-1]).stdout


def test_a_forecast_comes_before_the_model_and_is_scored_after_it(folder, tmp_path):
    table = make_applicants()
    table.to_csv(tmp_path / "train.csv", index=False)
    out = tmp_path / "forecast.json"
    args = ("audit", folder / "l.db", "--model", folder / "model", *AT)
    options = ("--forecast", "--reference", tmp_path / "train.csv", "--by", "job", "--out", out)
    text = succeed(*args, *options).stdout
    stored = json.loads(out.read_text())
    assert stored["witnesses"] == 59 and stored["models"] == 0.95
    assert 0 <= stored["total"]["low"] <= stored["total"]["expected"] <= 1
    assert f"{stored['total']['low']:.1%}" in text and "It does not say" in text
    found = succeed(*args, "--by", "job", "--against", out, "--json").stdout
    document = json.loads(found)
    (score,), (report,) = document["scores"], document["audits"]
    assert score["honoured"] == report["total"]["share"]
    assert set(score["by_segment"]) == set(report["by_segment"]) == set(stored["by_segment"])
    counts = report["by_segment"].values()
    assert sum(one["promises"] for one in counts) == report["total"]["promises"]
    page = tmp_path / "audit.html"
    text = succeed(*args, "--by", "job", "--against", out, "--html", page).stdout
    assert "by people" in text and "Forecast for" in text
    assert "By people" in page.read_text()


def test_forecasts_are_asked_for_in_one_way(folder, tmp_path):
    args = ("audit", folder / "l.db", "--model", folder / "model")
    assert run(*args, "--out", tmp_path / "f.json").exit_code == 2
    assert run(*args, "--forecast", "--against", tmp_path / "f.json").exit_code == 2
    assert "witnesses of its own" in refused(*args, "--forecast")
    (tmp_path / "f.json").write_text("{}")
    assert "that --forecast wrote" in refused(*args, "--against", tmp_path / "f.json")
