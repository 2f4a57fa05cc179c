"""Edits that convince a panel, beside plain Python and exhaustive search."""

import itertools

import numpy as np
import pytest
from rocourse.methods.search import Edits, Panel, Space, panel_recourses

from rocourse.schema import Categorical, Continuous, Rows, Schema, Target, one_hot

SCHEMA = Schema(
    features=(
        Continuous("a", low=0.0, high=1.0),
        Continuous("b", low=0.0, high=10.0, integer=True),
        Categorical("c", categories=("x", "y", "z")),
        Categorical("d", categories=("p", "q")),
    ),
    target=Target("t", classes=(0, 1), favourable=1),
)
LAYOUT = SCHEMA.layout
NUMBERS = (0.0, 0.5, 1.0)


def linear_panel(weights, biases, margin):
    """Networks without a hidden layer."""
    weights, biases = np.asarray(weights, np.float32), np.asarray(biases, np.float32)
    return Panel(
        weights=(weights[:, None, :],),
        biases=(biases[:, None],),
        margins=np.full((len(weights), 2), margin, np.float32),
    )


def all_edits():
    numbers = [(i, i, v) for i in range(2) for v in NUMBERS]
    categories = [
        (2 + g, s.start + k, 1.0)
        for g, s in enumerate(LAYOUT.group_slices)
        for k in range(s.stop - s.start)
    ]
    feature, column, value = zip(*numbers, *categories, strict=True)
    return Edits(
        np.asarray(feature, np.int32),
        np.asarray(column, np.int32),
        np.asarray(value, np.float32),
        np.zeros(2, np.float32),
        np.ones(2, np.float32),
    )


def random_rows(rng, n):
    values = np.stack([rng.random(n), rng.integers(0, 11, n) / 10], axis=1).astype(np.float32)
    codes = np.stack([rng.integers(0, 3, n), rng.integers(0, 2, n)], axis=1)
    return Rows(values, codes.astype(LAYOUT.category_dtype))


def leads(panel, rows, target):
    """By plain NumPy: how far each member is for the target, [members, n]."""
    x = one_hot(rows, LAYOUT)
    logits = x @ panel.weights[0][:, 0, :].T + panel.biases[0][:, 0]
    return (np.where(target, 1, -1)[:, None] * logits).T


def search(panel, rows, target, schema=SCHEMA, **options):
    space = Space.from_schema(schema)
    found = panel_recourses(panel, all_edits(), rows, target, space, steps=12, **options)
    return Rows(np.asarray(found.continuous), np.asarray(found.categories))


def costs(rows, found):
    return np.abs(one_hot(rows, LAYOUT) - one_hot(found, LAYOUT)).sum(axis=1)


def cheapest(panel, row, target, margin):
    """The least cost of any combination of edits that convinces all linear members."""
    best = np.inf
    values = [sorted({*NUMBERS, float(v)}) for v in row.continuous[0]]
    for a, b, c, d in itertools.product(*values, range(3), range(2)):
        tried = Rows(np.array([[a, b]], np.float32), np.array([[c, d]], LAYOUT.category_dtype))
        if leads(panel, tried, np.array([target])).min() >= margin - 1e-5:
            best = min(best, costs(row, tried)[0])
    return best


@pytest.mark.parametrize("seed", range(5))
def test_every_member_is_convinced_where_some_edits_convince_all(seed):
    rng = np.random.default_rng(seed)
    # Members that agree on the whole but not in detail.
    shared = rng.normal(size=LAYOUT.width)
    panel = linear_panel(shared + 0.3 * rng.normal(size=(4, LAYOUT.width)), rng.normal(size=4), 0.2)
    rows = random_rows(rng, 40)
    target = rng.integers(0, 2, 40)
    found = search(panel, rows, target)
    least = leads(panel, found, target).min(axis=0)
    for i in range(40):
        bound = cheapest(panel, rows[i : i + 1], target[i], 0.2)
        if np.isfinite(bound):
            assert least[i] >= 0.2 - 1e-4
            # Greedy, then pruned. Numbers may stop between the edits' values, which is cheaper.
            assert costs(rows[i : i + 1], found[i : i + 1])[0] <= bound + 2.0


