"""How sensible advice is, by recourses that can be worked out by hand."""

import json

import numpy as np
import pandas as pd
import pytest

from rocourse.evaluation import Plausibility, score_sense
from rocourse.schema import Categorical, Continuous, Schema

SCHEMA = Schema(
    features=(
        Continuous("income", 0.0, 1000.0),
        Continuous("debt", 0.0, 1000.0),
        Categorical("home", ("own", "rent", "other")),
    )
)
NUMBERS = np.arange(1001.0)
TRAINING = pd.DataFrame(
    {"income": NUMBERS, "debt": NUMBERS, "home": ["own", "rent"] * 500 + ["own"]}
)
GRANTED = TRAINING[NUMBERS >= 501]


@pytest.fixture
def reference():
    return Plausibility.fit(SCHEMA, TRAINING, (NUMBERS >= 501).astype(int))


@pytest.fixture
def told(by_hand):
    """Ten people with the same row, and what they are told to become."""

    def told(**columns):
        before = pd.DataFrame(
            {"income": [100.0] * 10, "debt": [999.0] * 10, "home": ["other"] * 10}
        )
        return by_hand(SCHEMA, before, before.assign(**columns), [0] * 10, [1] * 10, [True] * 10)

    return told


def test_changed_numbers_are_counted_one_by_one(told, reference):
    # Percentiles 10 and 990; a debt of 999 that stays as it was is nobody's advice.
    advice = told(income=[600.0] * 8 + [991.0] * 2, debt=[500.0] * 4 + [5.0] + [999.0] * 5)
    scores = score_sense(advice, reference, GRANTED)
    assert (scores.people, scores.numbers, scores.usual_numbers) == (10, 15, 12)


def test_the_most_frequent_value_of_each_feature_has_its_share_of_the_accepted(told, reference):
    advice = told(
        income=[600.0] * 4 + [610.0, 620.0, 630.0, 640.0, 650.0, 660.0],
        debt=[500.0, *(999.0,) * 9],
        home=["own"] * 6 + ["other"] * 4,
    )
    scores = score_sense(advice, reference, GRANTED)
    # One in ten is told the debt: too few to be kept.
    income, home = scores.frequent
    assert (income.feature, income.value, income.told) == ("income", 600.0, 4)
    assert income.accepted == pytest.approx(1 / 500)
    assert (home.feature, home.value, home.told) == ("home", "own", 6)
    assert home.accepted == pytest.approx((GRANTED["home"] == "own").mean())
    assert json.loads(json.dumps(scores.to_dict()))["frequent"][1]["value"] == "own"


def test_inliers_are_a_share_of_the_people(told, reference):
    scores = score_sense(told(income=700.0, debt=700.0, home="own"), reference, GRANTED)
    assert scores.inliers == 1.0
    far = score_sense(told(income=[700.0] * 10), reference, GRANTED)
    assert far.inliers == 0.0


def test_nobody_is_told_anything(told, reference):
    nobody = told()[np.array([], dtype=int)]
    scores = score_sense(nobody, reference, GRANTED)
    assert scores.to_dict() == {
        "people": 0,
        "numbers": 0,
        "usual_numbers": 0,
        "inliers": None,
        "frequent": (),
    }
