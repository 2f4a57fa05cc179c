"""The jury's search: constraints, amounts that people use, nothing that could be taken back."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm
from tests.loans import fit, make_loans

from rocourse.estimators import RoCourse
from rocourse.models.jurors import Jurors, Lines, Networks, lead, scores_of_hidden, tree_scores
from rocourse.models.jurors._trees import Trees
from rocourse.recourse.jury._standing import Jury, standing
from rocourse.recourse.search import usual_values
from rocourse.schema import Categorical, Continuous, Rows, Schema, one_hot


@pytest.fixture(scope="module")
def model(loans):
    # Without a temperature, which the jury does not see, probabilities are the search's own.
    options = {"trainer__committee": 2, "trainer__epochs": 40, "trainer__tempered": False}
    return fit(RoCourse, loans, **options, kept=0.6)


@pytest.fixture(scope="module")
def refused(model, loans):
    rows = loans.drop(columns="grade")
    return rows[model.predict(rows) == 0]


def standings(model, rows, target):
    x = jnp.asarray(one_hot(rows, model.schema_.layout).T)
    return np.asarray(standing(model.state_.jury, x, jnp.asarray(target)))


def moderated(leads, usual):
    """Half of the variance is what a family's few members say, half is what is usual of them."""
    return np.maximum(np.sqrt((leads.var(axis=0, ddof=1) + usual**2) / 2.0), 0.15)


def test_a_standing_is_the_mean_lead_in_moderated_deviations(model, refused):
    rows = model.schema_.encode(refused.head(20))
    x, target = jnp.asarray(one_hot(rows, model.schema_.layout).T), jnp.ones(20, int)
    jurors, usual = model.state_.jury.jurors, model.state_.jury.usual
    assert (usual > 0.0).all()
    hidden = np.einsum("muw,wn->mun", jurors.networks.hidden_weight, x)
    families = [
        lead(scores_of_hidden(jurors.networks, hidden), target),
        lead(
            np.einsum("mcw,wn->mcn", jurors.lines.weight, x) + jurors.lines.bias[:, :, None], target
        ),
        lead(tree_scores(jurors.trees, x), target),
    ]
    found = standings(model, rows, target)
    for family, told, its_usual in zip(families, found[1:], usual, strict=True):
        leads = np.asarray(family)
        expected = leads.mean(axis=0) / moderated(leads, its_usual)
        np.testing.assert_allclose(told, expected, rtol=1e-3, atol=1e-4)
    # The model's own lead is its log-odds, by the networks' deviation.
    share = model.predict_proba(refused.head(20))[:, 1]
    deviation = moderated(np.asarray(families[0]), usual[0])
    np.testing.assert_allclose(
        found[0], np.log(share / (1 - share)) / deviation, rtol=1e-2, atol=1e-3
    )


def test_no_change_is_left_that_costs_more_than_it_is_worth(model, refused):
    recourse = model.recourse(refused.head(40))
    level = model.state_.calibration.levels[1]
    rows, attempts = recourse.original_rows, recourse.attempts

    def worth(attempts):
        """The share of models that agree, as cost, less what the changes cost."""
        said = standings(model, attempts, np.ones(len(rows), int))
        numbers = np.abs(attempts.continuous - rows.continuous)
        others = attempts.categories != rows.categories
        cost = numbers.sum(axis=1) + 2.0 * others.sum(axis=1)
        return 8.0 * level**2 * norm.cdf(0.9 * said).mean(axis=0) - cost, said[0]

    best, lead = worth(attempts)
    assert (lead[recourse.advised] > 0.0).all()
    tried = 0
    for k in range(attempts.continuous.shape[1]):
        changed = rows.continuous[:, k] != attempts.continuous[:, k]
        back = attempts.continuous.copy()
        back[:, k] = rows.continuous[:, k]
        without, consent = worth(Rows(back, attempts.categories))
        # What takes the model's consent away is worth nothing.
        better = changed & (consent >= 0.25) & (without > best + 0.02)
        assert better.sum() <= 0.1 * changed.sum()
        tried += changed.sum()
    assert tried > 20


def test_what_is_chosen_for_its_cost_is_promised_by_its_own_chance(model, refused):
    options = model.recourse(refused.head(40), options=3)
    share = 0.8  # half of what may be broken of .6 is in reserve
    for other in options.others:
        promised = other.status == "found"
        assert (other.robustness[promised] >= share - 1e-6).all()


