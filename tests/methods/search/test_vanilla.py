"""VanillaCF against closed forms on linear models, and as a search over rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rocourse.methods.search import VanillaSettings, vanilla_recourses
from rocourse.methods.search._candidate import Candidate, better, no_candidate
from rocourse.methods.search._model import log_odds
from rocourse.methods.search._vanilla import Noise, search
from scipy.optimize import minimize

from rocourse.schema import Rows, one_hot

from .toy_models import (
    MIXED,
    HostModel,
    OpenModel,
    linear,
    linear_classes,
    make_space,
    predicted,
    random_rows,
    reachable,
    small_predictor,
)

WEIGHTS = np.array([1.0, -3.0, 2.0])
START = np.array([0.5, 0.5, 0.4])


def last_point(space, *, weights=WEIGHTS, **options):
    """Where a slow, long search on a linear model ends; the model says −0.2 at the start."""
    settings = VanillaSettings(**({"rate": 0.003, "steps": 3000, "start_noise": 0.02} | options))
    noise = Noise(jnp.array([0.3, -0.5, 0.9]), jnp.zeros(3))
    found = search(linear(weights), jnp.asarray(START), jnp.array(1), space, noise, settings)
    return np.asarray(found.x)


def test_hinge_and_l2_end_at_the_orthogonal_projection_on_the_margin():
    space = make_space(3, ())
    end = last_point(space, price=1.0, distance="l2", loss="hinge", margin=0.5)
    needed = 0.5 - WEIGHTS @ START
    np.testing.assert_allclose(end, START + needed * WEIGHTS / (WEIGHTS @ WEIGHTS), atol=0.01)


def test_hinge_and_l1_change_only_the_feature_that_yields_most():
    end = last_point(make_space(3, ()), price=0.3, distance="l1", loss="hinge", margin=0.5)
    needed = 0.5 - WEIGHTS @ START
    np.testing.assert_allclose(end, START + [0.0, -needed / 3.0, 0.0], atol=0.01)


def test_the_next_best_feature_changes_where_the_best_may_not():
    space = make_space(3, (), c1={"immutable": True})
    end = last_point(space, price=0.3, distance="l1", loss="hinge", margin=0.5)
    needed = 0.5 - WEIGHTS @ START
    np.testing.assert_allclose(end, START + [0.0, 0.0, needed / 2.0], atol=0.01)


@pytest.mark.parametrize("optimizer", ["adam", "rmsprop"])
@pytest.mark.parametrize("loss", ["cross_entropy", "mse"])
def test_smooth_losses_end_at_the_minimum_that_a_general_solver_finds(loss, optimizer):
    def objective(x):
        odds = WEIGHTS @ x
        miss = np.logaddexp(0.0, -odds) if loss == "cross_entropy" else 1 / (1 + np.exp(odds)) ** 2
        return miss + 0.4 * ((x - START) ** 2).sum()

    expected = minimize(objective, START, bounds=[(0, 1)] * 3, options={"ftol": 1e-15})
    end = last_point(
        make_space(3, ()), price=0.4, distance="l2", loss=loss, optimizer=optimizer, rate=0.001
    )
    assert objective(end) - expected.fun < 1e-5
    np.testing.assert_allclose(end, expected.x, atol=0.01)


def test_a_cheaper_valid_candidate_is_better_and_any_valid_one_than_none():
    def candidate(cost, odds, valid):
        return Candidate(jnp.array([cost]), jnp.array(cost), jnp.array(odds), jnp.array(valid))

    cheap, dear = candidate(1.0, 0.1, True), candidate(2.0, 5.0, True)
    close, far = candidate(0.5, -0.1, False), candidate(0.1, -3.0, False)
    nothing = no_candidate(jnp.zeros(1))
    for winner, loser in [(cheap, dear), (dear, close), (close, far), (far, nothing)]:
        assert better(winner, loser).cost == winner.cost
        assert better(loser, winner).cost == winner.cost


def test_the_kept_candidate_is_cheaper_than_where_the_search_ends():
    space = make_space(3, ())
    settings = VanillaSettings(price=0.0, loss="cross_entropy")
    noise = Noise(jnp.zeros(3), jnp.zeros(3))
    x = jnp.asarray(START, jnp.float32)
    found = search(linear(WEIGHTS), x, jnp.array(1), space, noise, settings)
    assert found.best.valid
    assert found.best.cost < jnp.abs(found.x - x).sum() - 0.5
    np.testing.assert_allclose(found.best.cost, np.abs(found.best.x - x).sum(), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_recourses_reach_their_target_where_the_limits_let_them(n_classes):
    model = OpenModel(linear_classes(MIXED.layout, n_classes, seed=1), n_classes)
    rows = random_rows(MIXED.layout, 70, seed=0)
    before = predicted(model, one_hot(rows, MIXED.layout))
    target = (before + 1) % n_classes
    found = vanilla_recourses(model, rows, target, MIXED, VanillaSettings(price=0.02), seed=0)
    reached = predicted(model, one_hot(found, MIXED.layout)) == target
    possible = reachable(model, rows, target)
    assert possible.mean() > 0.5 and reached[possible].mean() > 0.9
    np.testing.assert_array_equal(found.continuous[:, 1], rows.continuous[:, 1])
    assert (found.continuous[:, 2] >= rows.continuous[:, 2]).all()
    np.testing.assert_array_equal(found.categories[:, 1], rows.categories[:, 1])
    assert found.categories.dtype == rows.categories.dtype


@pytest.mark.parametrize("loss", ["hinge", "mse"])
def test_a_model_seen_from_outside_gets_what_its_network_gets(loss):
    network = small_predictor(MIXED)
    rows = random_rows(MIXED.layout, 40, seed=1)
    target = 1 - predicted(HostModel(network), one_hot(rows, MIXED.layout))
    settings = VanillaSettings(loss=loss, price=0.02, steps=25, rate=0.05)
    inside, outside = (
        vanilla_recourses(model, rows, target, MIXED, settings, seed=0)
        for model in (OpenModel(network), HostModel(network))
    )
    np.testing.assert_allclose(inside.continuous, outside.continuous, atol=1e-3)
    np.testing.assert_array_equal(inside.categories, outside.categories)


def test_a_row_gets_the_same_recourse_alone_and_among_others():
    model = OpenModel(small_predictor(MIXED))
    rows = random_rows(MIXED.layout, 40, seed=2)
    target = 1 - predicted(model, one_hot(rows, MIXED.layout))
    settings = VanillaSettings()
    together = vanilla_recourses(model, rows, target, MIXED, settings, seed=3)
    for i in (0, 31, 39):
        alone = vanilla_recourses(model, rows[[i]], target[[i]], MIXED, settings, seed=3)
        assert alone == together[[i]]


def test_no_rows_get_no_recourses():
    model = OpenModel(small_predictor(MIXED))
    rows = random_rows(MIXED.layout, 0, seed=0)
    found = vanilla_recourses(model, rows, np.zeros(0, int), MIXED, VanillaSettings(), seed=0)
    assert len(found) == 0


def test_jitter_moves_the_row_explained_but_not_its_limits():
    model = OpenModel(small_predictor(MIXED))
    rows = random_rows(MIXED.layout, 32, seed=4)
    target = 1 - predicted(model, one_hot(rows, MIXED.layout))
    plain, jittered = (
        vanilla_recourses(model, rows, target, MIXED, VanillaSettings(jitter=jitter), seed=0)
        for jitter in (0.0, 0.3)
    )
    assert not np.allclose(plain.continuous, jittered.continuous, atol=0.02)
    np.testing.assert_array_equal(jittered.continuous[:, 1], rows.continuous[:, 1])
    assert (jittered.continuous[:, 2] >= rows.continuous[:, 2]).all()
    np.testing.assert_array_equal(jittered.categories[:, 1], rows.categories[:, 1])


def test_a_model_that_is_sure_of_the_other_class_can_still_be_turned():
    """The probability of the target is 0 in float32, and so is its gradient."""
    space = make_space(2, ())
    model = OpenModel(linear([60.0, 0.0], -30.0))
    sure = Rows(np.array([[1.0, 0.5]]), np.zeros((1, 0), np.int16))
    assert model.probabilities(one_hot(sure, space.layout))[0, 0] == 0.0
    settings = VanillaSettings(loss="cross_entropy")
    found = vanilla_recourses(model, sure, np.array([0]), space, settings, seed=0)
    assert found.continuous[0, 0] < 0.5


def test_a_good_category_is_not_held_back_by_a_present_one_that_is_slightly_good():
    """Adam moves every column at the same pace; both shares would rise, and neither change."""
    space = make_space(0, (3,))
    model = OpenModel(linear([-2.0, 6.0, 0.05], -2.0))
    rows = Rows(np.zeros((1, 0)), np.array([[2]], np.int16))
    found = vanilla_recourses(model, rows, np.array([1]), space, VanillaSettings(), seed=0)
    np.testing.assert_array_equal(found.categories, [[1]])


def test_the_search_goes_on_while_only_the_soft_categories_are_content():
    """Two half changes would do, but no single one: both have to become whole."""
    space = make_space(0, (2, 2))
    model = OpenModel(linear([0.0, 3.0, 0.0, 3.0], -3.5))
    start = Rows(np.zeros((1, 0)), np.zeros((1, 2), np.int16))
    settings = VanillaSettings(margin=0.1)
    found = vanilla_recourses(model, start, np.array([1]), space, settings, seed=0)
    np.testing.assert_array_equal(found.categories, [[1, 1]])


def test_log_odds_are_those_of_the_probability():
    logits = jnp.array([0.3, -1.2, 2.0])
    shares = jax.nn.softmax(logits)
    for target in range(3):
        expected = jnp.log(shares[target] / (1 - shares[target]))
        np.testing.assert_allclose(log_odds(logits, jnp.array(target)), expected, rtol=1e-5)
    np.testing.assert_allclose(log_odds(jnp.array([0.7]), jnp.array(1)), 0.7)
    np.testing.assert_allclose(log_odds(jnp.array([0.7]), jnp.array(0)), -0.7)


def test_tuning_the_numbers_compiles_nothing_anew():
    traces = []

    class Counted(type(linear([1.0]))):
        def __call__(self, x):
            traces.append(x)
            return super().__call__(x)

    space = make_space(2, (2,))
    model = OpenModel(Counted(jnp.array([3.0, 1.0, 0.0, 1.0]), jnp.array(-2.0)))
    rows = random_rows(space.layout, 3, seed=0)
    target = np.ones(3, int)
    vanilla_recourses(model, rows, target, space, VanillaSettings(), seed=0)
    first = len(traces)
    options = {"price": 0.3, "rate": 0.05, "margin": 1.0, "jitter": 0.1, "start_noise": 0.2}
    vanilla_recourses(model, rows, target, space, VanillaSettings(**options), seed=1)
    assert 0 < first == len(traces)
