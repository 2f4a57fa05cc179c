"""A record with proofs: what was missed, what cannot be had, and what would help."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.recourse.proof.small_worlds import linear_network, random_world
from tests.recourse.toy_models import HostModel

from rocourse.errors import ConfigError, DataError, SchemaError
from rocourse.models import NetworkModel
from rocourse.recourse import Advisor, Context
from rocourse.recourse.proof import prove, seek
from rocourse.schema import Categorical, Continuous, Proof, Schema, Target

SCHEMA = Schema(
    (
        Continuous("Duration", 4, 44, integer=True, direction="up", unit="months"),
        Continuous("Amount", 0, 1000, integer=True, bounds=(500, None)),
        Continuous("Age", 20, 60, integer=True, immutable=True),
        Categorical("Owner", ("no", "yes")),
        Categorical("Grade", ("a", "b", "c", "d"), direction="up", labels=("A", "B", "C", "D")),
    ),
    Target("ok", (0, 1)),
)
APPLICANT = {"Duration": 24, "Amount": 800, "Age": 40, "Owner": "no", "Grade": "c"}


class Idle:
    """A method that finds nothing."""

    promises = False

    def propose(self, state, context, rows, target):
        return rows

    def vary(self, state, context, rows, target, *, closed, starts):
        return rows

    def promise(self, state, context, rows, target, *, chosen=False):
        return None


def advisor(intercept, *, schema=SCHEMA, **weights):
    """A linear model; numbers count from 0 to 1 over their range, and categories each."""
    names = ["Duration", "Amount", "Age", "no", "yes", "a", "b", "c", "d"]
    network = linear_network([weights.get(name, 0.0) for name in names], intercept)
    context = Context(schema, NetworkModel.of([network]), None, 0)
    return Advisor(context, Idle(), {}, np.array([0, 1]), (), "idle")


def ask(asked, *applicants, boxes=1000, loosening=True):
    frame = pd.DataFrame([APPLICANT | applicant for applicant in applicants or ({},)])
    recourse = asked.table(frame, 1, out_of_range="clip")
    assert set(recourse.status) <= {"not_found", "not_needed"}
    return prove(asked, recourse, boxes=boxes, loosening=loosening)


def test_missed_recourse_is_given_and_what_it_does_not_need_is_taken_back():
    told = ask(advisor(-1.0, yes=1.5, d=0.4), {}, {"Owner": "yes"})
    assert told.status.tolist() == ["found", "not_needed"]
    assert told.proofs == (None, None)
    assert told.describe(0) == ["Owner: no → yes"]
    first, second = told.to_records()
    assert first["proof"] is None and first["loosen"] is None
    assert first["probability"] == pytest.approx(1 / (1 + np.exp(-0.5)))


def test_none_exists_and_the_direction_that_stands_in_the_way():
    told = ask(advisor(0.05, Duration=-0.2, Age=0.001))
    assert told.status.tolist() == ["not_found"]
    (proof,) = told.proofs
    assert proof.none_exists and proof.text == "none exists"
    assert proof.loosen.rules == (("Duration", "direction"),)
    assert proof.loosen.text.startswith("Duration may fall: 24 → ")
    assert proof.loosen.text.endswith(" months would be enough")
    (record,) = told.to_records()
    assert record["proof"] == "none exists"
    assert record["loosen"]["rules"] == [{"feature": "Duration", "rule": "direction"}]
    (change,) = record["loosen"]["changes"]
    # 0.05 − 0.2 · (months − 4) / 40 + 0.001 · 0.5 > 0.
    assert change["from"] == 24 and change["to"] == 14


@pytest.mark.parametrize(
    ("weights", "rule", "text"),
    [
        ({"Age": 1.0}, ("Age", "immutable"), "Age may change: 40 → 56 would be enough"),
        (
            {"Amount": -1.0},
            ("Amount", "bounds"),
            "Amount may go below 500: 800 → 299 would be enough",
        ),
        (
            {"a": 1.0},
            ("Grade", "direction"),
            "Grade may move to an earlier category: C → A would be enough",
        ),
    ],
)
def test_each_rule_can_stand_in_the_way(weights, rule, text):
    intercept = {"Age": -0.89, "Amount": 0.2996, "a": -0.5}[next(iter(weights))]
    (proof,) = ask(advisor(intercept, **weights)).proofs
    assert proof.none_exists
    assert proof.loosen.rules == (rule,)
    assert proof.loosen.text == text


def test_the_cheapest_rule_is_loosened_with_other_changes_told():
    (proof,) = ask(advisor(-1.4, Age=2.0, a=0.5, yes=0.1)).proofs
    assert proof.loosen.rules == (("Age", "immutable"),)
    assert proof.loosen.changes[0]["feature"] == "Age"
    # Only rules of features that were named.
    (proof,) = ask(advisor(-1.4, Age=2.0, a=0.5, yes=0.1), loosening=["Grade"]).proofs
    assert proof.loosen.rules == (("Grade", "direction"),)
    assert proof.loosen.text == ("Grade may move to an earlier category: C → A would be enough")
    (proof,) = ask(advisor(-1.4, Age=2.0, a=0.5, yes=0.1), loosening=False).proofs
    assert proof.none_exists and proof.loosen is None


def test_two_rules_are_loosened_where_none_alone_is_enough():
    (proof,) = ask(advisor(-1.8, Age=1.0, a=1.0)).proofs
    assert proof.loosen.rules == (("Age", "immutable"), ("Grade", "direction"))
    assert proof.loosen.text.startswith("Age may change: 40 → 5")
    assert " and Grade may move to an earlier category: C → A" in proof.loosen.text
    (proof,) = ask(advisor(-50.0, Age=1.0, a=1.0)).proofs
    assert proof.none_exists and proof.loosen is None


def test_a_black_box_of_too_many_points_is_not_proved():
    asked = advisor(-50.0, yes=1.0)
    wide = replace(SCHEMA, features=(Continuous("Duration", 0.0, 1.0), *SCHEMA.features[1:]))
    model = HostModel(asked.context.trained.predictor)
    hidden = replace(asked, context=Context(wide, model, None, 0))
    (proof,) = ask(hidden, {"Duration": 0.5}, loosening=False).proofs
    assert proof == Proof(False, "not found; more than 200,000 points to try one by one")


def test_a_budget_that_runs_out_is_said():
    world = random_world(1, n_networks=3, cut_off=True)
    schema = replace(world.context.schema, target=Target("ok", (0, 1)))
    context = replace(world.context, schema=schema)
    asked = replace(advisor(0.0), context=context)
    enough = seek(context, *world[1:], boxes=100_000)
    record = asked.answer(world.frame, world.rows, 1 - world.target, world.target, world.rows)
    told = prove(asked, record, boxes=1, loosening=False)
    hard = np.flatnonzero(enough.none & (enough.examined > 1))
    assert len(hard)
    assert {told.proofs[k] for k in hard} == {Proof(False, "not found within 1 box")}
    assert set(told.status[hard]) == {"not_found"}


def test_selections_and_lengths_of_a_record_with_proofs():
    told = ask(advisor(-50.0), {}, {"Age": 30}, loosening=False)
    assert told[[1]].proofs == (Proof(True, "none exists"),)
    with pytest.raises(DataError, match="proofs of a recourse must have one entry"):
        replace(told, proofs=told.proofs[:1])


def test_wrong_requests_are_refused():
    asked = advisor(-50.0)
    with pytest.raises(ConfigError, match="boxes must be a whole number of at least 1"):
        ask(asked, boxes=0)
    with pytest.raises(SchemaError, match="no feature 'Ag' .did you mean 'Age'"):
        ask(asked, loosening=["Ag"])
    other = Schema((Continuous("x", 0, 1),), SCHEMA.target)
    stranger = replace(asked, context=replace(asked.context, schema=other))
    with pytest.raises(DataError, match="must be of rows with the features 'x'"):
        prove(stranger, ask(asked, loosening=False), boxes=1, loosening=False)