def test_statuses_say_what_is_promised_valid_and_better_than_nothing(model, refused):
    recourse = model.recourse(refused)
    promised = recourse.status == "found"
    assert promised.any()
    wanted = np.ones(len(refused), int)
    said = model.proposer_.promise(model.state_, model._context(), recourse.attempts, wanted)
    before = model.proposer_.promise(model.state_, model._context(), recourse.original_rows, wanted)
    assert said.made[promised].all()
    np.testing.assert_allclose(recourse.robustness, said.chance)
    assert (said.chance >= before.chance)[recourse.advised].all()
    assert (model.predict(recourse.frame())[recourse.advised] == 1).all()


def test_numbers_stay_within_the_percentiles_and_are_amounts_that_people_use(loans, refused, model):
    changes = model.recourse(refused).changes()
    training = loans.drop(columns="grade")
    for name, amount in (("income", 1.0), ("debt", 1.0)):
        asked = changes.loc[changes["feature"] == name, "to"].astype(float)
        low, high = np.quantile(training[name], [0.01, 0.99])
        assert asked.between(low - 1e-3, high + 1e-3).all()
        np.testing.assert_allclose(asked / amount, np.round(asked / amount), atol=1e-3)


def test_the_pledge_is_of_the_favourable_class(model):
    pledge = model.pledge()
    assert pledge.kept == 0.6
    assert 0.6 <= pledge.expected <= 1.0
    assert 0.0 < pledge.coverage <= 1.0
    with pytest.raises(Exception, match="must be one of"):
        model.pledge("nothing")


def test_a_higher_share_costs_more(model, refused):
    costs = []
    for kept in (0.5, 0.8):
        strict = model.promising(kept)
        costs.append(strict.recourse(refused).proximity.mean())
    assert costs[1] >= costs[0]


def test_groups_say_how_far_the_world_moves(loans):
    rows, labels = loans.drop(columns="grade"), loans["grade"]
    moved = RoCourse(model_schema(loans), kept=0.4, **SMALLER, random_state=0)
    years = np.where(np.arange(len(rows)) % 2, "2001", "2002")
    grouped = moved.fit(rows, labels, groups=years)
    assert grouped.pledge().coverage > 0.0
    for wrong, why in ((years[:-1], "one group for each"), (np.full(len(rows), "a"), "at least")):
        with pytest.raises(Exception, match=why):
            moved.fit(rows, labels, groups=wrong)


def model_schema(loans):
    return Schema.infer(loans, target="grade", immutable=["region"], increase_only=["age"])


SMALLER = {
    "trainer__epochs": 40,
    "trainer__committee": 1,
    "proposer__jurors": 2,
    "proposer__witnesses": 4,
}


def test_three_classes_are_promised_too(optimised):
    loans = make_loans(240, seed=4, n_classes=3)
    model = fit(RoCourse, loans, trainer__committee=1)
    recourse = model.recourse(loans.drop(columns="grade"), desired=2)
    assert recourse.advised.any()
    assert (model.predict(recourse.frame())[recourse.advised] == 2).all()


def test_amounts_and_categories_are_those_that_training_rows_have():
    rng = np.random.default_rng(0)
    schema = Schema(
        (
            Continuous("amount", low=250.0, high=18_424.0, integer=True),
            Continuous("ratio", low=0.0, high=1.0),
            Categorical("kind", categories=("common", "rare", "never")),
        )
    )
    values = np.stack([rng.random(1000) ** 3, 0.2 + 0.5 * rng.random(1000)], axis=1)
    codes = (rng.random((1000, 1)) < 0.01).astype(schema.layout.category_dtype)
    rows = Rows(values.astype(np.float32), codes)
    edits, grid = usual_values(rows, schema, min_category_share=0.02)
    amounts = 250.0 + (18_424.0 - 250.0) * edits.value[edits.feature == 0]
    np.testing.assert_allclose(amounts / 100.0, np.round(amounts / 100.0), atol=1e-3)
    ratios = edits.value[edits.feature == 1]
    np.testing.assert_allclose(ratios / 0.005, np.round(ratios / 0.005), atol=1e-3)
    assert ratios.min() >= np.quantile(values[:, 1], 0.01) - 1e-6
    assert ratios.max() <= np.quantile(values[:, 1], 0.99) + 1e-6
    assert edits.column[edits.feature == 2].tolist() == [2]
    np.testing.assert_allclose(grid.step * [18_174.0, 1.0], [100.0, 0.005], rtol=1e-5)


def test_a_jury_is_a_tree_of_arrays(model):
    jury = model.state_.jury
    assert isinstance(jury, Jury)
    assert isinstance(jury.jurors, Jurors)
    assert [type(part) for part in jury.jurors] == [Networks, Lines, Trees]
