"""Our own comparisons: variants, searches for parameters, and the tables of both."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.experiments.reproduction.test_entries import made_up
from tests.experiments.reproduction.tiny import CELL, OPTIONS

from rocourse.datasets import load
from rocourse.estimators import METHODS
from rocourse.evaluation import split
from rocourse.experiments import TuningResult
from rocourse.experiments.reproduction import (
    REGISTRY,
    SCALES,
    Cell,
    Job,
    Search,
    Source,
    Store,
    find_entries,
    run_jobs,
)
from rocourse.experiments.reproduction import _work as work
from rocourse.experiments.reproduction._comparisons import method_cells, robustness_cells
from rocourse.experiments.reproduction._results import measured
from rocourse.reports import comparison_table, protocol_tables

PAPER = SCALES["paper"]
SOURCE = Source("simulated_label", ("D1", "D2"), rows=240)
FIXED = {**OPTIONS, "trainer__epochs": 30, "trainer__learning_rate": 0.03}
PLAIN = Search("counternet", FIXED, trials=1, price=0.03)
TUNED = Cell(
    SOURCE,
    "rocoursenet",
    FIXED,
    seeds=(0,),
    searches=(PLAIN, Search("rocoursenet", FIXED, 2, 0.03, after=PLAIN)),
)


def line(data="label", method="counternet"):
    results = {job: made_up(job) for job in (*CELL.judges(0), *CELL.judges(1))}
    return replace(measured(CELL, results, title="plain"), dataset=data, method=method)


def header(table):
    return [f"{group}: {name}" if group else name for group, name in table.columns]


def test_table_has_a_row_a_variant_with_mean_and_spread():
    table = comparison_table("A table", [line()])
    values = dict(zip(header(table), table.rows[0], strict=True))
    summary = line().result.summary().protocols["all"]["robust_validity"]
    assert (values["data"], values["variant"]) == ("label", "plain")
    assert values["robust validity"] == f"{summary.mean:.3f} ± {summary.std:.3f}"
    distance = line().result.summary().protocols["adverse"]["neighbour_distance"]
    assert values["adverse: neighbour distance"].startswith(f"{distance.mean:.3f} ± ")
    lines = table.to_markdown().splitlines()
    assert len(lines) == 3
    assert {text.count("|") for text in lines} == {len(table.columns) + 1}


def test_measures_that_no_stored_result_has_get_no_column():
    results = {job: made_up(job) for job in CELL.judges(0)}
    for result in results.values():
        for scores in result["subset"]["scores"]["protocols"].values():
            for name in ("unchanged", "unchanged_validity", "neighbour_distance", "inliers"):
                del scores[name]
    old = measured(CELL, results, title="old")
    table = comparison_table("A table", [old])
    assert not {"unchanged", "neighbour distance", "inliers"} & set(header(table))
    assert len(table.columns) == len(table.rows[0]) == 10
    both = comparison_table("A table", [old, line()])
    assert [row[header(both).index("inliers")] == "–" for row in both.rows] == [True, False]


def test_protocol_tables_hold_every_measure_and_the_papers_figures():
    everyone, refused, models = protocol_tables([line("student", "roar"), line()])
    ours, other = everyone.rows
    found = dict(zip(header(everyone), ours, strict=False))
    assert (found["paper: validity"], found["robust"]) == ("0.967", "0.820")
    assert other[-1] == "–", "the paper has no such data set"
    summary = line().result.summary()
    assert found["validity"].startswith(f"{summary.protocols['all']['validity'].mean:.3f}")
    adverse = dict(zip(header(refused), refused.rows[0], strict=True))
    assert adverse["proximity"].startswith(f"{summary.protocols['adverse']['proximity'].mean:.3f}")
    speed = dict(zip(header(models), models.rows[0], strict=True))["ms a recourse"]
    assert float(speed) == pytest.approx(1e3 * summary.model["seconds_per_recourse"].mean, abs=1e-3)


def test_our_own_comparisons_are_done_when_they_are_named():
    assert not any(entry.ours for entry in find_entries(["all"]))
    (entry,) = find_entries(["table-methods"])
    assert entry.ours
    assert {name for name, found in REGISTRY.items() if found.ours} == {
        "table-robustness",
        "table-methods",
        "table-tuning",
        "table-choices",
        "table-promises",
        "table-judges",
        "table-flagship",
        "table-development",
    }


def test_every_variant_has_options_that_its_method_takes():
    for cell in (*robustness_cells(PAPER), *method_cells(PAPER)):
        METHODS[cell.method](**cell.options).check_parameters()
        for search in cell.searches:
            METHODS[search.method](**search.options).check_parameters()


def test_the_digest_of_a_tuned_fit_is_that_of_its_searches():
    plain = replace(TUNED, searches=())
    assert TUNED.fit("D1", 0) != plain.fit("D1", 0)
    dearer = replace(TUNED, searches=(replace(PLAIN, price=0.1),))
    cheaper = replace(TUNED, searches=(PLAIN,))
    assert len({cell.judge("D1", 0) for cell in (TUNED, plain, dearer, cheaper)}) == 4


def test_once_tuned_is_one_search_for_all_seeds():
    cell = replace(TUNED, seeds=(0, 1), searches=(replace(PLAIN, once=True),))
    assert cell.tunes(0) == cell.tunes(1)
    assert cell.tunes(0)[0].inputs["tested"] == [0, 1]
    assert replace(cell, searches=(PLAIN,)).tunes(0) != replace(cell, searches=(PLAIN,)).tunes(1)


def test_a_comparison_is_tuned_on_no_row_that_it_tests(monkeypatch, tmp_path):
    seen = {}

    def remember(frame, target, method, **options):
        seen.update(frame=frame, method=method, **options)
        raise ZeroDivisionError

    monkeypatch.setattr(work, "tune", remember)
    source = Source("german_credit", ("org", "upt"))
    cell = Cell(
        source, "counternet", FIXED, (0, 1), searches=(replace(PLAIN, trials=7, once=True),)
    )
    run_jobs(cell.tunes(0), Store(tmp_path))
    dataset = load("german_credit")
    first = dataset.subsets["org"]
    tested = {i for seed in (0, 1) for i in split(first, dataset.target, seed=seed)[1].index}
    assert set(seen["frame"].index) == set(first.index) - tested
    assert (seen["method"], seen["trials"], seen["price"]) == ("counternet", 7, 0.03)
    assert seen["schema"] == dataset.schema and seen["fixed"] == FIXED


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("tuned"))
    outcome = run_jobs(TUNED.judges(0), store)
    assert not outcome.failed
    return store, outcome


def test_searches_come_before_fits_and_what_they_find_is_trained_with(tuned):
    store, outcome = tuned
    assert outcome.done == 2 + 2 + 2
    plain, attack = (TuningResult.from_dict(store.read(job)) for job in TUNED.tunes(0))
    assert plain.method == "counternet" and plain.fixed == FIXED
    assert attack.fixed == {**FIXED, **plain.best.parameters}, "only the attack is varied"
    fitted = store.read(TUNED.fit("D1", 0))["parameters"]
    for name, value in {**plain.best.parameters, **attack.best.parameters}.items():
        part, option = name.split("__")
        assert fitted[part][option] == value


def test_a_search_that_fails_gives_up_all_that_waits_for_it(tmp_path):
    broken = replace(TUNED, searches=(replace(PLAIN, options={"trainer__learning_rate": -1.0}),))
    outcome = run_jobs(broken.judges(0), Store(tmp_path))
    assert [job.kind for job in outcome.failed] == ["tune"]
    assert sorted(job.kind for job in outcome.skipped) == ["fit", "fit", "judge", "judge"]


def test_table_of_searches_tells_what_was_chosen(tuned):
    store, _ = tuned
    job = REGISTRY["table-tuning"].jobs(PAPER)[0]
    (table,) = REGISTRY["table-tuning"].render(PAPER, {job: store.read(TUNED.tunes(0)[0])})
    (row,) = table.rows
    assert row[:4] == ("german_credit", "counternet", "0", "1")
    assert "proposer.proximity_weight = " in row[-1]


def test_stored_comparisons_are_found_by_the_jobs_of_today():
    """What the docs print was stored for the jobs that the registry asks for."""
    folder = Path(__file__).parents[3] / "docs" / "results" / "comparisons"
    if not folder.is_dir():
        pytest.skip("a source distribution has no results")
    store = Store(folder, folder)
    for name, missing in (("table-robustness", 0), ("table-methods", 15), ("table-choices", 0)):
        jobs = set(REGISTRY[name].jobs(PAPER))
        assert len(jobs) - len(store.results(jobs)) == missing
    text = (folder / "report.md").read_text("utf-8")
    for page in ("results.md", "comparison.md"):
        for row in (folder.parent.parent / page).read_text("utf-8").splitlines():
            assert not row.startswith("|") or row in text


def test_kinds_of_jobs_are_known():
    for entry in REGISTRY.values():
        for scale in SCALES.values():
            needed = [need for job in entry.jobs(scale) for need in (*job.needs, job)]
            assert {job.kind for job in needed} <= set(work.KINDS)
            assert all(isinstance(job, Job) for job in needed)
