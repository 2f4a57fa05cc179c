"""The panel: shifted rows, margins, and what its recourses are worth."""

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rocourse.methods import RoCoursePanel, VanillaCF
from rocourse.methods._panel import make_edits
from rocourse.methods._shifted_rows import ShiftConfig, shift_rows

from rocourse.errors import ConfigError
from rocourse.schema import Layout, Rows, one_hot

from .conftest import fit, make_loans, small

LAYOUT = Layout(2, (3, 2))
STILL = {"noise": 0.0, "flip": 0.0, "scramble": 0.0, "tilt": 0.0, "label_tilt": 0.0}


def random_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, 3, n), rng.integers(0, 2, n)], axis=1)
    return Rows(rng.random((n, 2)).astype(np.float32), codes.astype(LAYOUT.category_dtype))


def with_codes(codes):
    """Random rows, but for the first categorical feature."""
    rows = random_rows(len(codes))
    columns = rows.categories.copy()
    columns[:, 0] = codes
    return Rows(rows.continuous, columns)


def shifted(rows, labels, seed=0, **options):
    rng = np.random.default_rng(seed)
    return shift_rows(rows, labels, 2, LAYOUT, ShiftConfig(**STILL | options), rng)


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


def test_a_scrambled_column_says_nothing_about_the_class():
    labels = np.arange(4000) % 2
    codes = np.stack([labels, labels], axis=1).astype(LAYOUT.category_dtype)
    rows = Rows(random_rows(4000).continuous, codes)
    drawn, drawn_labels = shifted(rows, labels, scramble=1.0)
    for column in drawn.categories.T:
        assert abs(np.corrcoef(column, drawn_labels)[0, 1]) < 0.06


@pytest.mark.parametrize("evenness", [0.0, 0.5, 1.0])
def test_classes_are_drawn_as_evenly_as_asked_for(evenness):
    labels = (np.arange(20_000) % 10 == 0).astype(int)
    counts = np.array([18_000.0, 2_000.0]) ** (1.0 - evenness)
    _, drawn = shifted(random_rows(20_000), labels, evenness=evenness)
    assert drawn.mean() == pytest.approx(counts[1] / counts.sum(), abs=0.015)


@pytest.mark.parametrize("novelty", [0.0, 0.6, 1.0])
def test_redrawn_categories_are_as_new_as_asked_for(novelty):
    # The first column has three categories, of which the rows have one.
    rows = with_codes(np.full(9000, 2))
    drawn, _ = shifted(rows, np.arange(9000) % 2, flip=0.5, novelty=novelty)
    shares = np.bincount(drawn.categories[:, 0], minlength=3) / 9000
    np.testing.assert_allclose(shares[:2], 0.5 * novelty / 3, atol=0.02)


def test_ordered_categories_move_to_their_neighbours_only():
    layout = Layout(0, (20, 20))
    rng = np.random.default_rng(0)
    codes = np.stack([np.full(2000, 10), np.full(2000, 1)], axis=1).astype(layout.category_dtype)
    rows, labels = Rows(np.empty((2000, 0), np.float32), codes), np.arange(2000) % 2
    config = ShiftConfig(**STILL, jitter=0.15, ordered=(True, True))
    drawn, _ = shift_rows(rows, labels, 2, layout, config, rng)
    # Three of twenty categories to either side, and never past the end.
    assert np.unique(drawn.categories[:, 0]).tolist() == [7, 8, 9, 10, 11, 12, 13]
    assert np.unique(drawn.categories[:, 1]).tolist() == [0, 1, 2, 3, 4]
    for unordered in (replace(config, ordered=(False, True)), replace(config, ordered=())):
        drawn, _ = shift_rows(rows, labels, 2, layout, unordered, rng)
        assert np.unique(drawn.categories[:, 0]).tolist() == [10]


