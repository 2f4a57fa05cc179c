"""`rocourse demo`: the command is thin; the experiment is stood in for."""

import json
from pathlib import Path

import pytest
from tests.command_line import refused, run, succeed

from rocourse import experiments
from rocourse.errors import OutputError


class Result:
    def to_dict(self):
        return {"format": "rocourse-demo"}

    def renderables(self):
        return ["the findings"]


@pytest.fixture
def calls(monkeypatch):
    made = []

    def run_demo(out, *, seed=0, on_progress=None):
        made.append((out, seed))
        for epoch in range(3):
            on_progress("Training", epoch, 2)
        return Result()

    monkeypatch.setattr(experiments, "run_demo", run_demo)
    monkeypatch.setattr(experiments, "publish_demo", lambda *paths: made.append(paths))
    return made


def test_the_findings_are_printed(calls):
    result = succeed("demo")
    assert calls == [(Path("runs/demo"), 0)]
    assert result.stdout.startswith("the findings\n")
    assert "runs/demo/report.html" in result.stdout
    assert "rocourse serve runs/demo/model" in result.stdout
    assert result.stderr == "Training 1/2\nTraining 2/2\n"


def test_options_are_handed_on(calls):
    result = succeed("demo", "--out", "elsewhere", "--seed", "7", "--json", "--quiet")
    assert calls == [(Path("elsewhere"), 7)]
    assert json.loads(result.stdout) == {"format": "rocourse-demo"}
    assert result.stderr == ""


def test_a_readme_is_written_on_demand(calls):
    succeed("demo", "--readme", "README.md")
    assert calls == [(Path("runs/demo"), 0), (Path("runs/demo"), Path("README.md"))]


def test_a_terminal_gets_a_progress_bar_on_stderr(calls):
    result = run("demo", "--json", terminal="1")
    assert "Training" in result.stderr and "2/2" in result.stderr
    assert "\x1b[" in result.stderr
    json.loads(result.stdout)


def test_a_refusal_is_one_line(monkeypatch):
    def run_demo(out, **options):
        raise OutputError("Output path 'runs/demo' must be empty; choose another.")

    monkeypatch.setattr(experiments, "run_demo", run_demo)
    assert refused("demo").startswith("Output path 'runs/demo'")
