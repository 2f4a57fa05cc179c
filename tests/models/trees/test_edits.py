"""Edits of one feature are judged as the edited rows are, and split points miss none of note."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocourse.errors import ConfigError, DataError
from rocourse.models.trees import TreeEvaluator, split_points
from rocourse.models.trees._ensemble import Tree, joined

quick = settings(max_examples=60, deadline=None, database=None)

KINDS = ("nan", "zero", "never")
CODES = 5


@st.composite
def ensembles(draw, outputs=(1, 3), symmetric=False):
    """Random trees: thresholds that come again, categories, missing values of every kind."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features = draw(st.integers(2, 5))
    n_outputs = draw(st.sampled_from(outputs))
    shared = n_outputs > 1 and draw(st.booleans())
    of_codes = rng.random(n_features) < (0.0 if symmetric else 0.4)
    make = _symmetric_tree if symmetric else _grown
    trees = [
        make(rng, of_codes, n_outputs if shared else 1, i % n_outputs)
        for i in range(draw(st.integers(1, 6)))
    ]
    zero = draw(st.sampled_from([0.0, 1e-3]))
    return joined(
        trees,
        base=rng.normal(size=n_outputs),
        link="logistic" if n_outputs == 1 else "softmax",
        strict=draw(st.booleans()),
        single=zero == 0.0 and draw(st.booleans()),
        zero=zero,
        missing=rng.choice(KINDS[:1] if zero == 0.0 else KINDS, n_features),
        categories=[tuple("abcde") if codes else None for codes in of_codes],
        names=None,
        classes=np.arange(max(2, n_outputs)),
    )


def _grown(rng, of_codes, width, output):
    nodes, apart = [], {}
    # Bushy, or so deep that rows arrive at very different times.
    deepest, ends = (6, 0.1) if rng.random() < 0.5 else (25, 0.4)

    def grow(depth):
        place = len(nodes)
        nodes.append([-1, 0.0, -1, -1, False, rng.normal(size=width)])
        if depth == 0 or rng.random() < ends:
            return place
        feature = int(rng.integers(len(of_codes)))
        threshold = rng.choice([-1.5, -0.1, 0.0, 0.25, 1.0 / 3.0, 2.0, 1e6])
        if of_codes[feature]:
            codes = np.flatnonzero(rng.random(CODES) < 0.5).tolist()
            apart[place] = (codes, bool(rng.random() < 0.5))
        nodes[place][:2] = feature, threshold
        nodes[place][2] = grow(depth - 1)
        nodes[place][3] = grow(depth - 1)
        nodes[place][4] = bool(rng.random() < 0.5)
        return place

    grow(int(rng.integers(0, deepest)))
    feature, threshold, left, right, missing_left, value = map(np.array, zip(*nodes, strict=True))
    return Tree(feature, threshold, left, right, missing_left, value, output, apart)


def _symmetric_tree(rng, of_codes, width, output):
    """All nodes of a level ask the same, also what was asked above."""
    depth = int(rng.integers(0, 6))
    inner = 2**depth - 1
    level = np.log2(np.arange(1, inner + 1)).astype(int)
    feature = np.full(2 * inner + 1, -1)
    feature[:inner] = rng.integers(len(of_codes), size=depth + 1)[level]
    threshold, missing_left = np.zeros(2 * inner + 1), np.zeros(2 * inner + 1, bool)
    threshold[:inner] = rng.choice([-1.5, -0.1, 0.0, 0.25, 2.0], depth + 1)[level]
    missing_left[:inner] = (rng.random(depth + 1) < 0.5)[level]
    left = np.where(feature < 0, -1, 2 * np.arange(2 * inner + 1) + 1)
    right = np.where(feature < 0, -1, left + 1)
    value = rng.normal(size=(2 * inner + 1, width))
    return Tree(feature, threshold, left, right, missing_left, value, output, {})


def some_values(ensemble, rng, shape):
    """Features, and values of them on thresholds and beside them, missing and unknown."""
    feature = rng.integers(ensemble.n_features, size=shape)
    thresholds = np.unique(ensemble.threshold)
    near = [thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)]
    number = rng.choice(np.concatenate([*near, [np.nan, 0.0, 5e-4, -1e-3, 1e30]]), shape)
    code = rng.choice([0.0, 1.0, 2.0, 3.0, 4.0, 9.0, -1.0, 1e30, np.nan], shape)
    return feature, np.where(ensemble.categorical[feature], code, number)


def some_rows(ensemble, rng, n):
    feature, value = some_values(ensemble, rng, 400)
    columns = [rng.choice(value[feature == k], n) for k in range(ensemble.n_features)]
    return np.stack(columns, axis=1)


