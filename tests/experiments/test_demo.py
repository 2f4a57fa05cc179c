"""The demo from training to files, in small."""

import json
from collections.abc import Container
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from rocourse import datasets
from rocourse.artifacts import load
from rocourse.attack import Attack
from rocourse.errors import ConfigError, OutputError
from rocourse.experiments import run_demo
from rocourse.experiments._demo import DEMO_HELD, Trial, choose_samples
from rocourse.reports.demo import load_demo
from rocourse.schema import Recourse

SMALL = {
    "trainer__epochs": 2,
    "trainer__encoder_widths": (4,),
    "trainer__head_widths": (4,),
    "proposer__widths": (4,),
    "trainer__batch_size": 256,
    "proposer__measured_attack": Attack(steps=1, unroll=1),
}


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "demo"
    heard: list[tuple[str, int, int]] = []
    result = run_demo(
        out, seed=3, options=SMALL, on_progress=lambda *progress: heard.append(progress)
    )
    return out, result, heard


def test_demo_writes_result_report_and_figures(small_run):
    out, result, _ = small_run
    written = {"result.json", "report.html", "figures", "model"}
    assert {path.name for path in out.iterdir()} == written
    assert json.dumps(load_demo(out).to_dict()) == json.dumps(result.to_dict())
    assert result.command == "rocourse demo --seed 3"
    assert [method.name for method in result.methods] == ["counternet", "rocoursenet"]
    for method in result.methods:
        assert method.subsets.names == ("org", "upt")
        assert method.issuer.rows == 250
        assert [len(history) for history in method.histories.values()] == [2, 2]
        assert method.parameters["trainer.epochs"] == 2
        assert 0 <= method.unchanged["all"] <= 1


def test_demo_tells_of_every_epoch(small_run):
    _, _, heard = small_run
    models = [
        f"{method}, {part} data"
        for method in ("CounterNet", "RoCourseNet")
        for part in ("original", "corrected")
    ]
    expected = [(model, done, 2) for model in models for done in (0, 1, 2)]
    assert heard == [*expected, ("Report", 0, 1), ("Report", 1, 1)]


def test_same_seed_gives_the_same_again_and_replaces_the_earlier_result(small_run):
    out, first, _ = small_run
    again = run_demo(out, seed=3, options=SMALL)
    for one, other in zip(first.methods, again.methods, strict=True):
        assert one.histories == other.histories
        for protocol in ("all", "adverse"):
            assert one.recourses(protocol) == other.recourses(protocol)
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


def test_held_features_may_not_change_and_others_keep_their_rules():
    schema = datasets.load("german_credit").actionable_schema
    held = schema.constrain(immutable=DEMO_HELD)
    for before, after in zip(schema.features, held.features, strict=True):
        if before.name in DEMO_HELD:
            assert after.immutable and after.direction is None
        else:
            assert after == before


@dataclass
class Approves:
    """Approves credits of certain numbers of months."""

    months: Container[int]
    classes_ = np.array([0, 1])

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return np.array([int(months in self.months) for months in X["Duration"]])

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        approved = np.where(self.predict(X) == 1, 0.75, 0.25)
        return np.column_stack([1 - approved, approved])


SHORT = Approves(range(25))


def trial(months_before, months_after, *, issuer: Approves, judge: Approves) -> Trial:
    dataset = datasets.load("german_credit")
    rows = dataset.subsets["org"].drop(columns=dataset.target).head(len(months_before))
    rows = rows.assign(Duration=months_before)
    changed = rows.assign(Duration=months_after)
    predicted, after = issuer.predict(rows), issuer.predict(changed)
    recourse = Recourse(
        schema=dataset.schema,
        original=rows,
        original_rows=dataset.schema.encode(rows),
        attempts=dataset.schema.encode(changed),
        status=np.where(after == 1 - predicted, "found", "not_found"),
        predicted=predicted,
        desired=1 - predicted,
        probability=np.full(len(rows), 0.75),
        method="by hand",
    )
    return Trial(
        run=None,
        issuer=issuer,
        judge=judge,
        recourse=recourse,
        refused=predicted == 0,
        approved_before=judge.predict(rows) == 1,
    )


def test_samples_are_refused_applicants_in_order_of_what_the_advice_did_for_them():
    before = [60, 20, 28, 60, 60, 60]
    after = [24, 40, 10, 50, 18, 12]
    # In turn: refused after all, never refused, approved anyway, not found, and twice helped.
    judge = Approves({10, 12, 18, 28})
    samples = choose_samples(trial(before, after, issuer=SHORT, judge=judge))
    assert [sample.applicant for sample in samples] == [4, 5, 2, 0]
    assert [sample.honoured for sample in samples] == [True, True, True, False]
    first = samples[0]
    assert [change.text for change in first.changes] == ["Duration: 60 → 18 months"]
    assert first.values["Duration"] == 60
    assert first.issuer_scores == first.judge_scores == (0.25, 0.75)
    assert samples[-1].judge_scores == (0.25, 0.25)


def test_no_more_than_five_samples_are_taken():
    samples = choose_samples(trial([60] * 7, [10] * 7, issuer=SHORT, judge=SHORT))
    assert [sample.applicant for sample in samples] == [0, 1, 2, 3, 4]


def test_samples_may_be_none():
    assert choose_samples(trial([60], [50], issuer=SHORT, judge=SHORT)) == ()


def test_the_adviser_is_kept_with_its_witnesses(small_run):
    out, result, _ = small_run
    model = load(out / "model")
    assert model.method == result.methods[-1].name
    assert len(model.witnesses_) == 8
