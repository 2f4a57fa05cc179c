"""The demo from training to files, in small."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from rocourse import datasets
from rocourse.artifacts import load
from rocourse.errors import ConfigError, OutputError
from rocourse.experiments import run_demo
from rocourse.experiments._demo import Trial, _most_asked, _unusual, choose_samples
from rocourse.experiments._demo_records import draw_records, lender_schema, paired_people
from rocourse.reports.demo import load_demo
from rocourse.schema import Recourse

NETWORK = {
    "trainer__epochs": 2,
    "trainer__encoder_widths": (4,),
    "trainer__head_widths": (4,),
    "trainer__batch_size": 256,
}
GENERATOR = {**NETWORK, "proposer__widths": (4,)}
SMALL = {
    "rocourse": {
        **NETWORK,
        "trainer__committee": 1,
        "proposer__jurors": 2,
        "proposer__witnesses": 2,
        "kept": 0.6,
    },
    "counternet": GENERATOR,
    "rocoursenet": {**GENERATOR, "attack__steps": 1, "attack__unroll": 1},
}


@pytest.fixture(scope="module")
def german():
    return datasets.load("german_credit")


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "demo"
    heard: list[tuple[str, int, int]] = []
    result = run_demo(
        out, seed=3, options=SMALL, judges=2, on_progress=lambda *progress: heard.append(progress)
    )
    return out, result, heard


def test_demo_writes_result_report_figures_and_the_flagships_model(small_run):
    out, result, _ = small_run
    written = {"result.json", "report.html", "figures", "model"}
    assert {path.name for path in out.iterdir()} == written
    assert load_demo(out) == result
    assert result.command == "rocourse demo --seed 3"
    assert [method.name for method in result.methods] == ["rocourse", "counternet", "rocoursenet"]
    assert (result.customers, result.applicants) == (742, 248)
    assert type(load(out / "model")).__name__ == "RoCourse"


def test_who_is_told_something_is_judged_by_every_model(small_run):
    _, result, _ = small_run
    assert [method.stated for method in result.methods] == [0.6, None, None]
    for method in result.methods:
        assert method.promised + method.unsure + method.not_found == method.refused
        assert bool(method.told) == bool(method.counted)
        for verdicts in method.told.values():
            assert len(verdicts.kept) == len(verdicts.unchanged) == 2


def test_demo_tells_of_its_progress(small_run):
    _, _, heard = small_run
    labels = list(dict.fromkeys(label for label, _, _ in heard))
    assert labels == ["RoCourse", "CounterNet", "RoCourseNet", "Retrained models", "Report"]
    last = {label: (done, total) for label, done, total in heard}
    assert all(done == total for done, total in last.values())
    assert last["Retrained models"] == (2, 2)


def test_same_seed_gives_the_same_again_and_replaces_the_earlier_result(small_run):
    out, first, _ = small_run
    again = run_demo(out, seed=3, options=SMALL, judges=2)
    assert first.methods == again.methods
    assert first.samples == again.samples
    assert load_demo(out).created == again.created


def test_demo_does_not_write_where_something_else_is(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(OutputError):
        run_demo(tmp_path, options=SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_interrupted_demo_leaves_nothing(tmp_path):
    def interrupt(label, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_demo(tmp_path / "demo", options=SMALL, on_progress=interrupt)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, True, None])
def test_impossible_seed_is_refused(tmp_path, seed):
    with pytest.raises(ConfigError, match="seed"):
        run_demo(tmp_path / "demo", seed=seed)
    assert list(tmp_path.iterdir()) == []


def test_the_same_people_are_found_in_both_files(german):
    before, after = paired_people(german.subsets["org"], german.subsets["upt"])
    assert len(before) == len(after) == 990
    assert before.index.equals(after.index) and after.index.is_unique
    alike = ["Duration", "Credit amount", "Age", "Present residence", german.target]
    pd.testing.assert_frame_equal(before[alike], after[alike])
    pd.testing.assert_frame_equal(after, german.subsets["upt"].loc[after.index])
    assert set(zip(before["Status"], after["Status"], strict=True)) == {
        (1, 4),
        (2, 1),
        (3, 2),
        (4, 3),
    }


def test_half_of_the_customers_are_corrected_and_applicants_are_others(german):
    records = draw_records(german, seed=0)
    assert not set(records.later.index) & set(records.applicants.index)
    assert 0.4 < records.corrected.mean() < 0.6
    same = (records.today == records.later).all(axis=1).to_numpy()
    assert same[records.corrected].all() and not same[~records.corrected].any()


def test_nobody_is_told_to_borrow_more(german):
    schema = lender_schema(german)
    assert {f.name for f in schema.features if f.direction == "down"} == {
        "Duration",
        "Credit amount",
        "Existing credits",
    }
    immutable = {f.name for f in schema.features if f.immutable}
    assert {"Age", "Number people", "Installment rate", "Present residence"} <= immutable


@dataclass
class Approves:
    """Approves credits of at most so many months; promises as told."""

    months: int
    promises: bool = True
    classes_ = np.array([0, 1])

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return (X["Duration"] <= self.months).to_numpy(int)

    def pledge(self):
        return "a pledge" if self.promises else None


def advice(german, after, status="found") -> Recourse:
    rows = german.subsets["upt"].drop(columns=german.target).head(len(after)).assign(Duration=60)
    return Recourse(
        schema=german.schema,
        original=rows,
        original_rows=german.schema.encode(rows),
        attempts=german.schema.encode(rows.assign(Duration=after)),
        status=np.broadcast_to(status, len(rows)).astype("U12"),
        predicted=np.zeros(len(rows), int),
        desired=np.ones(len(rows), int),
        probability=np.full(len(rows), 0.75),
        method="by hand",
    )


def test_samples_are_spread_over_the_costs(german):
    after = [14, 50, 32, 41, 23, 59, 5, 55, 27, 36]
    trial = Trial(Approves(60), advice(german, after))
    samples = choose_samples(trial, {"short": [Approves(30), Approves(60)]})
    # By cost: 59 55 50 41 36 32 27 23 14 5; the tenths 1, 3, 5, 7, 9 are every second of them.
    assert [sample.changes[0].after for sample in samples] == [55, 41, 32, 23, 5]
    assert [sample.kept for sample in samples] == [1, 1, 1, 2, 2]
    assert [sample.unchanged for sample in samples] == [1] * 5
    assert samples[0].changes[0].text == "Duration: 60 → 55 months"
    assert all(sample.promised for sample in samples)


def test_samples_without_promises_say_so(german):
    trial = Trial(Approves(60), advice(german, [10, 20], "found_unsure"))
    samples = choose_samples(trial, {"any": [Approves(30)]})
    assert [sample.promised for sample in samples] == [False, False]
    assert choose_samples(Trial(Approves(60), advice(german, [10], "not_found")), {}) == ()


def test_what_a_method_that_promises_nothing_finds_is_only_valid_today(german):
    trial = Trial(Approves(60, promises=False), advice(german, [10, 20]))
    assert (len(trial.promised), len(trial.unsure)) == (0, 2)


def test_unusual_numbers_are_beyond_the_percentiles_of_customers(german):
    customers = pd.DataFrame({"Duration": range(101)})
    for name in ("Credit amount", "Installment rate", "Age", "Existing credits", "Number people"):
        customers[name] = 1
    told = advice(german, [4, 30, 30, 10])
    assert _unusual(told, customers.assign(Duration=customers["Duration"] + 4)) == 0.25
    assert _most_asked(told) == ("Duration 30 months", 0.5)
