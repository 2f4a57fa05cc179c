"""Runs of jobs: nothing twice, nothing half done, and one failure is not the end."""

import json
import shutil

import pytest
from tests.clusters import ENGINES, start_cluster
from tests.experiments.reproduction.tiny import CELL, OPTIONS, cell

from rocourse.datasets import load
from rocourse.engines import Engine
from rocourse.errors import ArtifactError, DataError
from rocourse.estimators import METHODS
from rocourse.evaluation import SeedsResult, run_subsets
from rocourse.experiments.reproduction import (
    Cell,
    Source,
    Store,
    collect,
    run_jobs,
    seed_by_seed,
)
from rocourse.experiments.reproduction import _schedule as schedule
from rocourse.experiments.reproduction import _work as work
from rocourse.options import plain

cluster = pytest.fixture(scope="module")(start_cluster)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A store with all results of the tiny cell, and how the run went."""
    store = Store(tmp_path_factory.mktemp("done"))
    advances = []
    outcome = run_jobs(seed_by_seed([CELL]), store, on_advance=advances.append)
    return store, outcome, advances


@pytest.fixture
def copy(done, tmp_path):
    """The same store, free to be damaged."""
    shutil.copytree(done[0].folder, tmp_path / "copy")
    return Store(tmp_path / "copy")


@pytest.fixture
def calls(monkeypatch):
    """The jobs that are done from here on."""
    seen = []
    real = dict(work.KINDS)

    def noted(kind):
        return lambda job, store: (seen.append(job), real[kind](job, store))[1]

    monkeypatch.setattr(work, "KINDS", {kind: noted(kind) for kind in real})
    return seen


def timeless(result):
    record = result.to_dict()
    for run in record["runs"]:
        for subset in run["subsets"]:
            subset["train_seconds"] = subset["train_cpu_seconds"] = None
            subset["scores"]["seconds_per_recourse"] = None
    return record


def test_jobs_give_what_the_protocol_gives(done):
    store, _, _ = done

    def run(seed):
        dataset = load("simulated_label", seed=seed)

        def fit(_, X, y, fit_seed):
            options = {**OPTIONS, "unusual": True}
            model = METHODS["counternet"](schema=dataset.schema, random_state=fit_seed, **options)
            return model.fit(X, y)

        subsets = {
            name: frame.sample(n=120, random_state=seed).sort_index()
            for name, frame in dataset.subsets.items()
        }
        return run_subsets(subsets, dataset.target, fit, seed=seed)

    expected = SeedsResult(tuple(run(seed) for seed in (0, 1)))
    found = collect(CELL, store.results(seed_by_seed([CELL])))
    assert timeless(found) == timeless(expected)


def test_progress_counts_all_jobs_and_guesses_the_time_left(done):
    _, outcome, advances = done
    assert (outcome.done, outcome.stored, outcome.failed, outcome.skipped) == (8, 0, {}, ())
    assert [advance.done for advance in advances] == list(range(9))
    assert {advance.total for advance in advances} == {8}
    assert advances[0].seconds_left is None, "nothing has been measured yet"
    assert advances[-2].seconds_left > 0 and advances[-1].seconds_left == 0


def test_a_result_tells_its_inputs_parameters_and_versions(done):
    store, _, _ = done
    record = json.loads(store.path(CELL.fit("D1", 0)).read_text("utf-8"))
    assert record["inputs"]["options"]["trainer__encoder_widths"] == [8, 4]
    model = METHODS["counternet"](**OPTIONS)
    assert record["result"]["parameters"] == {
        "trainer": plain(model.trainer),
        "proposer": plain(model.proposer),
        "attack": None,
    }
    assert {"python", "jax", "rocourse"} <= set(record["result"]["versions"])


def test_what_is_stored_is_not_computed_again(done, calls):
    store, _, _ = done
    outcome = run_jobs(seed_by_seed([CELL]), store)
    assert calls == [] and (outcome.done, outcome.stored) == (0, 4)


def test_judgements_without_models_need_nothing_and_new_ones_fit_again(copy, calls):
    shutil.rmtree(copy.folder / "models")
    run_jobs(seed_by_seed([CELL]), copy)
    assert calls == []
    copy.path(CELL.judge("D1", 1)).unlink()
    run_jobs(seed_by_seed([CELL]), copy)
    assert calls == [*CELL.fits(1), CELL.judge("D1", 1)]


def test_a_run_that_was_killed_goes_on_where_it_was(copy, calls, monkeypatch):
    jobs = seed_by_seed([CELL])
    # Killed while a fit was saving: a model without a result, and a file half written.
    last = CELL.fit("D2", 1)
    copy.path(last).unlink()
    for job in CELL.judges(1):
        copy.path(job).unlink()
    (copy.path(last).parent / f".{last.name}.json.0123abcd").write_text('{"format": "roc')
    run_jobs(jobs, copy)
    assert calls == [last, *CELL.judges(1)]
    assert collect(CELL, copy.results(jobs)).seeds == (0, 1)


def test_a_run_that_is_interrupted_keeps_what_was_done(tmp_path, calls):
    def interrupt(advance):
        if advance.done == 3:
            raise KeyboardInterrupt

    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(seed_by_seed([CELL]), store, on_advance=interrupt)
    assert len(calls) == 3
    run_jobs(seed_by_seed([CELL]), store)
    assert len(calls) == len(set(calls)) == 8


def test_one_failure_is_reported_and_the_rest_goes_on(tmp_path, monkeypatch):
    bad = cell(trainer__learning_rate=-1.0)
    jobs = seed_by_seed([bad, CELL])
    store = Store(tmp_path)
    outcome = run_jobs(jobs, store)
    assert len(outcome.failed) == 4 and len(outcome.skipped) == 4 and outcome.done == 8
    assert all("learning_rate" in reason for reason in outcome.failed.values())
    assert not any(store.has(job) for job in seed_by_seed([bad]))
    assert collect(CELL, store.results(jobs)).seeds == (0, 1)
    assert collect(bad, store.results(jobs)) is None


def test_whatever_a_job_meets_becomes_one_line(tmp_path, monkeypatch):
    def trip(job, store):
        raise ZeroDivisionError("first\nsecond")

    monkeypatch.setattr(work, "KINDS", {"fit": trip})
    outcome = run_jobs([CELL.fit("D1", 0)], Store(tmp_path))
    assert list(outcome.failed.values()) == ["ZeroDivisionError: first"]


def test_jobs_whose_data_are_not_there_are_left_out(tmp_path, monkeypatch):
    def absent(name):
        raise DataError(f"Data set {name!r} was not found; run `rocourse data fetch {name}`.")

    monkeypatch.setattr(schedule, "data_path", absent)
    loan = Cell(Source("loan", ("1999", "2009")), "counternet", OPTIONS, (0,))
    one = cell()
    outcome = run_jobs([*loan.judges(0), one.fit("D1", 0)], Store(tmp_path))
    assert outcome.absent == {
        "loan": "Data set 'loan' was not found; run `rocourse data fetch loan`."
    }
    assert (outcome.done, outcome.left_out, outcome.failed) == (1, 2, {})


def test_two_processes_do_what_one_does(done, tmp_path):
    store = Store(tmp_path)
    jobs = seed_by_seed([CELL])
    broken = cell(trainer__learning_rate=-1.0).fit("D1", 0)
    outcome = run_jobs([broken, *jobs], store, engine=Engine(jobs=2))
    assert outcome.done == 8 and list(outcome.failed) == [broken]
    one, two = (collect(CELL, s.results(jobs)) for s in (done[0], store))
    assert timeless(one) == timeless(two)


@pytest.mark.parametrize(("name", "other"), [("processes", "ray"), ("ray", "processes")])
def test_a_run_that_is_interrupted_on_one_engine_goes_on_on_the_other(
    done, tmp_path, cluster, name, other
):
    """With a job among the others that fails: it is reported, and tried again."""
    store = Store(tmp_path)
    broken = cell(trainer__learning_rate=-1.0).fit("D1", 0)
    jobs = [broken, *seed_by_seed([CELL])]

    def interrupt(advance):
        if advance.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, store, engine=ENGINES[name], on_advance=interrupt)
    kept = {job: store.path(job).stat().st_mtime_ns for job in jobs if store.has(job)}
    told = []
    outcome = run_jobs(jobs, store, engine=ENGINES[other], on_advance=told.append)
    assert list(outcome.failed) == [broken] and "learning_rate" in outcome.failed[broken]
    assert "learning_rate" in next(advance.error for advance in told if advance.job == broken)
    assert outcome.stored == len(kept)
    assert {job: store.path(job).stat().st_mtime_ns for job in kept} == kept
    one, two = (collect(CELL, s.results(jobs[1:])) for s in (done[0], store))
    assert timeless(one) == timeless(two)


def test_a_damaged_result_is_refused(copy):
    job = CELL.judge("D1", 0)
    for text in ('{"format": "roc', '{"format": "other"}'):
        copy.path(job).write_text(text)
        with pytest.raises(ArtifactError, match="must hold the result"):
            copy.read(job)
