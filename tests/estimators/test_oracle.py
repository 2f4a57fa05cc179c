"""The oracle: a panel that knows the models that will judge."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.loans import fit, make_loans, make_schema

from rocourse.errors import ConfigError
from rocourse.estimators import RoCoursePanel, VanillaCF, oracle


def test_knowing_the_judges_convinces_them_at_less_cost(loans):
    judges = [
        fit(VanillaCF, make_loans(400, seed=seed), trainer__epochs=30) for seed in range(1, 4)
    ]
    judges.append(
        fit(
            RoCoursePanel,
            make_loans(400, seed=4),
            trainer__epochs=30,
            proposer__members=2,
            trainer__committee=2,
        )
    )
    rows = make_loans(100, seed=9).drop(columns="grade")
    model = fit(
        RoCoursePanel, loans, trainer__epochs=30, proposer__members=4, proposer__margin_quantile=0.5
    )
    told = oracle(model, judges).recourse(rows)
    for judge in (model, *judges):
        assert (judge.predict(told.attempted()) == told.desired).mean() > 0.97
    guessed = model.recourse(rows)
    assert told.proximity.mean() < guessed.proximity.mean()
    # The model itself is as it was.
    assert model.recourse(rows).to_records() == guessed.to_records()


def test_knowing_needs_networks(fitted, loans):
    features, labels = loans.drop(columns="grade"), loans["grade"]
    foreign = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    stranger = VanillaCF(make_schema(loans), model=foreign.fit(features, labels), random_state=0)
    with pytest.raises(ConfigError, match="must have networks of ours, but 1 have none"):
        oracle(fitted("rocourse-panel"), [stranger.fit(features, labels)])


def test_knowing_needs_a_panel(fitted):
    with pytest.raises(ConfigError, match="must come from a model with a PanelProposer, but got"):
        oracle(fitted("counternet"), [fitted("vanillacf")])
