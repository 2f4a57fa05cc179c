"""Shapley values against their definition, over all orders and in rational numbers."""

from fractions import Fraction
from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocourse.reasons import MOST_EXACT, log_odds, shapley_values
from rocourse.schema import Categorical, Continuous, Rows, Schema


def schema_of(m, *, categories=()):
    """m features, of which those at the given places are categories."""
    return Schema(
        [
            Categorical(f"c{i}", categories=(0, 1, 2))
            if i in categories
            else Continuous(f"n{i}", 0, 1)
            for i in range(m)
        ]
    )


def random_rows(rng, schema, n):
    layout = schema.layout
    numbers = rng.random((n, layout.n_continuous)).astype(np.float32)
    codes = rng.integers(0, 3, (n, layout.n_categorical)).astype(np.int16)
    return Rows(numbers, codes)


def ordered(rows, schema):
    """Encoded values in the schema's order, one float a feature."""
    numbers, codes = iter(rows.continuous.T), iter(rows.categories.T)
    columns = [next(codes if isinstance(f, Categorical) else numbers) for f in schema.features]
    return np.stack([np.asarray(column, np.float64) for column in columns], axis=1)


def by_definition(score, x, background, weights):
    """The mean of what each feature adds, over all m! orders, in fractions."""
    m = len(x)
    values = [Fraction(0)] * m
    for b, weight in zip(background, weights, strict=True):
        for order in permutations(range(m)):
            mixed = b.copy()
            before = Fraction(float(score(mixed)))
            for i in order:
                mixed[i] = x[i]
                after = Fraction(float(score(mixed)))
                values[i] += Fraction(float(weight)) * (after - before)
                before = after
    return np.array([float(value / factorial(m)) for value in values])


def twisty(seed, m):
    """A score with interactions of all orders."""
    rng = np.random.default_rng(seed)
    first, second, cubic = rng.normal(size=m), rng.normal(size=(m, m)), rng.normal(size=m)

    def score(row):
        return row @ first + row @ second @ row + np.tanh(3 * (row @ cubic)) + 2 * row[:3].prod()

    return score


@pytest.mark.parametrize("categories", [(), (1, 3)])
def test_values_are_those_of_the_definition(categories):
    schema, rng = schema_of(5, categories=categories), np.random.default_rng(0)
    rows, background = random_rows(rng, schema, 3), random_rows(rng, schema, 4)
    weights, score = rng.dirichlet(np.ones(4)), twisty(1, 5)

    def asked(mixed):
        return np.array([score(row) for row in ordered(mixed, schema)])

    told = shapley_values(asked, rows, background, weights, schema=schema, seed=0)
    for i, row in enumerate(ordered(rows, schema)):
        expected = by_definition(score, row, ordered(background, schema), weights)
        np.testing.assert_allclose(told.values[i], expected, atol=1e-12)
    assert (told.errors == 0).all()
    np.testing.assert_allclose(told.score, asked(rows), atol=1e-12)
    np.testing.assert_allclose(told.base, weights @ asked(background), atol=1e-12)


@settings(max_examples=25)
@given(st.integers(1, 16), st.integers(1, 4), st.integers(0, 2**31))
def test_values_sum_up_to_the_difference_of_scores(m, k, seed):
    """By all sets and by drawn orders alike."""
    rng = np.random.default_rng(seed)
    categories = tuple(np.flatnonzero(rng.random(m) < 0.4).tolist())
    schema = schema_of(m, categories=categories)
    rows, background = random_rows(rng, schema, 2), random_rows(rng, schema, k)
    weights = rng.dirichlet(np.ones(k))
    first, second = rng.normal(size=m), rng.normal(size=(m, m))

    def asked(mixed):
        x = ordered(mixed, schema)
        return np.sin(x @ first) + ((x @ second) ** 2).sum(axis=1)

    told = shapley_values(asked, rows, background, weights, schema=schema, seed=seed)
    difference = asked(rows) - weights @ asked(background)
    np.testing.assert_allclose(told.values.sum(axis=1), difference, atol=1e-9)
    np.testing.assert_allclose(told.score - told.base, difference, atol=1e-9)


MANY = MOST_EXACT + 3


