"""The end of a test run says what was skipped, and some things may not be."""

import os
import subprocess
import sys
from types import SimpleNamespace

from tests.ledger.postgres import why_missing
from tests.skipped import NEEDED, must_not_be_skipped, tell_skipped


def skip(nodeid, reason):
    return SimpleNamespace(nodeid=nodeid, longrepr=("a.py", 1, f"Skipped: {reason}"))


def test_each_reason_is_a_line_with_its_tests_and_their_folders():
    told = tell_skipped(
        [
            skip("tests/ledger/test_a.py::test_one", "no server"),
            skip("tests/ledger/test_b.py::test_two[postgres]", "no server"),
            skip("tests/service/test_c.py::test_three", "no server"),
            skip("tests/test_d.py::test_four", "no browser"),
        ]
    )
    assert told == [
        "skipped 3 tests in tests/ledger, tests/service: no server",
        "skipped 1 test in tests: no browser",
    ]


def test_a_module_that_two_processes_skip_is_counted_once():
    told = tell_skipped(2 * [skip("tests/service/test_c.py", "no client")])
    assert told == ["skipped 1 module in tests/service: no client"]


def test_without_skipped_tests_nothing_is_told():
    assert tell_skipped([]) == []


def test_what_a_run_must_have_is_told_from_what_it_may_lack():
    told = must_not_be_skipped(
        [
            skip("tests/ledger/test_a.py::test_one", "PostgreSQL is not installed: initdb"),
            skip("tests/page/test_b.py::test_two", "the page is tested in chromium: missing"),
            skip("tests/test_c.py::test_three", "root may write anywhere"),
        ]
    )
    assert told == [
        "skipped 1 test in tests/ledger: PostgreSQL is not installed: initdb",
        "skipped 1 test in tests/page: the page is tested in chromium: missing",
    ]


def test_without_a_server_continuous_integration_fails_and_others_are_told(monkeypatch):
    # Where no programs are to be found.
    code = (
        "import sys, pytest, tests.ledger.postgres as p\n"
        "p.find_program = lambda name: None\n"
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-k', 'postgresql and every_field',"
        " 'tests/ledger/test_issue.py']))"
    )
    for ci, status in (("true", 1), ("", 0)):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "CI": ci},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == status, done.stdout + done.stderr
        assert "skipped 1 test in tests/ledger: PostgreSQL is not installed" in done.stdout
        assert ("FAILED for CI=true" in done.stdout) == bool(status)


def test_the_reasons_are_those_that_tests_give(monkeypatch):
    monkeypatch.setattr("tests.ledger.postgres.find_program", lambda _: None)
    assert why_missing().startswith(NEEDED)
