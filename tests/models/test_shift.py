"""Simulated shifts: rows drawn with unequal weights and then moved."""

import numpy as np
import pytest

from rocourse.models import Shift, TrainingRows, shift_rows, with_scores
from rocourse.models._shift import noisy_scores
from rocourse.schema import Categorical, Continuous, Rows, Schema, one_hot

SCHEMA = Schema(
    (
        Continuous("a", low=0.0, high=1.0),
        Continuous("b", low=0.0, high=1.0),
        Categorical("c", categories=("x", "y", "z")),
        Categorical("d", categories=("p", "q")),
    )
)
LAYOUT = SCHEMA.layout
STILL = Shift(noise=0.0, flip=0.0, shuffle=0.0, tilt=0.0, label_tilt=0.0)


def random_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, 3, n), rng.integers(0, 2, n)], axis=1)
    return Rows(rng.random((n, 2)).astype(np.float32), codes.astype(LAYOUT.category_dtype))


def shifted(rows, labels, seed=0, **options):
    drawn = shift_rows(
        TrainingRows(rows, labels, 2, SCHEMA), STILL(**options), np.random.default_rng(seed)
    )
    return drawn.rows, drawn.labels


def test_without_any_shift_rows_are_only_drawn_anew():
    rows, labels = random_rows(200), np.arange(200) % 2
    drawn, drawn_labels = shifted(rows, labels)

    def as_set(rows, labels):
        return {(*row, label) for row, label in zip(one_hot(rows, LAYOUT), labels, strict=True)}

    assert as_set(drawn, drawn_labels) <= as_set(rows, labels)


def test_noise_stays_within_its_reach_and_the_range():
    rows = Rows(np.full((500, 2), 0.95, np.float32), random_rows(500).categories)
    drawn, _ = shifted(rows, np.arange(500) % 2, noise=0.1)
    assert drawn.continuous.min() >= 0.85 - 1e-6
    assert drawn.continuous.max() <= 1.0


def test_a_shuffled_column_says_nothing_about_the_class():
    labels = np.arange(4000) % 2
    codes = np.stack([labels, labels], axis=1).astype(LAYOUT.category_dtype)
    rows = Rows(random_rows(4000).continuous, codes)
    drawn, drawn_labels = shifted(rows, labels, shuffle=1.0)
    for column in drawn.categories.T:
        assert abs(np.corrcoef(column, drawn_labels)[0, 1]) < 0.06


@pytest.mark.parametrize("evenness", [0.0, 0.5, 1.0])
def test_classes_are_drawn_as_evenly_as_asked_for(evenness):
    labels = (np.arange(20_000) % 10 == 0).astype(int)
    counts = np.array([18_000.0, 2_000.0]) ** (1.0 - evenness)
    _, drawn = shifted(random_rows(20_000), labels, class_evenness=evenness)
    assert drawn.mean() == pytest.approx(counts[1] / counts.sum(), abs=0.015)


@pytest.mark.parametrize("uniform", [0.0, 0.6, 1.0])
def test_redrawn_categories_are_as_new_as_asked_for(uniform):
    # The first column has three categories, of which the rows have one.
    rows = Rows(random_rows(9000).continuous, np.tile(np.array([[2, 0]], np.int16), (9000, 1)))
    drawn, _ = shifted(rows, np.arange(9000) % 2, flip=0.5, uniform_flip=uniform)
    shares = np.bincount(drawn.categories[:, 0], minlength=3) / 9000
    np.testing.assert_allclose(shares[:2], 0.5 * uniform / 3, atol=0.02)


def test_a_label_tilt_changes_how_frequent_the_classes_are():
    rows, labels = random_rows(2000), np.arange(2000) % 2
    shares = [shifted(rows, labels, seed=s, label_tilt=1.0)[1].mean() for s in range(8)]
    assert max(shares) - min(shares) > 0.3