def walked(ensemble, row):
    """The sums of leaves of a row, by following its paths."""
    sums = ensemble.base.copy()
    for root, output in zip(ensemble.root, ensemble.output, strict=True):
        k = root
        while ensemble.feature[k] >= 0:
            k = (ensemble.left if _goes_left(ensemble, k, row) else ensemble.right)[k]
        if ensemble.value.shape[1] > 1:
            sums += ensemble.value[k]
        else:
            sums[output] += ensemble.value[k, 0]
    return sums


def _goes_left(ensemble, k, row):
    feature = ensemble.feature[k]
    value = row[feature]
    if ensemble.code_set[k] >= 0:
        if np.isnan(value):
            return ensemble.missing_left[k]
        known = ensemble.left_codes[ensemble.code_set[k]]
        return known[int(value)] if 0.0 <= value < len(known) - 1 else known[-1]
    if ensemble.single:
        value = np.float64(np.float32(value))
    kind = ensemble.missing[feature]
    if abs(value) <= ensemble.zero or (np.isnan(value) and kind != "nan"):
        value = 0.0
    if np.isnan(value) or (kind == "zero" and value == 0.0):
        return ensemble.missing_left[k]
    threshold = ensemble.threshold[k]
    return value < threshold if ensemble.strict else value <= threshold


@quick
@given(ensembles(), st.integers(0, 2**32 - 1))
def test_rows_are_followed_down_to_their_leaves(ensemble, seed):
    rows = some_rows(ensemble, np.random.default_rng(seed), 30)
    expected = np.array([walked(ensemble, row) for row in rows])
    np.testing.assert_allclose(TreeEvaluator(ensemble).margins(rows), expected, atol=1e-12)


def test_symmetric_trees_are_told_from_others():
    rng = np.random.default_rng(0)
    about = {"base": [0.0], "link": "logistic", "strict": False, "single": False}
    about |= {"missing": ["nan"] * 3, "names": None, "classes": [0, 1]}
    same = [_symmetric_tree(rng, [False] * 3, 1, 0) for _ in range(4)]
    assert TreeEvaluator(joined(same, **about))._symmetric is not None
    other = next(t for t in (_grown(rng, [False] * 3, 1, 0) for _ in range(99)) if len(t.left) > 9)
    assert TreeEvaluator(joined([*same, other], **about))._symmetric is None


@quick
@given(st.one_of(ensembles(), ensembles(symmetric=True)), st.integers(0, 2**32 - 1), st.booleans())
def test_edits_are_judged_as_edited_rows_are(ensemble, seed, same_for_all):
    rng = np.random.default_rng(seed)
    rows, evaluator = some_rows(ensemble, rng, 70), TreeEvaluator(ensemble)
    feature, value = some_values(ensemble, rng, 25 if same_for_all else (70, 25))
    edited = np.repeat(rows[:, None], 25, axis=1)
    each = np.broadcast_to(feature, (70, 25))[:, :, None]
    np.put_along_axis(edited, each, np.broadcast_to(value, (70, 25))[:, :, None], axis=2)
    expected = evaluator.margins(edited.reshape(-1, ensemble.n_features))
    answer = evaluator.edit_margins(rows, evaluator.edits(feature, value))
    np.testing.assert_allclose(answer.reshape(expected.shape), expected, atol=1e-12)


def test_many_rows_are_judged_as_few_of_them_are():
    """They are taken in blocks, of rows and of cells."""
    rng = np.random.default_rng(0)
    trees = [_grown(rng, [False, True, False], 1, 0) for _ in range(40)]
    about = {"base": [0.0], "link": "logistic", "strict": False, "single": False}
    about |= {"missing": ["nan"] * 3, "names": None, "classes": [0, 1]}
    ensemble = joined(trees, **about)
    evaluator = TreeEvaluator(ensemble)
    rows = some_rows(ensemble, rng, 9001)
    shared = some_values(ensemble, rng, 30)
    own = some_values(ensemble, rng, (9001, 3))
    answer = evaluator.margins(rows)
    of_shared = evaluator.edit_margins(rows, evaluator.edits(*shared))
    of_own = evaluator.edit_margins(rows, evaluator.edits(*own))
    for start in range(0, 9001, 750):
        part = slice(start, start + 7)
        edits = evaluator.edits(own[0][part], own[1][part])
        alone = [
            evaluator.margins(rows[part]),
            evaluator.edit_margins(rows[part], evaluator.edits(*shared)),
            evaluator.edit_margins(rows[part], edits),
        ]
        for told, expected in zip((answer, of_shared, of_own), alone, strict=True):
            np.testing.assert_allclose(told[part], expected, atol=1e-12)


@quick
@given(ensembles(outputs=(1,)), st.integers(0, 2**32 - 1))
def test_the_smallest_change_that_makes_a_difference_is_a_split_point(ensemble, seed):
    check_smallest_changes(ensemble, seed, {}, lambda rng, value: value)


