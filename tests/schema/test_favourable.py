"""The class that people want: taken where there is no doubt, and never guessed."""

import pandas as pd
import pytest

from rocourse.errors import SchemaError
from rocourse.schema import Schema, Target
from rocourse.schema._favourable import sounds_bad, unwanted

BAD = (
    "deny denied default bad churn fail Failed is_fraud rejected loss delinquent arrears "
    "loanDefault DEFAULT chargeoff_flag Risk late abgelehnt Kreditausfall Zahlungsverzug betrug "
    "gekündigt insolvenz"
).split()
GOOD = (
    "y target approved GoodCustomer paid Approve G3 loan badge latency faith lossless survived "
    "not_default no_fraud low_risk kein_ausfall bewilligt zurückgezahlt income"
).split()


@pytest.mark.parametrize("name", BAD)
def test_names_that_say_something_bad_are_known(name):
    assert sounds_bad(name)


@pytest.mark.parametrize("name", GOOD)
def test_other_names_are_not_suspected(name):
    assert not sounds_bad(name)


@pytest.mark.parametrize("classes", [(0, 1), (False, True), (0.0, 1.0)])
def test_one_and_true_are_taken_unless_the_name_says_that_this_is_bad(classes):
    assert all(Target(name, classes).favourable == classes[1] for name in GOOD)
    assert all(Target(name, classes).favourable is None for name in BAD)
    assert Target("deny", classes, classes[0]).favourable == classes[0]


@pytest.mark.parametrize("classes", [("no", "yes"), (1, 2), (-1, 1), (0, 1, 2), ("0", "1")])
def test_of_other_classes_none_is_taken(classes):
    target = Target("approved", classes)
    assert target.favourable is None
    with pytest.raises(SchemaError, match="must have a favourable class for this"):
        target.wanted()
    assert Target("approved", classes, classes[0]).wanted() == classes[0]


def test_a_schema_without_a_favourable_class_comes_back_from_json():
    schema = Schema.infer(pd.DataFrame({"x": [1, 2]}))
    schema = Schema(schema.features, Target("deny", ("no", "yes")))
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.constrain(favourable="no").target.wanted() == "no"


@pytest.mark.parametrize(
    ("name", "labels", "option"),
    [
        ("deny", ["no", "no", "yes"], "--favourable no "),
        ("deny", [0, 1, 1], "--favourable 0 "),
        ("Status", ["bad", "good", "bad"], "--favourable good "),
        ("loan_status", ["Charged Off", "Fully Paid", "Fully Paid"], "--favourable 'Fully Paid' "),
        ("default", [True, False, False], "--favourable False "),
        ("approved", ["yes", "no", "no"], "--favourable yes "),
        ("grade", [1, 2, 2], "--favourable 2 "),
    ],
)
def test_unclear_targets_are_refused_with_classes_counts_and_option(name, labels, option):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], name: labels})
    with pytest.raises(SchemaError) as caught:
        Schema.infer(frame, target=name)
    sentence = str(caught.value)
    assert option in sentence
    for label in set(labels):
        count = labels.count(label)
        assert f"{label!r} ({count} row{'s' if count > 1 else ''})" in sentence


def test_what_nobody_wants_is_known_by_target_and_class_together():
    assert unwanted("deny", "yes") and not unwanted("deny", "no")
    assert unwanted("approved", "no") and not unwanted("approved", "yes")
    assert unwanted("status", "Default") and not unwanted("status", "Fully Paid")