def test_features_without_effect_have_none_and_twins_share_alike():
    schema, rng = schema_of(6, categories=(5,)), np.random.default_rng(3)
    rows, background = random_rows(rng, schema, 4), random_rows(rng, schema, 5)
    rows, background = (
        Rows(part.continuous[:, [0, 0, 2, 3, 4]], part.categories) for part in (rows, background)
    )

    def asked(mixed):
        x = ordered(mixed, schema)
        return np.exp(x[:, 0] + x[:, 1]) * (1 + x[:, 2]) + (x[:, 5] == 1)

    told = shapley_values(asked, rows, background, np.full(5, 0.2), schema=schema, seed=0)
    np.testing.assert_allclose(told.values[:, 0], told.values[:, 1], atol=1e-12)
    np.testing.assert_array_equal(told.values[:, [3, 4]].round(12), 0.0)


def test_drawn_orders_are_exact_for_sums_and_for_pairs():
    """An order and its reverse give what two features add together to each of them by half."""
    schema, rng = schema_of(MANY), np.random.default_rng(4)
    rows, background = random_rows(rng, schema, 2), random_rows(rng, schema, 3)
    first, second = rng.normal(size=MANY), rng.normal(size=(MANY, MANY))
    second = np.triu(second, 1)

    def asked(mixed):
        x = ordered(mixed, schema)
        return x @ first + np.einsum("ni,ij,nj->n", x, second, x)

    told = shapley_values(asked, rows, background, np.full(3, 1 / 3), schema=schema, seed=0)
    both = second + second.T
    for i, x in enumerate(ordered(rows, schema)):
        moved = x - (others := ordered(background, schema))
        # Of a quadratic form, by hand: a sum of differences, weighed by the mean of both rows.
        exact = moved * (first + 0.5 * (x + others) @ both)
        np.testing.assert_allclose(told.values[i], exact.mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(told.errors, 0.0, atol=1e-7)


def test_drawn_orders_come_near_all_sets_within_their_errors():
    """Twelve features, of which two are without effect: so ten say all there is to say."""
    full, core = schema_of(MOST_EXACT + 2), schema_of(MOST_EXACT)
    rng, score = np.random.default_rng(5), twisty(6, MOST_EXACT)
    rows, background = random_rows(rng, full, 6), random_rows(rng, full, 16)
    weights = np.full(16, 1 / 16)

    def asked(mixed):
        return np.array([score(row[:MOST_EXACT]) for row in mixed.continuous.astype(np.float64)])

    def short(part):
        return Rows(part.continuous[:, :MOST_EXACT], part.categories)

    drawn = shapley_values(asked, rows, background, weights, schema=full, seed=0)
    exact = shapley_values(asked, short(rows), short(background), weights, schema=core, seed=0)
    off = drawn.values[:, :MOST_EXACT] - exact.values
    assert (drawn.errors[:, :MOST_EXACT] > 0).all()
    # Of 60 differences in standard errors, the root of the mean square is about 1.
    assert 0.7 < np.sqrt(np.mean((off / drawn.errors[:, :MOST_EXACT]) ** 2)) < 1.4
    np.testing.assert_allclose(drawn.values[:, MOST_EXACT:], 0.0, atol=1e-12)


def test_a_row_is_told_the_same_in_any_company():
    schema, rng = schema_of(MANY, categories=(2,)), np.random.default_rng(7)
    rows, background = random_rows(rng, schema, 5), random_rows(rng, schema, 4)

    def asked(mixed):
        return np.sin(ordered(mixed, schema)).prod(axis=1)

    weights = np.full(4, 0.25)
    together = shapley_values(asked, rows, background, weights, schema=schema, seed=1)
    alone = shapley_values(asked, rows[[3]], background, weights, schema=schema, seed=1)
    np.testing.assert_allclose(together.values[3], alone.values[0], atol=1e-12)


def test_log_odds_are_those_of_probabilities_and_end_where_nobody_is_surer():
    np.testing.assert_allclose(log_odds(np.array([0.5, 0.25])), [0.0, np.log(1 / 3)])
    assert log_odds(np.array([0.0, 1.0])).tolist() == log_odds(np.array([1e-3, 0.999])).tolist()
