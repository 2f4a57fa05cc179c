"""`rocourse doctor`, and completion by the shell."""

import json
import platform

import numpy as np
from tests.command_line import succeed

import rocourse
from rocourse.cli import _doctor


def test_versions_devices_and_caches_are_told():
    told = json.loads(succeed("doctor", "--json").stdout)
    assert told["rocourse"] == rocourse.__version__
    assert told["python"] == platform.python_version()
    assert told["packages"][""]["numpy"] == np.__version__
    assert told["devices"] and set(told["caches"]) == {"compiled code", "data sets"}


def test_what_is_missing_is_named_with_its_extra(monkeypatch):
    wanted = ["numpy>=2", "nosuchthing>=1; extra == 'plots'", "ruff; extra == 'dev'"]
    monkeypatch.setattr(_doctor.metadata, "requires", lambda _: wanted)
    shown = succeed("doctor").stdout
    assert "nosuchthing" in shown and "rocourse[plots]" in shown and "ruff" not in shown


def test_the_shell_can_complete_commands():
    assert "--install-completion" in succeed("--help").stdout