def test_a_label_tilt_changes_how_frequent_the_classes_are():
    rows, labels = random_rows(2000), np.arange(2000) % 2
    shares = [shifted(rows, labels, seed=s, label_tilt=1.0)[1].mean() for s in range(8)]
    assert max(shares) - min(shares) > 0.3


def test_rows_given_are_left_as_they_are():
    rows, labels = random_rows(50), np.arange(50) % 2
    before = one_hot(rows, LAYOUT)
    shifted(rows, labels, noise=0.3, flip=0.5, scramble=1.0, tilt=1.0)
    np.testing.assert_array_equal(one_hot(rows, LAYOUT), before)


def test_edits_ask_for_usual_values_only():
    codes = np.zeros(1000)
    codes[0] = 2
    rows = with_codes(codes)
    edits = make_edits(rows, LAYOUT, np.array([0.0, 0.1]), np.zeros(2), rarest=0.0)
    numbers = edits.value[edits.feature == 0]
    low, high = np.quantile(rows.continuous[:, 0], [0.01, 0.99])
    assert numbers.min() >= low - 1e-6 and numbers.max() <= high + 1e-6
    whole = 10 * edits.value[edits.feature == 1]
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-4)
    # The 1st percentile is 0.01 and the 99th 0.99: the whole tenths within are 0.1 to 0.9.
    assert (whole.min().round(), whole.max().round()) == (1, 9)
    # The category of a single row, and the one that no row has, are not asked for.
    assert edits.column[edits.feature == 2].tolist() == [2]


@pytest.mark.parametrize(
    ("rarest", "asked"), [(0.0, [2, 3, 4]), (0.05, [2, 4]), (0.2, [4]), (0.95, [4])]
)
def test_rare_categories_are_not_asked_for(rarest, asked):
    rows = with_codes(np.repeat([0, 1, 2], [100, 40, 860]))
    edits = make_edits(rows, LAYOUT, np.zeros(2), np.zeros(2), rarest=rarest)
    # The columns of the feature's categories follow those of the two numbers. The most frequent one
    # is asked for even if no category is frequent enough.
    assert edits.column[edits.feature == 2].tolist() == asked


@pytest.mark.parametrize(("rarest", "tail"), [(0.0, 0.01), (0.1, 0.05), (0.4, 0.2)])
def test_numbers_that_few_rows_exceed_are_not_asked_for(rarest, tail):
    rows = random_rows(2000)
    edits = make_edits(rows, LAYOUT, np.zeros(2), np.zeros(2), rarest=rarest)
    for number in range(2):
        asked = edits.value[edits.feature == number]
        ends = np.quantile(rows.continuous[:, number], [tail, 1.0 - tail])
        np.testing.assert_allclose([asked.min(), asked.max()], ends, atol=1e-6)
        np.testing.assert_allclose([edits.low[number], edits.high[number]], ends, atol=1e-6)


def test_models_make_little_of_categories_that_few_rows_have():
    frame = make_loans(600, seed=0)
    # The region means nothing, but by chance all that come from abroad are of one class.
    few = frame.index[frame["grade"] == 0][:12]
    frame.loc[few, "region"] = "abroad"
    rows = make_loans(200, seed=9).drop(columns="grade")

    def effect(novelty):
        model = fit(RoCoursePanel, frame, epochs=30, members=1, blur_flip=0.3, novelty=novelty)
        home, away = (
            model.predict_proba(rows.assign(region=region))[:, 1] for region in ("north", "abroad")
        )
        return np.abs(away - home).mean()

    assert effect(1.0) < 0.5 * effect(0.0)


def test_a_model_of_jittered_categories_tells_neighbours_alike():
    frame = make_loans(600, seed=0)
    # What one of thirty says, those beside it deny.
    days = pd.Categorical(np.arange(600) % 30)
    frame = frame.assign(days=days, grade=np.arange(600) % 2)
    rows = make_loans(100, seed=9).drop(columns="grade")

    def unevenness(blur_jitter):
        model = fit(RoCoursePanel, frame, epochs=30, members=1, blur_jitter=blur_jitter)
        told = [
            model.predict_proba(rows.assign(days=pd.Categorical([day] * 100, days.categories)))
            for day in range(30)
        ]
        return np.abs(np.diff(told, axis=0)).mean()

    assert unevenness(0.2) < 0.5 * unevenness(0.0)