def test_a_row_that_convinces_everyone_stays_as_it_is():
    panel = linear_panel(np.ones((3, LAYOUT.width)), [10.0] * 3, 0.5)
    rows = random_rows(np.random.default_rng(0), 10)
    found = search(panel, rows, np.ones(10, int))
    np.testing.assert_array_equal(found.continuous, rows.continuous)
    np.testing.assert_array_equal(found.categories, rows.categories)


def test_no_change_is_left_that_the_panel_can_do_without():
    rng = np.random.default_rng(3)
    shared = rng.normal(size=LAYOUT.width)
    panel = linear_panel(shared + 0.2 * rng.normal(size=(5, LAYOUT.width)), np.zeros(5), 0.3)
    rows = random_rows(rng, 60)
    target = rng.integers(0, 2, 60)
    found = search(panel, rows, target)
    least = leads(panel, found, target).min(axis=0)
    for kind in ("continuous", "categories"):
        for column in range(getattr(rows, kind).shape[1]):
            parts = {k: getattr(found, k).copy() for k in ("continuous", "categories")}
            parts[kind][:, column] = getattr(rows, kind)[:, column]
            undone = leads(panel, Rows(**parts), target).min(axis=0)
            changed = getattr(found, kind)[:, column] != getattr(rows, kind)[:, column]
            assert not (changed & (least >= 0.3) & (undone >= 0.3 + 1e-4)).any()


def test_whole_numbers_stay_whole_and_constraints_hold():
    rng = np.random.default_rng(4)
    schema = Schema(
        features=(
            Continuous("a", low=0.0, high=1.0, direction="up"),
            Continuous("b", low=0.0, high=10.0, integer=True),
            Categorical("c", categories=("x", "y", "z"), immutable=True),
            Categorical("d", categories=("p", "q")),
        ),
        target=SCHEMA.target,
    )
    panel = linear_panel(rng.normal(size=(3, LAYOUT.width)), rng.normal(size=3), 0.2)
    rows = random_rows(rng, 50)
    found = search(panel, rows, rng.integers(0, 2, 50), schema)
    whole = 10 * found.continuous[:, 1]
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-4)
    assert (found.continuous[:, 0] >= rows.continuous[:, 0]).all()
    np.testing.assert_array_equal(found.categories[:, 0], rows.categories[:, 0])


def test_networks_of_a_committee_are_judged_by_their_mean():
    rng = np.random.default_rng(5)
    shared = rng.normal(size=LAYOUT.width)
    parts = shared + 0.5 * rng.normal(size=(4, 3, LAYOUT.width))
    rows, target = random_rows(rng, 30), rng.integers(0, 2, 30)
    mean = linear_panel(parts.mean(axis=1), np.zeros(4), 0.2)
    split = linear_panel(parts.reshape(12, -1), np.zeros(12), 0.2)
    split = split._replace(margins=mean.margins)
    whole, apart = search(mean, rows, target), search(split, rows, target)
    np.testing.assert_allclose(costs(rows, whole), costs(rows, apart), atol=1e-4)


def test_what_costs_more_than_it_is_worth_is_not_asked_for():
    rng = np.random.default_rng(6)
    # Nobody convinces the last member, so that every edit that helps at all is made.
    weights = rng.normal(size=(4, LAYOUT.width))
    panel = linear_panel(weights, [0.0, 0.0, 0.0, -50.0], 0.5)
    rows, target = random_rows(rng, 60), np.ones(60, int)
    thrifty = [costs(rows, search(panel, rows, target, worth=worth)) for worth in (0.0, 0.1, 10.0)]
    assert thrifty[0].mean() > thrifty[1].mean() > thrifty[2].mean() == 0.0
