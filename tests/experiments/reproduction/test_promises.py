"""Jobs about promises on few rows, and the tables of records whose figures can be worked out."""

import json

import numpy as np
import pytest

from rocourse.experiments.reproduction import REGISTRY, SCALES, Job
from rocourse.experiments.reproduction import _promise_work as work
from rocourse.reports import PromiseLine, judge_parts, promise_parts

PAPER = SCALES["paper"]
FEW = {
    "trainer__epochs": 3,
    "trainer__committee": 1,
    "proposer__jurors": 2,
    "proposer__witnesses": 4,
}
LEVELS = (0.5, 0.95)


def inputs(protocol="groups", method="rocourse", known=("D1",), options=FEW, levels=LEVELS):
    return Job(
        "promises",
        {
            "protocol": protocol,
            "dataset": "simulated_label",
            "subset": "D1",
            "known": known,
            "new": ("D2",),
            "seed": 0,
            "method": method,
            "options": options,
            "levels": levels,
            "rows": 300,
        },
    ).inputs


@pytest.fixture(scope="module")
def record():
    return work.judge_promises(inputs())


def test_a_record_is_json_and_has_every_level_with_its_judges(record):
    assert json.loads(json.dumps(record))["levels"].keys() == {"0.5", "0.95"}
    judges = {f"{kind} retrained" for kind in ("own", "network", "boosting", "logistic")}
    for scores in (*record["levels"].values(), record["oracle"]):
        assert scores["kept"].keys() == {*judges, "alone"}
        assert scores["refused"] == record["asked"] > 0


def test_samples_are_of_promises_where_there_are_any(record):
    asked = record["levels"]["0.95"]
    assert len(record["samples"]) == min(4, asked["promised"] or asked["advised"]) > 0
    for sample in record["samples"]:
        assert sample["promised"] == bool(asked["promised"])
        assert sample["changes"] and sample["proximity"] > 0


def test_whom_the_oracle_reaches_bounds_who_is_promised_beside_it(record):
    for scores in record["levels"].values():
        beside = scores["beside_oracle"]
        assert beside["promised"] <= min(beside["reached"], scores["promised"])
        assert beside["reached"] <= record["oracle"]["promised"]
        assert scores["sense"]["promises"]["people"] == scores["promised"]
        assert scores["sense"]["advice"]["people"] == scores["advised"]


def test_methods_that_promise_nothing_have_one_level_and_no_oracle():
    found = work.judge_promises(
        inputs("subset", "counternet", ("D1",), {"trainer__epochs": 1}, levels=())
    )
    assert list(found["levels"]) == ["none"]
    assert "oracle" not in found and "samples" not in found
    kinds = ("own", "network", "boosting", "logistic")
    assert set(found["levels"]["none"]["kept"]) == {f"{kind} D2" for kind in kinds}


class GrantsAll:
    """A model that accepts everybody."""

    def __init__(self, schema, **options):
        self.schema_ = schema

    def fit(self, X, y, groups=None):
        return self

    def predict(self, rows):
        return np.full(len(rows), self.schema_.target.favourable)


def test_a_model_that_refuses_nobody_has_a_record_without_levels(monkeypatch):
    monkeypatch.setattr(work, "METHODS", {"rocourse": GrantsAll})
    monkeypatch.setattr(work, "VanillaCF", GrantsAll)
    record = work.judge_promises(inputs("subset"))
    assert (record["asked"], record["levels"]) == (0, {})
    line = PromiseLine("subset", "student", [json.loads(json.dumps(record))])
    (row, *_), (cost, *_) = shown(line, "Calibrated"), shown(line, "Cheap")
    assert row["kept: of all promises"] == row["met"] == "–"
    assert cost["kept: reached"] == "no" and cost["kept: at stated"] == "–"


def test_methods_on_the_same_rows_have_the_same_common_judges():
    rows = work._Rows("simulated_label", ("D2",), 300, 0)
    assert work._common(rows, "D2") is work._common(rows._replace(), "D2")
    assert work._common(rows, "D2") is not work._common(rows._replace(seed=1), "D2")


def test_judged_methods_share_our_own_jobs_with_the_promises():
    promised, judged = (
        set(REGISTRY[name].jobs(PAPER)) for name in ("table-promises", "table-judges")
    )
    ours = {job for job in judged if job.inputs["method"] == "rocourse"}
    assert ours and ours <= promised
    assert {job.inputs["protocol"] for job in promised - judged} == {"rolling", "groups"}