def test_recourses_are_honoured_by_models_retrained_on_other_rows_more_often(loans):
    judges = [fit(VanillaCF, make_loans(400, seed=seed), epochs=30) for seed in range(1, 5)]
    rows = make_loans(200, seed=9).drop(columns="grade")

    def honoured(**options):
        recourse = fit(RoCoursePanel, loans, epochs=30, **options).recourse(rows)
        return np.mean(
            [judge.predict(recourse.attempted()) == recourse.desired for judge in judges]
        )

    timid, bold = honoured(members=1, typicality=0.0), honoured(members=6, typicality=0.5)
    assert bold > timid
    assert bold > 0.97


def test_each_class_may_be_asked_for_with_a_typicality_of_its_own(loans):
    rows = make_loans(200, seed=9).drop(columns="grade")

    def recourses(typicality):
        return fit(RoCoursePanel, loans, epochs=30, typicality=typicality).recourse(rows)

    timid, bold = recourses(0.0), recourses((0.9, 0.0))
    refused = timid.desired == min(timid.desired)
    pd.testing.assert_frame_equal(bold.attempted()[~refused], timid.attempted()[~refused])
    assert bold.proximity[refused].mean() > 1.2 * timid.proximity[refused].mean()


@pytest.mark.parametrize(
    "option",
    [
        {"members": 0},
        {"typicality": 1.0},
        {"typicality": ()},
        {"typicality": (0.5, 0.5, 0.5)},
        {"typicality": (0.5, 1.0)},
        {"noise": -0.1},
        {"scramble": 1.5},
        {"worth": -1.0},
        {"committee": 0},
        {"copies": -1},
        {"evenness": -0.5},
        {"novelty": 1.5},
        {"rarest": 1.0},
        {"jitter": -0.1},
        {"blur_noise": -0.1},
        {"blur_flip": 1.0},
        {"blur_jitter": 1.5},
        {"balance": 1.5},
    ],
)
def test_impossible_parameters_are_refused(option, loans):
    (name,) = option
    with pytest.raises(ConfigError, match=f"'{name}'"):
        fit(RoCoursePanel, loans, **option)


def test_a_model_whose_network_is_not_at_hand_is_refused(loans):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    features, labels = loans.drop(columns="grade"), loans["grade"]
    foreign = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    foreign.fit(features, labels)
    with pytest.raises(ConfigError, match="'model' of RoCoursePanel must be a fitted model"):
        RoCoursePanel(model=foreign, **small(RoCoursePanel)).fit(features, labels)


def test_knowing_the_judges_convinces_them_at_less_cost(loans):
    judges = [fit(VanillaCF, make_loans(400, seed=seed), epochs=30) for seed in range(1, 4)]
    judges.append(fit(RoCoursePanel, make_loans(400, seed=4), epochs=30, members=2, committee=2))
    rows = make_loans(100, seed=9).drop(columns="grade")
    model = fit(RoCoursePanel, loans, epochs=30, members=4, typicality=0.5)
    told = model.knowing(judges).recourse(rows)
    for judge in (model, *judges):
        assert (judge.predict(told.attempted()) == told.desired).mean() > 0.97
    guessed = model.recourse(rows)
    assert told.proximity.mean() < guessed.proximity.mean()
    # The model itself is as it was.
    assert model.recourse(rows).to_records() == guessed.to_records()


def test_knowing_needs_networks(loans):
    model = fit(RoCoursePanel, loans)
    stranger = copy(model)
    stranger.predictor_ = None
    with pytest.raises(ConfigError, match="must have networks of ours, but 1 have none"):
        model.knowing([stranger])
