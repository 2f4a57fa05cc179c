from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rocourse import evaluation
from rocourse.errors import DataError

CLASSES = np.array([0, 1])
THREE = np.array(["high", "low", "middle"])


def with_approval(*probabilities: float) -> np.ndarray:
    approve = np.array(probabilities)
    return np.column_stack([1 - approve, approve])


def test_accuracy_is_the_share_of_right_labels():
    assert evaluation.accuracy([0, 1, 1, 0], [0, 1, 0, 0]) == 0.75


def test_accuracy_reads_series_by_position_not_by_index():
    actual = pd.Series([0, 1], index=[7, 3])
    assert evaluation.accuracy(actual, pd.Series([0, 1], index=[3, 7])) == 1.0


def test_accuracy_of_no_rows_is_none():
    assert evaluation.accuracy([], []) is None


def test_accuracy_refuses_a_column_vector_instead_of_broadcasting_it():
    with pytest.raises(DataError, match=r"one per row, shape \(2,\), but have shape \(2, 1\)"):
        evaluation.accuracy([0, 1], [[0], [1]])


def test_binary_auc_counts_the_pairs_in_the_right_order():
    # Approved: .9 and .4; denied: .5 and .1. Three of the four pairs are in the right order.
    assert evaluation.auc([1, 0, 1, 0], with_approval(0.9, 0.5, 0.4, 0.1), CLASSES) == 0.75


@pytest.mark.parametrize("label", [0, 1])
def test_auc_is_none_where_only_one_class_is_present(label):
    assert evaluation.auc([label] * 3, with_approval(0.9, 0.5, 0.4), CLASSES) is None


def test_multi_class_auc_is_the_mean_of_one_against_the_rest():
    probabilities = np.array([[0.6, 0.2, 0.2], [0.3, 0.4, 0.3], [0.4, 0.35, 0.25], [0.7, 0.1, 0.2]])
    actual = ["high", "low", "middle", "middle"]
    # high: .6 beats .3, .4, loses to .7 → 2/3. low: .4 beats all → 1.
    # middle: .25 beats .2, loses to .3; .2 ties with .2, loses to .3 → 1.5/4.
    expected = (2 / 3 + 1 + 1.5 / 4) / 3
    assert evaluation.auc(actual, probabilities, THREE) == pytest.approx(expected)


def test_multi_class_auc_leaves_out_an_absent_class():
    probabilities = np.array([[0.6, 0.2, 0.2], [0.3, 0.4, 0.3], [0.5, 0.4, 0.1]])
    # "middle" never occurs. high: .6 beats .3 and .5 → 1. low: .4 and .4 beat .2 → 1.
    assert evaluation.auc(["high", "low", "low"], probabilities, THREE) == 1.0


def test_multi_class_auc_is_none_where_only_one_class_is_present():
    assert evaluation.auc(["low", "low"], np.full((2, 3), 1 / 3), THREE) is None


@pytest.mark.parametrize(
    ("predicted", "constant"),
    [([1, 1, 1], 1), ([0, 0], 0), (["no", "no"], "no"), ([0, 1, 1], None), ([1], None), ([], None)],
)
def test_constant_predictors_are_detected(predicted, constant):
    assert evaluation.constant_class(np.array(predicted)) == constant


def test_constant_class_is_a_plain_value():
    assert type(evaluation.constant_class(np.array([1, 1]))) is int


@pytest.fixture
def recourse(by_hand, binary_schema, incomes):
    """Four rows: honoured at 6 and 7, tried in vain at 4, and one that needed nothing."""
    X = incomes(1, 2, 3, 9)
    attempts = incomes(6, 7, 4, 9)
    attempts.loc[1, "home"] = "own"
    return by_hand(
        binary_schema, X, attempts, [0, 0, 0, 1], [1, 1, 1, 1], [True, True, False, True]
    )


def test_validity_counts_only_rows_that_needed_a_recourse(recourse):
    assert evaluation.validity(recourse) == pytest.approx(2 / 3)


def test_robust_validity_is_the_mean_over_judges_of_the_attempts(recourse, threshold):
    # From 7: one of three. From 3: all three.
    judges = [threshold(7).predict, threshold(3).predict]
    assert evaluation.robust_validity(recourse, judges) == pytest.approx((1 / 3 + 1) / 2)


def test_robust_validity_without_judges_is_none(recourse):
    assert evaluation.robust_validity(recourse, []) is None


def test_proximity_is_encoded_distance_and_a_category_counts_two(recourse):
    assert evaluation.proximity(recourse) == pytest.approx((0.5 + (0.5 + 2) + 0.1) / 3)


def test_sparsity_counts_raw_features(recourse):
    assert evaluation.sparsity(recourse) == pytest.approx((1 + 2 + 1) / 3)


def test_measures_are_none_when_no_row_needed_a_recourse(recourse, threshold):
    nothing = recourse[3:]
    assert len(nothing) == 1
    assert evaluation.validity(nothing) is None
    assert evaluation.robust_validity(nothing, [threshold(5).predict]) is None
    assert evaluation.proximity(nothing) is None
    assert evaluation.sparsity(nothing) is None


def test_diversity_counts_the_features_in_which_options_differ(recourse):
    assert evaluation.diversity(recourse) is None
    advised = recourse.advised
    same = replace(recourse, others=(recourse,))
    assert evaluation.diversity(same) == 0.0
    back = replace(recourse, attempts=recourse.original_rows)
    several = replace(recourse, others=(back, recourse))
    # The first and the last are the same; the one between them changes nothing.
    changed = recourse.features_changed[advised].mean()
    assert evaluation.diversity(several) == pytest.approx(2 * changed / 3)
