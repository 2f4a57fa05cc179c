"""`rocourse doctor`, and completion by the shell."""

import json
import platform

import jax
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


def test_a_build_under_another_name_is_found(monkeypatch):
    monkeypatch.setattr(_doctor.metadata, "requires", lambda _: ["boost>=3; extra == 'boost'"])
    version = _doctor.metadata.version

    def installed(name):
        return "3.1" if name == "boost-cpu" else version(name)

    monkeypatch.setattr(_doctor.metadata, "version", installed)
    assert json.loads(succeed("doctor", "--json").stdout)["packages"]["boost"] == {"boost": "3.1"}


def test_the_folders_that_are_in_use_are_told(monkeypatch, tmp_path):
    monkeypatch.setenv("ROCOURSE_DATA", str(tmp_path / "tables"))
    told = json.loads(succeed("doctor", "--json").stdout)["caches"]
    assert told["data sets"] == f"{tmp_path / 'tables'}, nothing yet"
    # JAX has been told its folder when the process began.
    assert told["compiled code"].startswith(str(jax.config.jax_compilation_cache_dir))


def test_the_shell_can_complete_commands():
    assert "--install-completion" in succeed("--help").stdout
