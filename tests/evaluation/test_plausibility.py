"""Plausibility: distances that can be worked out by hand, and both measures from their definitions.

In the schema of these tests a step of income or debt is a tenth of its range, and another home
counts 2.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from rocourse import evaluation
from rocourse.errors import ConfigError, DataError
from rocourse.evaluation import Plausibility
from rocourse.evaluation import _scores as scores_module
from rocourse.schema import Categorical, Continuous, Schema, one_hot

# Without whole numbers no two distances are equal, and the k nearest are certain.
FINE = Schema(
    features=(
        Continuous("income", 0.0, 1.0),
        Continuous("debt", 0.0, 1.0),
        Categorical("home", ("own", "rent")),
    )
)


@pytest.fixture
def towards(by_hand, binary_schema):
    """Recourses whose attempts are the given rows, all asking for one class."""

    def towards(attempts: pd.DataFrame, desired=1, schema=binary_schema):
        before, after = (np.full(len(attempts), label) for label in (1 - desired, desired))
        return by_hand(schema, attempts, attempts, before, after, [True] * len(attempts))

    return towards


@pytest.fixture
def approved(incomes, binary_schema):
    """Approved people with incomes from 5 to 10, and three who were denied."""
    return Plausibility.fit(binary_schema, incomes(5, 6, 7, 8, 9, 10, 0, 1, 2), [1] * 6 + [0] * 3)


def random_rows(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": rng.binomial(10, 0.5, n),
            "debt": rng.integers(0, 11, n),
            "home": rng.choice(["own", "rent"], n),
        }
    )


def l1(a, b):
    return np.abs(a[:, None].astype(np.float64) - b[None]).sum(axis=2)


def factors(rows, training, k):
    """Local outlier factors from their definition, rows by the training rows alone."""

    def nearest(distances):
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(distances, order, axis=1)

    def density(reached, radius):
        order, distances = reached
        return 1 / (np.maximum(distances, radius[order]).mean(axis=1) + 1e-10)

    within = l1(training, training)
    np.fill_diagonal(within, np.inf)
    near = nearest(within)
    radius = near[1][:, -1]
    dense = density(near, radius)
    reached = nearest(l1(rows, training))
    outside = dense[reached[0]].mean(axis=1) / density(reached, radius)
    return outside, dense[near[0]].mean(axis=1) / dense


def test_distance_is_the_mean_over_the_five_nearest_of_the_desired_class(
    approved, towards, incomes
):
    distances = approved.distances(towards(incomes(5, 10, 0)))
    # To 5, 6, 7, 8, 9; to 10, 9, 8, 7, 6; and from 0, past those denied, to 5, 6, 7, 8, 9.
    np.testing.assert_allclose(distances, [0.2, 0.2, 0.7], atol=1e-6)


def test_another_category_counts_two(approved, towards, incomes):
    (distance,) = approved.distances(towards(incomes(5).assign(home="own")))
    assert distance == pytest.approx(2.2)


def test_a_class_with_too_few_rows_has_no_measures(approved, towards, incomes):
    recourse = towards(incomes(0, 1), desired=0)
    assert np.isnan(approved.distances(recourse)).all()
    assert np.isnan(approved.inliers(recourse)).all()
    assert set(approved.classes) == {0, 1}


def test_repeated_rows_count_for_the_distance_but_not_for_the_outlier_factor(
    binary_schema, towards, incomes
):
    repeated = Plausibility.fit(binary_schema, incomes(*[5] * 9), [1] * 9)
    recourse = towards(incomes(5, 6))
    np.testing.assert_allclose(repeated.distances(recourse), [0.0, 0.1], atol=1e-6)
    assert np.isnan(repeated.inliers(recourse)).all()


@pytest.mark.parametrize("seed", range(3))
def test_distances_are_those_of_all_pairs(binary_schema, towards, seed):
    training, attempts = random_rows(60, seed), random_rows(40, seed + 100)
    reference = Plausibility.fit(binary_schema, training, [1] * 60, neighbours=7)
    pairs = l1(
        *(one_hot(binary_schema.encode(f), binary_schema.layout) for f in (attempts, training))
    )
    expected = np.sort(pairs, axis=1)[:, :7].mean(axis=1)
    np.testing.assert_allclose(reference.distances(towards(attempts)), expected, atol=1e-5)


@pytest.mark.parametrize(("n", "outlying"), [(12, 0.05), (200, 0.05), (200, 0.2), (200, "auto")])
def test_inliers_have_a_factor_that_as_many_of_the_training_rows_have(towards, n, outlying):
    rng = np.random.default_rng(0)

    def draw(n):
        homes = rng.choice(["own", "rent"], n)
        return pd.DataFrame({"income": rng.beta(2, 4, n), "debt": rng.beta(4, 2, n), "home": homes})

    training = draw(n)
    attempts = pd.concat([draw(60), draw(60).assign(income=rng.uniform(0, 1, 60))])
    encoded, rows = (one_hot(FINE.encode(f), FINE.layout) for f in (training, attempts))
    expected, own = factors(rows, encoded, k=min(20, n - 1))
    # scikit-learn's own threshold is documented as a factor of 1.5.
    most = 1.5 if outlying == "auto" else np.quantile(own, 1.0 - outlying)
    inlier = expected <= most
    assert 10 < inlier.sum() < 110

    reference = Plausibility.fit(FINE, training, [1] * n, outlying=outlying)
    np.testing.assert_array_equal(reference.inliers(towards(attempts, schema=FINE)), inlier)
    np.testing.assert_array_equal(reference.inlying_rows(attempts, [1] * 120), inlier)


@pytest.mark.parametrize("outlying", [0.0, 0.6, -1, "often", True, None])
def test_a_wrong_share_of_outliers_is_refused(binary_schema, outlying):
    with pytest.raises(ConfigError, match="outlying must be a share above 0"):
        Plausibility.fit(binary_schema, random_rows(20, 0), [1] * 20, outlying=outlying)


def test_other_real_rows_are_mostly_inliers_and_shuffled_ones_are_not(towards):
    rng = np.random.default_rng(1)

    def draw(n):
        income = rng.uniform(0, 1, n)
        return pd.DataFrame({"income": income, "debt": 1 - income, "home": "own"})

    reference = Plausibility.fit(FINE, draw(300), [1] * 300)
    real = draw(200)
    shuffled = real.assign(debt=rng.permutation(real["debt"]))
    assert reference.inliers(towards(real, schema=FINE)).mean() > 0.9
    assert reference.inliers(towards(shuffled, schema=FINE)).mean() < 0.2


def test_large_classes_are_drawn_from_by_the_seed(binary_schema, towards):
    training, recourse = random_rows(200, 0), towards(random_rows(30, 1))

    def distances(**options):
        reference = Plausibility.fit(binary_schema, training, [1] * 200, **options)
        return reference.distances(recourse)

    few = distances(max_rows=20)
    np.testing.assert_array_equal(few, distances(max_rows=20))
    assert not np.array_equal(few, distances(max_rows=20, seed=1))
    # Of fewer rows, the nearest are further away.
    assert (few >= distances(max_rows=200) - 1e-6).all()
    np.testing.assert_array_equal(distances(max_rows=200), distances())


def test_scores_by_protocol(threshold, incomes, binary_schema):
    training = incomes(*range(11), *range(11))
    labels = [0] * 5 + [1] * 6 + [0] * 11
    reference = Plausibility.fit(binary_schema, training, labels)
    scores = evaluation.evaluate_model(threshold(5), incomes(0, 2, 9), reference=reference)
    up, down = scores.protocols["to_favourable"], scores.protocols["to_unfavourable"]
    # Up to 5, among 5 to 10; down to 4, of which there are two, as of 3, and one each of 5.
    assert up.neighbour_distance == pytest.approx((0 + 0.1 + 0.2 + 0.3 + 0.4) / 5)
    assert down.neighbour_distance == pytest.approx((0 + 0 + 0.1 + 0.1 + 0.1) / 5)
    everyone = scores.protocols["all"]
    assert everyone.neighbour_distance == pytest.approx((2 * 0.2 + 0.06) / 3)
    assert (up.inliers, down.inliers, everyone.inliers) == (1.0, 1.0, 1.0)
    assert scores.protocols["adverse"].neighbour_distance == up.neighbour_distance


def test_a_large_test_set_is_measured_by_a_draw(threshold, incomes, binary_schema, monkeypatch):
    monkeypatch.setattr(scores_module, "MAX_PLAUSIBILITY_ROWS", 3)
    training = incomes(*range(11)).assign(debt=range(11))
    reference = Plausibility.fit(binary_schema, training, [1] * 11)
    rows = incomes(*[0] * 11, *[10] * 11).assign(debt=[*range(11)] * 2)

    def measure():
        scores = evaluation.evaluate_model(threshold(5), rows, reference=reference)
        return {name: s.neighbour_distance for name, s in scores.protocols.items()}

    first = measure()
    assert measure() == first
    each = reference.distances(threshold(5).recourse(rows))[:11]
    means = [np.mean(drawn) for drawn in combinations(each, 3)]
    assert np.isclose(means, first["adverse"]).any()
    # There is no training row of the class that the other rows ask for.
    assert first["to_unfavourable"] is None


def test_without_training_rows_there_is_no_plausibility(threshold, incomes):
    scores = evaluation.evaluate_model(threshold(5), incomes(0, 9)).protocols["all"]
    assert scores.neighbour_distance is scores.inliers is None


def test_no_rows_to_judge_give_none(threshold, incomes, approved):
    scores = evaluation.evaluate_model(threshold(0), incomes(3, 4), reference=approved)
    assert scores.protocols["adverse"].neighbour_distance is None
    assert scores.protocols["adverse"].inliers is None


def test_training_labels_that_the_model_does_not_know_are_refused(
    threshold, incomes, binary_schema
):
    reference = Plausibility.fit(binary_schema, incomes(0, 9), ["yes", "no"])
    with pytest.raises(DataError, match=r"among \[0, 1\].*'no' was found"):
        evaluation.evaluate_model(threshold(5), incomes(0, 9), reference=reference)


@pytest.mark.parametrize("options", [{"neighbours": 0}, {"max_rows": 0}, {"neighbours": 2.5}])
def test_options_must_be_counts(binary_schema, incomes, options):
    with pytest.raises(ConfigError, match=f"{next(iter(options))} must be a whole number"):
        Plausibility.fit(binary_schema, incomes(0, 9), [0, 1], **options)


def test_labels_must_be_as_many_as_rows(binary_schema, incomes):
    with pytest.raises(DataError, match="labels from y must be one per row"):
        Plausibility.fit(binary_schema, incomes(0, 9), [0])


def test_usual_are_changes_to_within_the_1st_and_99th_percentile(by_hand):
    schema = Schema(features=(Continuous("income", 0.0, 1000.0), Continuous("debt", 0.0, 1000.0)))
    numbers = np.arange(1001.0)
    training = pd.DataFrame({"income": numbers, "debt": numbers})
    reference = Plausibility.fit(schema, training, np.arange(1001) % 2)
    before = pd.DataFrame({"income": [500.0] * 4, "debt": [999.0] * 4})
    # Percentiles 10 and 990: just inside, just outside, one of two outside, and a debt that was
    # unusual before and stays as it was.
    after = pd.DataFrame(
        {"income": [990.0, 991.0, 500.0, 10.0], "debt": [999.0, 999.0, 5.0, 999.0]}
    )
    recourse = by_hand(schema, before, after, [0] * 4, [1] * 4, [True] * 4)
    assert reference.usual(recourse).tolist() == [1.0, 0.0, 0.0, 1.0]