def scores(kept, promised=10, cost=2.0, oracle_cost=1.0, told=0, accepted=0.1, usual=10):
    judges = ("own next", "network next", "boosting next", "logistic next")
    shares = dict.fromkeys(judges, kept)
    sense = {
        "people": promised,
        "numbers": 10,
        "usual_numbers": usual,
        "inliers": 1.0,
        "frequent": [{"feature": "income", "value": 5, "told": told, "accepted": accepted}],
    }
    return {
        "refused": 20,
        "promised": promised,
        "advised": 20,
        **dict.fromkeys(("kept", "unchanged", "kept_advised"), shares),
        **dict.fromkeys(("proximity", "advised_proximity"), cost),
        "sense": {"promises": sense, "advice": sense},
        "beside_oracle": {
            "reached": 10,
            "promised": min(10, promised),
            "proximity": cost,
            "oracle_proximity": oracle_cost,
        },
    }


def made(*of_level, seed=0, level="0.95"):
    """A record with one level and an oracle that keeps everything."""
    return [
        {
            "seed": seed,
            "accuracy": 0.8,
            "plain_accuracy": 0.8,
            "levels": {level: each},
            "oracle": scores(1.0),
            "subset": f"s{place}",
            "samples": [{"changes": ["a: 1 → 2"], "proximity": 1.0, "promised": True}],
        }
        for place, each in enumerate(of_level)
    ]


def shown(line, title):
    (table,) = [
        part for part in promise_parts([line], (0.95,), 0.95)[1:] if part.title.startswith(title)
    ]
    header = [f"{group}: {name}" if group else name for group, name in table.columns]
    return [dict(zip(header, row, strict=True)) for row in table.rows]


def test_a_share_is_of_all_promises_however_they_fall_on_transitions():
    line = PromiseLine("rolling", "loan", made(scores(1.0, 30), scores(0.6, 10)))
    row, *_ = shown(line, "Calibrated")
    assert row["kept: of all promises"] == "0.900"
    assert row["kept: mean of transitions"] == "0.800"


@pytest.mark.parametrize(
    ("protocol", "kept", "promised", "met"),
    [
        ("rolling", 0.94, 10, "yes"),
        ("rolling", 0.92, 10, "no"),
        ("groups", 1.0, 6, "no"),
        ("groups", None, 0, "no"),
        ("subset", 0.81, 2, "yes"),
        ("subset", 0.79, 10, "no"),
    ],
)
def test_promises_are_calibrated_if_enough_are_made_and_kept(protocol, kept, promised, met):
    line = PromiseLine(protocol, "acs", made(scores(kept, promised)))
    assert shown(line, "Calibrated")[0]["met"] == met


def test_the_cost_is_taken_where_as_many_are_kept_as_by_the_oracle():
    enough = PromiseLine("subset", "student", made(scores(0.98, cost=3.0, oracle_cost=2.0)))
    row, mean, _ = shown(enough, "Cheap")
    assert (row["kept: reached"], row["cost for the same people: ratio"]) == ("yes", "1.50")
    assert "met: yes" in mean["data"]
    few = PromiseLine("subset", "student", made(scores(0.9, cost=3.0, oracle_cost=2.0)))
    row, mean, _ = shown(few, "Cheap")
    assert row["kept: reached"] == "no"
    assert "met: no" in mean["data"] and mean["cost for the same people: ratio"] == "–"


@pytest.mark.parametrize(
    ("told", "accepted", "usual", "met"),
    [(3, 0.0, 10, "yes"), (4, 0.15, 10, "no"), (4, 0.16, 10, "yes"), (0, 0.0, 9, "no")],
)
def test_advice_is_sensible_unless_too_many_are_told_a_rare_value(told, accepted, usual, met):
    of_level = scores(1.0, told=told, accepted=accepted, usual=usual)
    (row,) = shown(PromiseLine("rolling", "loan", made(of_level)), "Sensible")
    assert row["met"] == met


@pytest.mark.parametrize(
    ("kept", "cost", "beaten"), [(0.9, 2.0, "yes"), (0.9, 2.1, "no"), (0.8, 1.0, "no")]
)
def test_a_method_is_beaten_by_as_many_kept_at_no_higher_cost(kept, cost, beaten):
    other = PromiseLine("roar", "loan", made(scores(0.9, cost=2.0), level="none"))
    ours = PromiseLine("rocourse", "loan", made(scores(kept, cost=cost)))
    table, *_ = judge_parts([other, ours])
    (row,) = table.rows
    assert (row[1], row[9], row[14]) == ("ROAR-LIME", beaten, beaten)
