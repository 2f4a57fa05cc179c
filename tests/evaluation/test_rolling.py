"""The rolling protocol by models whose verdicts can be worked out, and judges of other kinds."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from rocourse.errors import ConfigError, DataError
from rocourse.evaluation import RollingResult, common_judges, run_rolling, split
from rocourse.schema import one_hot

from .conftest import BINARY, Threshold

PERIODS = ("2001", "2002", "2003")
# What a model of all periods up to one, or of one alone, asks for.
THRESHOLDS = {"to 2001": 4, "to 2002": 6, "only 2002": 8, "to 2003": 6, "only 2003": 5}


def loans(n=80, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.integers(0, 11, n),
            "debt": rng.integers(0, 11, n),
            "home": rng.choice(["own", "rent"], n),
        }
    )
    return frame.assign(good=(frame["income"] >= 5).astype(int))


@pytest.fixture(scope="module")
def periods():
    return {name: loans(seed=i) for i, name in enumerate(PERIODS)}


@pytest.fixture
def fits():
    return []


@pytest.fixture
def result(periods, fits):
    def fit(name, X, y, groups, seed):
        fits.append((name, len(X), groups))
        return Threshold(THRESHOLDS[name])

    return run_rolling(periods, "good", fit, seed=3)


def test_models_see_the_periods_so_far_and_the_next_one_alone(result, fits, periods):
    train = {name: len(split(rows, "good", seed=3)[0]) for name, rows in periods.items()}
    assert [(name, rows) for name, rows, _ in fits] == [
        ("to 2001", train["2001"]),
        ("to 2002", train["2001"] + train["2002"]),
        ("only 2002", train["2002"]),
        ("to 2003", sum(train.values())),
        ("only 2003", train["2003"]),
    ]
    groups = {name: told for name, _, told in fits}
    assert groups["to 2001"] is None and groups["only 2003"] is None
    counts = groups["to 2003"].value_counts()
    assert counts.to_dict() == train
    assert groups["to 2003"].tolist()[: train["2001"]] == ["2001"] * train["2001"]


def test_promises_are_made_to_the_refused_and_judged_by_what_comes_next(result, periods):
    first, second = result.transitions
    test = split(periods["2001"], "good", seed=3)[1]
    refused = test["income"] < 4
    assert (first.period, first.following) == ("2001", "2002")
    assert (first.refused, first.promised, first.coverage) == (refused.sum(), refused.sum(), 1.0)
    # An income of 4 is promised to be enough; next year 6 are asked for, or 8.
    assert (first.kept, first.kept_alone, first.unchanged) == (0.0, 0.0, 0.0)
    # The second year's model promises at 6: kept by 6, and by 5.
    assert (second.kept, second.kept_alone) == (1.0, 1.0)
    moved = 6 - split(periods["2002"], "good", seed=3)[1]["income"]
    assert second.proximity == pytest.approx(moved[moved > 0].mean() / 10)
    assert first.accuracy == pytest.approx(((test["income"] >= 4) == test["good"]).mean())


def test_who_would_be_granted_anyway_is_told(periods):
    strict_then_lax = {"to 2001": 8, "to 2002": 3, "only 2002": 3}
    result = run_rolling(
        {name: periods[name] for name in PERIODS[:2]},
        "good",
        lambda name, X, y, groups, seed: Threshold(strict_then_lax[name]),
        seed=3,
    )
    (only,) = result.transitions
    incomes = split(periods["2001"], "good", seed=3)[1]["income"]
    assert only.unchanged == pytest.approx((incomes[incomes < 8] >= 3).mean())
    assert only.kept == 1.0


def test_rows_without_a_recourse_are_no_promises(periods):
    result = run_rolling(
        {name: periods[name] for name in PERIODS[:2]},
        "good",
        lambda name, X, y, groups, seed: Threshold(6, short=2),
        seed=3,
    )
    (only,) = result.transitions
    assert only.refused > 0 and only.promised == 0 and only.coverage == 0.0
    assert only.kept is None and only.unchanged is None and only.proximity is None


def test_a_result_comes_back_from_json(result):
    again = RollingResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again == result
    assert again.aggregate("kept").mean == pytest.approx(0.5)
    assert again.aggregate("coverage").mean == 1.0


def test_a_judge_of_one_period_may_be_of_another_kind(periods):
    result = run_rolling(
        {name: periods[name] for name in PERIODS[:2]},
        "good",
        lambda name, X, y, groups, seed: Threshold(4),
        seed=3,
        fit_alone=lambda name, X, y, seed: Threshold({"only 2002": 9}[name]),
    )
    assert (result.transitions[0].kept, result.transitions[0].kept_alone) == (1.0, 0.0)


def test_a_period_without_a_class_is_named(periods):
    refused = periods["2002"].assign(good=0)
    with pytest.raises(DataError, match="'2002' has none of 1; leave it out, or join it"):
        run_rolling(
            {"2001": periods["2001"], "2002": refused}, "good", lambda *_: Threshold(4), seed=0
        )


def test_one_period_judges_nothing(periods):
    with pytest.raises(ConfigError, match="at least two"):
        run_rolling({"2001": periods["2001"]}, "good", lambda *_: Threshold(4), seed=0)


def test_common_judges_are_scikit_learns_on_the_encoded_rows(periods):
    frame, asked = periods["2001"], periods["2002"].drop(columns="good")
    X, y = frame.drop(columns="good"), frame["good"]
    judges = {name: fit(X, y, 7) for name, fit in common_judges(BINARY).items()}
    rows, test = BINARY.encode(X), BINARY.encode(asked)
    logistic = LogisticRegression(max_iter=2000).fit(one_hot(rows, BINARY.layout), y)
    np.testing.assert_array_equal(
        judges["logistic"].predict(asked), logistic.predict(one_hot(test, BINARY.layout))
    )
    boosting = HistGradientBoostingClassifier(
        categorical_features=[False, False, True], random_state=7
    ).fit(np.hstack([rows.continuous, rows.categories]), y)
    np.testing.assert_array_equal(
        judges["boosting"].predict(asked),
        boosting.predict(np.hstack([test.continuous, test.categories])),
    )
    assert (judges["boosting"].predict(asked) == (asked["income"] >= 5)).mean() > 0.95


@pytest.mark.parametrize("favourable", [0, 1])
def test_common_judges_grant_from_the_cut_off_on(periods, favourable):
    frame = periods["2001"]
    X, y = frame.drop(columns="good"), frame["good"]
    schema = replace(BINARY, target=replace(BINARY.target, favourable=favourable))
    logistic = LogisticRegression(max_iter=2000).fit(one_hot(BINARY.encode(X), BINARY.layout), y)
    likely = logistic.predict_proba(one_hot(BINARY.encode(X), BINARY.layout))[:, favourable]
    judge = common_judges(schema, threshold=0.8)["logistic"](X, y, 0)
    np.testing.assert_array_equal(judge.predict(X) == favourable, likely >= 0.8)
    judge = common_judges(schema, approval_rate=0.3)["logistic"](X, y, 0)
    granted = judge.predict(X) == favourable
    assert likely[granted].min() > likely[~granted].max()
    ties = (likely.astype(np.float32) == np.float32(likely[granted].min())).sum()
    assert 0 <= granted.sum() - round(0.3 * len(X)) < ties


def test_common_judges_judge_promises_beside_the_retrained_model(periods):
    result = run_rolling(
        periods,
        "good",
        lambda name, X, y, groups, seed: Threshold(THRESHOLDS[name]),
        seed=3,
        judges=common_judges(BINARY),
    )
    first, second = result.transitions
    assert set(first.judged) == {"boosting", "logistic"}
    # Both have learned that 5 is enough: promises at 4 break, those at 6 are kept.
    assert first.judged["boosting"] == 0.0 and second.judged["boosting"] == 1.0


def test_values_out_of_range_are_judged_without_a_word(periods, recwarn):
    frame = periods["2001"]
    judge = common_judges(BINARY)["logistic"](frame.drop(columns="good"), frame["good"], 0)
    far = pd.DataFrame({"income": [99], "debt": [5], "home": ["own"]})
    assert judge.predict(far).tolist() == [1]
    assert not recwarn.list
