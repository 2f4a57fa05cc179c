"""How failures reach the user."""

import subprocess
import sys

import pytest
from tests.command_line import refused, run

from rocourse import datasets
from rocourse.errors import DataError

COMMAND = [sys.executable, "-m", "rocourse.cli"]


def test_an_expected_failure_is_one_line_and_exit_1(monkeypatch):
    def fail():
        raise DataError("Rows must be good, but got bad ones; mend them.")

    monkeypatch.setattr(datasets, "list_datasets", fail)
    assert refused("data", "list") == "Rows must be good, but got bad ones; mend them."


def test_an_unexpected_failure_keeps_its_traceback(monkeypatch):
    def fail():
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(datasets, "list_datasets", fail)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run("data", "list")


def test_an_interrupt_exits_with_130(monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets, "list_datasets", interrupt)
    result = run("data", "list")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr == "interrupted: no output was written\n"


@pytest.mark.parametrize("option", [[], ["--json"]], ids=["table", "json"])
def test_a_reader_that_goes_away_is_no_failure_to_talk_about(option):
    process = subprocess.Popen(
        [*COMMAND, "data", "list", *option], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)
    assert stderr == b""
