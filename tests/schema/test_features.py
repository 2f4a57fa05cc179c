"""A feature or target that exists is valid; a contradiction is refused in one sentence."""

import copy
import pickle

import numpy as np
import pytest

from rocourse.errors import SchemaError
from rocourse.schema import Categorical, Continuous, Schema, Target

NAN, INF = float("nan"), float("inf")


def continuous(**options):
    return lambda: Continuous(**{"name": "Age", "low": 18, "high": 70, **options})


def categorical(**options):
    return lambda: Categorical(**{"name": "Job", "categories": ("a", "b", "c"), **options})


def target(**options):
    return lambda: Target(**{"name": "Paid", "classes": (0, 1), **options})


def schema(*features, **options):
    return lambda: Schema(tuple(make() for make in features), **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (continuous(low=70, high=18), "Feature 'Age' must have low < high, but got low=70 and"),
        (continuous(low=18, high=18), "Feature 'Age' must vary, but its range is constant"),
        (continuous(low=NAN), "Feature 'Age': low must be finite, but got nan"),
        (continuous(high=INF), "Feature 'Age': high must be finite, but got inf"),
        (continuous(high=10**400), "Feature 'Age': high must be finite, but got inf"),
        (continuous(low="18"), "Feature 'Age': low must be a number, but got '18'"),
        (continuous(low=True), "Feature 'Age': low must be a number, but got True"),
        (continuous(low=-1e308, high=1e308), "range that a float can hold"),
        (continuous(low=18.5, integer=True), "'Age' is integer, so its range must be whole"),
        (continuous(high=2**60, integer=True), r"'Age' is integer, so its range .* ±2\*\*53"),
        (continuous(integer=1), "integer must be True or False, but got 1"),
        (continuous(immutable="yes"), "immutable must be True or False, but got 'yes'"),
        (continuous(direction="sideways"), "direction must be 'up', 'down' or None, but got 'side"),
        (continuous(immutable=True, direction="up"), "either immutable or limited to one direct"),
        (continuous(bounds=(60, 30)), r"bounds must be \(lowest, highest\), but got \(60, 30\)"),
        (continuous(bounds=(80, None)), r"bounds must overlap the range 18 to 70, but got \(80, N"),
        (continuous(bounds=(None, 10)), r"bounds must overlap the range 18 to 70, but got \(None"),
        (continuous(bounds=(NAN, None)), "a bound must be finite, but got nan; use None for no"),
        (continuous(bounds=(None, INF)), "a bound must be finite, but got inf; use None for no"),
        (continuous(bounds=30), "bounds must be a pair"),
        (continuous(bounds=(30,)), "bounds must be a pair"),
        (continuous(bounds=(30.2, 30.8), integer=True), "bounds must leave a whole number"),
        (continuous(unit=None), "unit must be text, but got None"),
        (continuous(name=""), "A column name must be text, but got ''"),
        (continuous(name=3), "A column name must be text, but got 3"),
        (categorical(categories=()), "'Job': categories must be at least two values, but got 0"),
        (categorical(categories=("a",)), "'Job': categories must be at least two values.*: 'a'"),
        (categorical(categories=("a", "b", "a")), "categories must differ, but got 'a' more than"),
        (categorical(categories=(1, 1.0)), "categories must differ, but got 1.0 more than once"),
        (categorical(categories=("a", 1)), "all text, all numbers or all flags, but got a mixture"),
        (categorical(categories=(True, 0)), "all text, all numbers or all flags, but got a mixtu"),
        (categorical(categories=(1.0, NAN)), "categories must be finite, but got nan"),
        (categorical(categories=("a", None)), r"must be text, numbers or flags, but got None \(No"),
        (categorical(categories="abc"), "categories must be a list of values, but got 'abc'"),
        (categorical(categories=7), "categories must be a list of values, but got 7"),
        (categorical(immutable=True, direction="down"), "either immutable or limited to one"),
        (categorical(labels=("x", "y")), "labels must name each of the 3 categories, but got 2"),
        (categorical(labels="xyz"), "labels must be a list of texts, but got 'xyz'"),
        (categorical(labels=(1, 2, 3)), "labels must be a list of texts"),
        (target(classes=(1,)), "Target 'Paid': classes must be at least two values.*: 1"),
        (target(favourable=2), "favourable must be one of the classes 0, 1, but got 2"),
        (target(favourable=True), "favourable must be one of the classes 0, 1, but got True"),
        (target(favourable="1"), "favourable must be one of the classes 0, 1, but got '1'"),
        (schema(), "A schema must have at least one feature, but got none"),
        (schema(continuous(), continuous()), "Feature names must be unique, but got 'Age' more"),
        (schema(lambda: "Age"), "A feature must be Continuous or Categorical, but got 'Age'"),
        (schema(continuous(), target="Paid"), "target must be a Target or None, but got 'Paid'"),
        (lambda: Schema(7), "features must be a list, but got 7"),
        (
            schema(continuous(), target=Target("Age", (0, 1))),
            "The target must not be a feature, but 'Age' is both",
        ),
    ],
)
def test_contradiction_is_refused_in_one_sentence(make, message, assert_sentence):
    with pytest.raises(SchemaError, match=message) as caught:
        make()
    assert_sentence(caught.value)