def test_rows_given_are_left_as_they_are():
    rows, labels = random_rows(50), np.arange(50) % 2
    before = one_hot(rows, LAYOUT)
    shifted(rows, labels, noise=0.3, flip=0.5, shuffle=1.0, tilt=1.0)
    np.testing.assert_array_equal(one_hot(rows, LAYOUT), before)


def ordered_schema(first, second):
    return Schema((Categorical("c", categories=first), Categorical("d", categories=second)))


def test_ordered_categories_move_to_their_neighbours_only():
    numbers, words = tuple(range(20)), tuple(f"v{i}" for i in range(20))
    codes = np.stack([np.full(2000, 10), np.full(2000, 1)], axis=1).astype(np.int16)
    rows, labels = Rows(np.empty((2000, 0), np.float32), codes), np.arange(2000) % 2

    def moved(first, second):
        data = TrainingRows(rows, labels, 2, ordered_schema(first, second))
        shift = STILL(ordinal_noise=0.15)
        return shift_rows(data, shift, np.random.default_rng(0)).rows.categories

    drawn = moved(numbers, numbers)
    # Three of twenty categories to either side, and never past the end.
    assert np.unique(drawn[:, 0]).tolist() == [7, 8, 9, 10, 11, 12, 13]
    assert np.unique(drawn[:, 1]).tolist() == [0, 1, 2, 3, 4]
    # Words have no order, nor have numbers that do not rise.
    for unordered in (words, (*numbers[1:], 0)):
        drawn = moved(unordered, numbers)
        assert np.unique(drawn[:, 0]).tolist() == [10]
        assert np.unique(drawn[:, 1]).tolist() == [0, 1, 2, 3, 4]


def softmax(scores):
    shares = np.exp(scores - scores.max())
    return shares / shares.sum()


@pytest.mark.parametrize("scores", [(0.0, 1.5), (0.3, -1.0, 0.8)])
def test_noise_given_labels_is_the_noise_that_labels_are_drawn_with(scores):
    rng, n = np.random.default_rng(1), 40_000
    scores = np.array(scores)
    labels = rng.choice(len(scores), n, p=softmax(scores))
    values = noisy_scores(np.tile(scores, (n, 1)), labels, rng)
    assert (values.argmax(axis=1) == labels).all()
    # Had scores been others, labels would be as frequent as a logistic regression says.
    moves = np.array([0.7, -0.4, 0.2][: len(scores)])
    moved = np.bincount((values + moves).argmax(axis=1), minlength=len(scores)) / n
    np.testing.assert_allclose(moved, softmax(scores + moves), atol=4 * 0.5 / np.sqrt(n))


def test_labels_drift_with_the_spread_of_scores_and_stay_without():
    rows = random_rows(3000)
    rng = np.random.default_rng(2)
    lead = 8.0 * (rows.continuous[:, 0] - 0.5)
    labels = (rng.random(3000) < 1 / (1 + np.exp(-lead))).astype(np.int32)
    data = with_scores(TrainingRows(rows, labels, 2, SCHEMA))
    np.testing.assert_allclose(data.scores[:, 1] - data.scores[:, 0], lead, atol=1.0)

    def share_moved(drift, seed):
        drawn = shift_rows(data, STILL(drift=drift), np.random.default_rng(seed))
        return abs(drawn.labels.mean() - labels.mean())

    # Without drift labels differ by which rows are drawn alone.
    assert max(share_moved(0.0, seed) for seed in range(10)) < 0.04
    near, far = (np.mean([share_moved(d, seed) for seed in range(30)]) for d in (0.2, 1.0))
    assert near < 0.1 < far


def test_a_class_without_rows_is_never_drifted_to():
    rows, labels = random_rows(200), np.arange(200) % 2
    data = with_scores(TrainingRows(rows, labels, 3, SCHEMA))
    drawn = shift_rows(data, STILL(drift=2.0), np.random.default_rng(0))
    assert set(np.unique(drawn.labels)) <= {0, 1}
