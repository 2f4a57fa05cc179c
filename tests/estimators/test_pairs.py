"""Any trainer goes with any proposer: through fit, recourse, save and load."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.loans import SMALL, make_loans, make_schema
from tests.strategies import broken_constraints

import rocourse
from rocourse.attack import Attack
from rocourse.estimators import CounterNet
from rocourse.models import JointTrainer, PlainTrainer, SteadyTrainer
from rocourse.recourse import (
    GeneratorProposer,
    JuryProposer,
    PanelProposer,
    RBRProposer,
    ROARProposer,
    VAEProposer,
    VanillaCFProposer,
)

SIZES = {
    name.removeprefix("trainer__"): value
    for name, value in SMALL.items()
    if name.startswith("trainer__")
}
WIDTHS = SMALL["proposer__widths"]
ATTACK = Attack(steps=SMALL["attack__steps"], unroll=SMALL["attack__unroll"])
TRAINERS = {
    "plain": PlainTrainer(**SIZES),
    "joint": JointTrainer(**SIZES),
    # Two that are half as wide: joined, they have the shape of the others.
    "steady": SteadyTrainer(
        **(SIZES | {"encoder_widths": (8, 4), "head_widths": (4,)}), committee=2
    ),
    # For what has to be trained beside a model that is given: one that imitates it, a panel.
    "ours": PlainTrainer(**SIZES),
    "pipeline": PlainTrainer(**SIZES),
}
PROPOSERS = {
    "generator": (GeneratorProposer(widths=WIDTHS, epochs=12), None),
    "attacked generator": (GeneratorProposer(widths=WIDTHS, epochs=12), ATTACK),
    "vae": (VAEProposer(widths=WIDTHS, epochs=12), None),
    "vanillacf": (VanillaCFProposer(steps=40), None),
    "roar": (ROARProposer(neighbours=200), None),
    "rbr": (RBRProposer(neighbours=60, samples=40, steps=20), None),
    "panel": (PanelProposer(members=2), None),
    "jury": (JuryProposer(jurors=2, witnesses=4, kept=0.7), None),
}


@pytest.fixture(scope="module")
def pipeline(loans):
    """A model of somebody else's, on raw rows."""
    prepared = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        remainder=OneHotEncoder(handle_unknown="ignore"),
    )
    model = make_pipeline(prepared, LogisticRegression(max_iter=1000))
    return model.fit(loans.drop(columns="grade"), loans["grade"])


@pytest.fixture(scope="module")
def rows(loans):
    bounds = loans.drop(columns="grade").describe()
    rows = make_loans(40, seed=4).drop(columns="grade")
    for name in ("income", "debt", "age"):
        rows[name] = rows[name].clip(bounds.loc["min", name], bounds.loc["max", name])
    return rows


@pytest.mark.parametrize("proposer", PROPOSERS)
@pytest.mark.parametrize("trainer", TRAINERS)
def test_it_is_fitted_gives_recourses_is_stored_and_comes_back(
    trainer, proposer, loans, rows, counternet, pipeline, tmp_path
):
    given = {"ours": counternet, "pipeline": pipeline}.get(trainer)
    proposes, attack = PROPOSERS[proposer]
    model = CounterNet(
        make_schema(loans),
        trainer=TRAINERS[trainer],
        proposer=proposes,
        attack=attack,
        model=given,
        random_state=0,
    ).fit(loans.drop(columns="grade"), loans["grade"])
    decides = model if given is None else given
    np.testing.assert_array_equal(model.predict(rows), decides.predict(rows))

    recourse = model.recourse(rows, desired=1)
    assert broken_constraints(model.schema_, rows, recourse.attempted()) == []
    assert broken_constraints(model.schema_, rows, recourse.frame()) == []
    needed = decides.predict(rows) != 1
    assert 0 < needed.sum() < len(rows)
    np.testing.assert_array_equal(recourse.status == "not_needed", ~needed)
    honoured = decides.predict(recourse.attempted()) == 1
    if model.proposer_.promises:
        # Advice that lowers the chance by the jury is not given, though the model honours it.
        assert (needed & honoured)[recourse.advised].all()
    else:
        np.testing.assert_array_equal(recourse.status == "found", needed & honoured)
    assert recourse.valid[needed].mean() > 0.5

    each = model.recourse_each(rows.head(5).to_dict("records"), desired=1)
    assert [record["status"] for record in each] == recourse.status[:5].tolist()

    path = rocourse.save(model, tmp_path / "model")
    again = rocourse.load(path, **({"model": given} if trainer == "pipeline" else {}))
    assert (again.trainer_, again.proposer_) == (model.trainer_, model.proposer_)
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert again.recourse(rows, desired=1).to_records() == recourse.to_records()
    pd.testing.assert_frame_equal(again.recourse(rows).frame(), model.recourse(rows).frame())


def test_every_kind_of_proposer_and_trainer_is_tried():
    from rocourse.models import Trainer
    from rocourse.recourse import Proposer

    assert {type(proposes) for proposes, _ in PROPOSERS.values()} == set(Proposer.kinds.values())
    assert {type(trainer) for trainer in TRAINERS.values()} == set(Trainer.kinds.values())
