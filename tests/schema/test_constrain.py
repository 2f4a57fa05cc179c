"""Limits of change are added by one method."""

import pytest

from rocourse.errors import SchemaError
from rocourse.schema import Categorical, Continuous, Schema, Target

SCHEMA = Schema(
    (
        Continuous("age", 18, 90, integer=True, direction="up"),
        Continuous("debt", 0.0, 50.0),
        Categorical("region", ("north", "south"), immutable=True),
        Categorical("grade", (1, 2, 3)),
    ),
    Target("loan", ("denied", "granted")),
)


def test_limits_are_added_and_the_rest_is_kept():
    schema = SCHEMA.constrain(
        immutable=["grade"],
        decrease_only=["debt"],
        bounds={"debt": (None, 40)},
        favourable="denied",
    )
    assert schema == Schema(
        (
            SCHEMA["age"],
            Continuous("debt", 0.0, 50.0, direction="down", bounds=(None, 40)),
            SCHEMA["region"],
            Categorical("grade", (1, 2, 3), immutable=True),
        ),
        Target("loan", ("denied", "granted"), "denied"),
    )
    assert SCHEMA["grade"] == Categorical("grade", (1, 2, 3))


def test_nothing_said_changes_nothing():
    assert SCHEMA.constrain() == SCHEMA


def test_an_immutable_feature_needs_no_direction_and_another_direction_replaces_it():
    held = SCHEMA.constrain(immutable=["age"])["age"]
    assert held.immutable and held.direction is None
    assert SCHEMA.constrain(decrease_only=["age"])["age"].direction == "down"
    assert SCHEMA.constrain(increase_only=["age"]) == SCHEMA


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"immutable": ["Age"]}, "has no feature 'Age' (did you mean 'age'?)"),
        ({"increase_only": ["regoin"]}, "has no feature 'regoin' (did you mean 'region'?)"),
        ({"bounds": {"debts": (0, 1)}}, "has no feature 'debts' (did you mean 'debt'?)"),
        ({"decrease_only": [["age"]]}, "has no feature ['age']"),
        ({"immutable": ["loan"]}, "immutable must name features, but got the target 'loan'"),
        ({"immutable": "age"}, "immutable must be a list of column names, but got 'age'; write ['"),
        ({"bounds": ["debt"]}, "bounds must map column names to values"),
        ({"bounds": {"grade": (1, 2)}}, "bounds must name continuous features, but 'grade' is cat"),
        ({"bounds": {"debt": (60, 70)}}, "'debt': bounds must overlap the range 0 to 50"),
        ({"bounds": {"debt": 3}}, "'debt': bounds must be a pair (lowest, highest), but got 3"),
        (
            {"increase_only": ["debt"], "decrease_only": ["debt"]},
            "'debt' must be in increase_only or in decrease_only, but got it in both",
        ),
        (
            {"increase_only": ["debt"], "immutable": ["debt"]},
            "'debt' must be either immutable or limited to one direction, but got both",
        ),
        ({"increase_only": ["region"]}, "'region' must be either immutable or limited to one dire"),
        ({"favourable": "yes"}, "favourable must be one of the classes 'denied', 'granted', but g"),
    ],
)
def test_limits_that_make_no_sense_are_refused_in_one_sentence(options, message, assert_sentence):
    with pytest.raises(SchemaError) as caught:
        SCHEMA.constrain(**options)
    assert message in str(caught.value)
    assert_sentence(caught.value)


def test_a_favourable_class_needs_a_target(assert_sentence):
    with pytest.raises(SchemaError, match="got 'granted' and a schema without one") as caught:
        Schema(SCHEMA.features).constrain(favourable="granted")
    assert_sentence(caught.value)
