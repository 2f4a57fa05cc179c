"""Packed results: one file a table or figure, a record a job, each job once."""

import json

import pytest
from tests.experiments.reproduction.test_entries import results_of
from tests.experiments.reproduction.tiny import CELL, ENTRY, REGISTRY

from rocourse.errors import ArtifactError
from rocourse.experiments.reproduction import REGISTRY as PAPERS
from rocourse.experiments.reproduction import SCALES, Entry, Job, Store, reproduce, seed_by_seed
from rocourse.experiments.reproduction import _packed as packed
from rocourse.experiments.reproduction._run import pack

QUICK = SCALES["quick"]
MAIN = PAPERS["table-main"]


@pytest.fixture
def folders(tmp_path):
    return tmp_path / "work", tmp_path / "out"


def stored(work, out, entry, keep=lambda job: True):
    """A store with made-up results of an entry that are not packed."""
    store = Store(work, out)
    for job, result in results_of(entry, keep=keep).items():
        store.write(job, result, seconds=1.5)
    return store


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_file_begins_with_what_made_it(folders):
    work, out = folders
    pack(stored(work, out, MAIN), out, QUICK, PAPERS)
    header, *records = lines(out / "table-main.jsonl")
    assert (header["format"], header["version"]) == ("rocourse-results", 1)
    assert header["command"] == "rocourse reproduce table-main --scale quick"
    assert {"python", "jax", "rocourse"} <= set(header["versions"])
    assert header["seeds"] == [0, 1]
    jobs = list(dict.fromkeys(MAIN.jobs(QUICK)))
    assert [Job(record["kind"], record["inputs"]) for record in records] == jobs


def test_what_is_packed_is_found_with_all_its_digits_and_no_longer_loose(folders):
    work, out = folders
    expected = results_of(MAIN)
    pack(stored(work, out, MAIN), out, QUICK, PAPERS)
    found = Store(work, out)
    assert found.results(expected) == expected
    assert found.seconds(next(iter(expected))) == 1.5
    assert not list((work / "jobs").iterdir())


def test_a_job_of_several_entries_stands_in_the_file_of_the_first(folders):
    work, out = folders
    pack(stored(work, out, PAPERS["fig-steps"]), out, QUICK, PAPERS)
    shared = set(MAIN.jobs(QUICK)) & set(PAPERS["fig-steps"].jobs(QUICK))
    assert len(lines(out / "table-main.jsonl")) == 1 + len(shared) == 4
    assert len(lines(out / "fig-steps.jsonl")) == 1 + len(PAPERS["fig-steps"].jobs(QUICK)) - 3


def test_a_later_run_adds_to_the_file_in_the_same_order(folders):
    work, out = folders
    jobs = list(dict.fromkeys(MAIN.jobs(QUICK)))
    for part in (set(jobs[1::2]), set(jobs[::2])):
        pack(stored(work, out, MAIN, keep=part.__contains__), out, QUICK, PAPERS)
    _, *records = lines(out / "table-main.jsonl")
    assert [Job(record["kind"], record["inputs"]) for record in records] == jobs


def test_a_large_file_is_split_by_data_set_and_then_by_method(folders, monkeypatch):
    work, out = folders
    pack(stored(work, out, MAIN), out, QUICK, PAPERS)
    whole = (out / "table-main.jsonl").stat().st_size
    # Loan has a third of the rows and more subsets; a third of all is too little for it.
    monkeypatch.setattr(packed, "MOST_BYTES", whole // 3)
    added = stored(work, out, PAPERS["table-simulated"])
    pack(added, out, QUICK, PAPERS)
    names = {path.name for path in out.iterdir()}
    assert "table-main.jsonl" not in names and "table-main-student-rbr.jsonl" in names
    assert all(path.stat().st_size <= whole // 3 for path in out.iterdir())
    everything = results_of(MAIN)
    assert Store(work, out).results(everything) == everything


def test_what_no_entry_asks_for_any_more_stays(folders):
    work, out = folders
    pack(stored(work, out, MAIN), out, QUICK, PAPERS)
    cut = Entry("table-main", "", lambda scale: MAIN.jobs(scale)[:1], MAIN.render)
    other = PAPERS["table-simulated"]
    registry = {"table-main": cut, other.name: other}
    pack(stored(work, out, other), out, QUICK, registry)
    assert len(Store(work, out).results(MAIN.jobs(QUICK))) == len(set(MAIN.jobs(QUICK)))


@pytest.mark.parametrize(
    "text",
    ["", "{}\n", '{"format":"other","version":1}\n', '{"format":"rocourse-results","version":9}\n'],
    ids=["empty", "no header", "format", "version"],
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, text):
    (tmp_path / "table-main.jsonl").write_text(text)
    with pytest.raises(ArtifactError, match="table-main.jsonl must hold packed results"):
        Store(tmp_path, tmp_path).has(CELL.judge("D1", 0))


def test_a_record_cut_short_is_refused(folders):
    work, out = folders
    pack(stored(work, out, MAIN), out, QUICK, PAPERS)
    path = out / "table-main.jsonl"
    path.write_text(path.read_text()[:-40])
    with pytest.raises(ArtifactError, match="must hold packed results"):
        Store(work, out).results(MAIN.jobs(QUICK))


def test_a_run_that_is_interrupted_packs_what_was_done(folders):
    work, out = folders

    def interrupt(advance):
        if advance.job is not None and advance.job.kind == "judge":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce([ENTRY], QUICK, out, work=work, registry=REGISTRY, on_advance=interrupt)
    assert len(lines(out / "tiny.jsonl")) == 2
    outcome, (section,) = reproduce([ENTRY], QUICK, out, work=work, registry=REGISTRY)
    assert (outcome.stored, section.done) == (1, 4)
    assert len(lines(out / "tiny.jsonl")) == 1 + len(seed_by_seed([CELL]))
