"""Recourses of trained models satisfy their constraints, whatever these are."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.loans import small
from tests.strategies import broken_constraints

from rocourse.datasets import load
from rocourse.estimators import METHODS, RoCourseNet
from rocourse.evaluation import split
from rocourse.schema import Continuous


@st.composite
def constrained(draw, schema):
    """The schema with a random rule on each feature."""
    features = []
    for feature in schema.features:
        rule = draw(st.sampled_from(["free", "immutable", "up", "down", "bounded"]))
        if rule == "immutable":
            feature = replace(feature, immutable=True, direction=None)
        elif rule in ("up", "down"):
            feature = replace(feature, immutable=False, direction=rule)
        elif rule == "bounded" and isinstance(feature, Continuous):
            # Wider than the data on one side: bounds are rules for rows and recourses alike.
            feature = replace(feature, bounds=(feature.low, feature.high + 1.0))
        features.append(feature)
    return replace(schema, features=tuple(features))


@pytest.mark.parametrize("generator", ["edit", "rebuild"])
@pytest.mark.parametrize("name", ["german_credit", "student"])
def test_recourses_for_every_embedded_set_satisfy_random_constraints(name, generator):
    dataset = load(name)
    subset = next(iter(dataset.subsets.values()))
    train, test = split(subset, dataset.target, seed=0)
    X, y = train.drop(columns=dataset.target), train[dataset.target]
    rows = test.drop(columns=dataset.target)

    # Constraints are data to the compiled step: the examples share one compilation.
    @settings(max_examples=6, deadline=None)
    @given(schema=constrained(dataset.schema))
    def check(schema):
        model = RoCourseNet(
            schema=schema,
            proposer__network=generator,
            random_state=0,
            **small(RoCourseNet, trainer__epochs=2),
        )
        recourse = model.fit(X, y).recourse(rows)
        assert broken_constraints(schema, rows, recourse.attempted()) == []
        assert broken_constraints(schema, rows, recourse.frame()) == []

    check()


@pytest.mark.parametrize("name", ["german_credit", "student"])
def test_recourses_under_the_actionable_schema_satisfy_it(name):
    dataset = load(name)
    for subset in dataset.subsets.values():
        train, test = split(subset, dataset.target, seed=1)
        model = RoCourseNet(
            schema=dataset.actionable_schema,
            random_state=0,
            **small(RoCourseNet, trainer__epochs=5),
        )
        model.fit(train.drop(columns=dataset.target), train[dataset.target])
        rows = test.drop(columns=dataset.target)
        recourse = model.recourse(rows)
        assert broken_constraints(dataset.actionable_schema, rows, recourse.attempted()) == []


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_random_constraints(method, loans, counternet, request):
    """Methods that search take any rules at no cost; the others learn under some and keep them."""
    cls, features = METHODS[method], loans.drop(columns="grade")
    searches = not cls().proposer.takes_attack
    if cls().proposer.promises:
        # Before it promises anything, it searches for many rows, again and again.
        request.getfixturevalue("optimised")

    @settings(max_examples=10 if searches else 2, deadline=None)
    @given(schema=constrained(counternet.schema_))
    def check(schema):
        given = {"model": counternet} if searches else {}
        model = cls(schema, random_state=0, **small(cls, trainer__epochs=2, **given)).fit(
            features, loans["grade"]
        )
        recourse = model.recourse(features.head(20))
        assert broken_constraints(schema, features.head(20), recourse.frame()) == []

    check()
