"""The report: tables and figures from stored JSON alone."""

import shutil
from dataclasses import replace

import pytest
from tests.experiments.reproduction.tiny import CELL, ENTRY, REGISTRY
from tests.reports.demo.test_page import Page

from rocourse.estimators import METHODS
from rocourse.experiments.reproduction import (
    SCALES,
    Job,
    Store,
    collect,
    reproduce,
    seed_by_seed,
    write_report,
)

QUICK = SCALES["quick"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    reproduce([ENTRY], QUICK, out, work=out / "work", registry=REGISTRY)
    return out


def test_report_is_redrawn_from_json_without_models_or_training(folder, tmp_path, monkeypatch):
    shutil.copy(folder / "tiny.jsonl", tmp_path)
    monkeypatch.setitem(METHODS, "counternet", None)
    (section,) = write_report(QUICK, tmp_path, registry=REGISTRY)
    assert (section.done, section.total) == (4, 4)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "report.html",
        "report.md",
        "tiny.jsonl",
    ]
    for name in ("report.md", "report.html"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_report_has_an_index_and_every_table(folder):
    result = collect(CELL, Store(folder, folder).results(seed_by_seed([CELL])))
    mean = result.summary().protocols["all"]["robust_validity"].mean
    page = Page((folder / "report.html").read_text("utf-8"))
    assert {"href": "#tiny"} in page.named("a")
    assert "4 of 4 jobs done" in page.text and f"{mean:.3f}" in page.text
    text = (folder / "report.md").read_text("utf-8")
    assert "- [tiny](#tiny): A tiny entry" in text
    assert "| method | share: validity | share: robust validity |" in text
    assert f"| {mean:.3f} |" in text


def test_report_without_results_says_so(tmp_path):
    write_report(QUICK, tmp_path)
    assert "There are no results yet" in (tmp_path / "report.html").read_text("utf-8")


def test_run_can_be_cut_down_to_data_sets_and_methods(tmp_path):
    for cut in ({"data": ["loan"]}, {"methods": ["roar"]}):
        outcome, _ = reproduce([ENTRY], QUICK, tmp_path, work=tmp_path, registry=REGISTRY, **cut)
        assert (outcome.done, outcome.stored) == (0, 0)


def test_results_of_other_entries_are_shown_beside_and_never_asked_for(folder, tmp_path):
    shutil.copy(folder / "tiny.jsonl", tmp_path)
    jobs = seed_by_seed([CELL])
    seen = []
    entry = replace(
        ENTRY,
        jobs=lambda scale: jobs[:1],
        beside=lambda scale: [*jobs[1:3], Job("judge", {"dataset": "loan", "seed": 9})],
        render=lambda scale, results: seen.extend(results) or [],
    )
    (section,) = write_report(QUICK, tmp_path, registry={"tiny": entry})
    assert (section.done, section.total) == (1, 1)
    assert set(seen) == set(jobs[:3])
