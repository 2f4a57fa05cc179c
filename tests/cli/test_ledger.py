"""`rocourse ledger`: what is told, what is written, and with which exit code."""

import json
import sqlite3

from tests.command_line import refused, run, succeed
from tests.ledger.making import issue_many

from rocourse.ledger import Ledger


def make(path, number=3):
    with Ledger.open(path) as ledger:
        return issue_many(ledger, number)


def test_a_ledger_verifies_and_one_that_was_changed_does_not(tmp_path):
    path = tmp_path / "ledger.db"
    make(path)
    said = json.loads(succeed("ledger", "verify", path, "--json").stdout)
    assert said["clean"] and (said["promises"], said["erased"], said["events"]) == (3, 0, 3)
    assert said["head"].startswith("1:") and said["faults"] == []
    shown = succeed("ledger", "verify", path, "--head", said["head"]).stdout
    assert f"Head {said['head']}" in shown.replace("\n", " ").replace("  ", " ") or "Head" in shown
    assert "Nothing was changed." in shown
    with sqlite3.connect(path) as file:
        file.execute("DROP TRIGGER ledger_events_no_update")
        file.execute("UPDATE ledger_events SET detail = 'other' WHERE number = 2")
    result = run("ledger", "verify", path)
    assert result.exit_code == 3 and "behind its back" in result.stdout
    result = run("ledger", "verify", path, "--json")
    assert result.exit_code == 3 and json.loads(result.stdout)["number_of_faults"] == 1
    assert run("ledger", "verify", path, "--head", "1:abc").exit_code == 2
    assert "there is none" in refused("ledger", "verify", tmp_path / "none.db")


def test_erasures_are_made_and_told(tmp_path):
    path = tmp_path / "ledger.db"
    ids = make(path)
    done = json.loads(
        succeed(
            "ledger", "erase", path, "--promise", ids[0], "--note", "request 9", "--json"
        ).stdout
    )
    assert (done["promises"], done["kind"], done["note"]) == (1, "erase", "request 9")
    assert "2 promises erased on request" in succeed(
        "ledger", "erase", path, "--subject", "applicant-17"
    ).stdout.replace("\n", " ")
    assert "0 promises were erased" in succeed("ledger", "retain", path, "--days", "3650").stdout
    told = json.loads(succeed("ledger", "erasures", path, "--json").stdout)
    assert [one["promises"] for one in told] == [1, 2]
    assert "request 9" in succeed("ledger", "erasures", path).stdout
    assert "of a subject or of a promise" in refused("ledger", "erase", path)
    assert "UUID" in refused("ledger", "erase", path, "--promise", "nobody")


def test_a_copy_is_private_and_restores(tmp_path):
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.jsonl"
    make(path)
    head = json.loads(succeed("ledger", "backup", path, copy, "--json").stdout)["head"]
    assert copy.stat().st_mode & 0o777 == 0o600
    assert "must be new" in refused("ledger", "backup", path, copy)
    said = json.loads(succeed("ledger", "restore", copy, tmp_path / "new.db", "--json").stdout)
    assert said == {"head": head, "promises": 3, "events": 3}
    assert "empty ledger" in refused("ledger", "restore", copy, tmp_path / "new.db")
    missing = refused("ledger", "restore", tmp_path / "none", tmp_path / "other.db")
    assert "must be a readable file" in missing
    assert not (tmp_path / "other.db").exists()


def test_the_grants_of_a_writer_are_printed_as_sql():
    lines = succeed("ledger", "roles", "desk").stdout.splitlines()
    assert all(line.endswith(";") and '"desk"' in line for line in lines)
    assert "letters, digits" in refused("ledger", "roles", "a b")