def test_numbers_are_normalised_to_python_floats():
    feature = Continuous("x", np.int64(1), np.float32(2), bounds=[np.int8(0), None])
    assert (feature.low, feature.high, feature.bounds) == (1.0, 2.0, (0.0, None))
    assert [type(value) for value in (feature.low, feature.high, feature.bounds[0])] == [float] * 3


def test_categories_are_normalised_to_python_values():
    assert [type(c) for c in Categorical("k", np.array([1, 2])).categories] == [int, int]
    assert [type(c) for c in Categorical("k", [1, 2.5]).categories] == [float, float]
    assert [type(c) for c in Categorical("k", [np.True_, np.False_]).categories] == [bool, bool]
    assert [type(c) for c in Categorical("k", np.array(["a", "b"])).categories] == [str, str]


def test_flags_whole_numbers_and_numbers_are_different_category_sets():
    flags, whole, numbers = (Categorical("k", c) for c in ((True, False), (1, 0), (1.0, 0.0)))
    assert flags != whole != numbers != flags
    assert len({flags, whole, numbers}) == 3
    assert len({Schema([f]).digest() for f in (flags, whole, numbers)}) == 3


def test_order_of_categories_is_kept():
    assert Categorical("k", ("low", "high", "mid")).categories == ("low", "high", "mid")


@pytest.mark.parametrize(
    ("classes", "favourable", "expected"),
    [
        ((1, 0), None, 1),
        ((0.0, 1.0), None, 1.0),
        (("no", "yes"), "no", "no"),
        ((False, True), None, True),
        ((0, 1), 1.0, 1),
        ((0, 1), np.int64(0), 0),
    ],
)
def test_favourable_class_is_one_or_true_unless_stated(classes, favourable, expected):
    target = Target("y", classes, favourable)
    assert target.favourable == expected
    assert type(target.favourable) is type(expected)
    assert target.classes == tuple(sorted(classes))


def test_limits_are_the_whole_numbers_within_range_and_bounds():
    assert Continuous("x", 0, 10, bounds=(2.5, 20)).limits == (2.5, 10.0)
    assert Continuous("x", 0, 10, integer=True, bounds=(2.5, 7.5)).limits == (3.0, 7.0)


def test_schema_is_a_value():
    make = schema(continuous(), categorical(), target=Target("Paid", (0, 1)))
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != schema(continuous(unit="years"), categorical())()
    for copied in (copy.deepcopy(make()), pickle.loads(pickle.dumps(make()))):
        assert copied == make()
        assert copied.layout == make().layout
    with pytest.raises(AttributeError):
        make().features = ()


def test_feature_is_found_by_name():
    made = schema(continuous(), categorical())()
    assert made["Job"] is made.features[1]
    with pytest.raises(SchemaError, match=r"no feature 'age' \(did you mean 'Age'\?\)"):
        made["age"]