@quick
@given(
    ensembles(outputs=(1,)),
    st.integers(0, 2**32 - 1),
    st.sampled_from([(1.0, 0.0), (0.5, 0.25), (0.1, 0.0), (3.0, -1.0)]),
)
def test_the_smallest_change_on_a_grid_is_a_split_point(ensemble, seed, grid):
    step, first = grid

    def on_grid(rng, value):
        return first + step * np.rint((np.clip(value, -40.0, 40.0) - first) / step)

    check_smallest_changes(ensemble, seed, {"step": step, "first": first}, on_grid)


@quick
@given(ensembles(outputs=(1,)), st.integers(0, 2**32 - 1))
def test_the_smallest_change_among_stated_values_is_a_split_point(ensemble, seed):
    possible = np.array([-7.0, -1.5, -1.0, -0.1, 0.0, 0.3, 1.0 / 3.0, 2.0, 2.5, 1e7])

    def settle(values, upwards):
        places = np.searchsorted(possible, values, side="left" if upwards else "right")
        padded = np.concatenate([[np.nan], possible, [np.nan]])
        return padded[places + 1 if upwards else places]

    def chosen(rng, value):
        return rng.choice(possible, np.shape(value))

    check_smallest_changes(ensemble, seed, {"settle": settle}, chosen)


def check_smallest_changes(ensemble, seed, options, possible):
    """Whatever value makes a difference, a split point on the way to it makes one too."""
    rng = np.random.default_rng(seed)
    evaluator = TreeEvaluator(ensemble)
    rows = some_rows(ensemble, rng, 10)
    for feature in np.flatnonzero(~ensemble.categorical):
        points = split_points(ensemble, feature, **options)
        assert (np.diff(points) > 0.0).all()
        thresholds = np.unique(ensemble.threshold[ensemble.feature == feature])
        tried = np.concatenate([thresholds, rng.normal(size=30), rng.uniform(-3.0, 3.0, 30)])
        if ensemble.single and not options:
            # Of such trees, split points are float32.
            tried = tried.astype(np.float32).astype(np.float64)
        tried = np.append(possible(rng, tried), points)
        rows[:, feature] = rng.choice(tried, len(rows))
        if options:
            np.testing.assert_array_equal(points, settled(points, options))
        told = evaluator.edit_margins(rows, evaluator.edits(np.full(len(tried), feature), tried))
        changes = np.abs(told[:, :, 0] - evaluator.margins(rows)) > 1e-9
        way = tried - rows[:, [feature]]
        at_points = np.isin(tried, points)
        for row in range(len(rows)):
            for side in (way[row] > 0.0, way[row] < 0.0):
                found = np.abs(way[row][changes[row] & side])
                nearest = np.abs(way[row][changes[row] & side & at_points])
                assert not len(found) or nearest.min() <= found.min()


def settled(points, options):
    if "settle" in options:
        return options["settle"](points, True)
    step, first = options["step"], options["first"]
    return first + step * np.rint((points - first) / step)


def test_split_points_of_categories_are_their_codes():
    tree = Tree(
        np.array([0, -1, -1]),
        np.zeros(3),
        np.array([1, -1, -1]),
        np.array([2, -1, -1]),
        np.zeros(3, bool),
        np.array([[0.0], [1.0], [2.0]]),
        apart={0: ([1, 3], False)},
    )
    options = {"link": "logistic", "strict": False, "single": False, "names": None}
    options |= {"base": [0.0], "missing": ["nan", "nan"], "classes": [0, 1]}
    unnamed = joined([tree], **options)
    assert split_points(unnamed, 0).tolist() == [1.0, 3.0]
    assert split_points(unnamed, 1).tolist() == []
    named = joined([tree], **options, categories=[tuple("abcd"), None])
    assert split_points(named, 0).tolist() == [0.0, 1.0, 2.0, 3.0]


@given(ensembles())
@settings(max_examples=1, database=None)
def test_what_cannot_be_asked_is_refused_in_a_sentence(ensemble):
    evaluator, n = TreeEvaluator(ensemble), ensemble.n_features
    with pytest.raises(DataError, match="columns of the trees"):
        evaluator.margins(np.zeros((3, n + 1)))
    with pytest.raises(DataError, match="arrays of one shape"):
        evaluator.edits([0, 0], [1.0])
    with pytest.raises(DataError, match=f"from 0 to {n - 1}"):
        evaluator.edits([n], [1.0])
    with pytest.raises(DataError, match="those of 3 rows"):
        evaluator.edit_margins(np.zeros((3, n)), evaluator.edits(np.zeros((2, 1)), np.ones((2, 1))))
    with pytest.raises(ConfigError, match="step must be a number above 0"):
        split_points(ensemble, 0, step=0.0)
