"""The k-subset protocol, on models whose validity matrix can be written down by hand.

Each subset has twelve denied rows with income 0 and four approved ones with income 10, so that the
stratified test part has three and one. A model moves the denied to its threshold `t` and the
approved to `t − 1`; a judge with threshold `u` honours the first if `t ≥ u` and the second if
`t − 1 < u`.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rocourse import evaluation
from rocourse.errors import ArtifactError, ConfigError
from rocourse.evaluation import SubsetsResult

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
THRESHOLDS = {"A": 5, "B": 3, "C": 7}


@pytest.fixture
def subset(incomes) -> pd.DataFrame:
    return incomes(*[0] * 12, *[10] * 4).assign(good=[0] * 12 + [1] * 4)


@pytest.fixture
def run(threshold, subset):
    def run(thresholds=THRESHOLDS, **options) -> SubsetsResult:
        subsets = {name: subset.copy() for name in thresholds}
        options = {"seed": 0, **options}
        return evaluation.run_subsets(
            subsets, "good", lambda name, X, y, seed: threshold(thresholds[name]), **options
        )

    return run


def test_matrix_rows_are_issuers_and_columns_are_judges(run):
    result = run()
    assert result.names == ("A", "B", "C")
    assert result.matrix("adverse") == ((1, 1, 0), (0, 1, 0), (1, 1, 1))
    assert result.matrix("to_unfavourable") == ((1, 0, 1), (1, 1, 1), (0, 0, 1))
    assert result.matrix("all") == ((1, 0.75, 0.25), (0.25, 1, 0.25), (0.75, 0.75, 1))


def test_robust_validity_is_the_mean_over_the_other_models(run):
    result = run()
    assert result.values("robust_validity", "adverse") == {"A": 0.5, "B": 0.0, "C": 1.0}
    assert result.values("robust_validity", "all") == {"A": 0.5, "B": 0.25, "C": 0.75}
    for subset in result.subsets:
        for protocol, scores in subset.scores.protocols.items():
            values = result.values("robust_validity", protocol)
            assert scores.robust_validity == values[subset.name]


def test_both_protocols_say_how_many_rows_were_judged(run):
    for subset in run().subsets:
        assert subset.train_rows == 12
        assert subset.scores.rows == 4
        assert subset.scores.protocols["all"].rows == 4
        assert subset.scores.protocols["adverse"].rows == 3


def test_summary_is_mean_and_sample_deviation_over_subsets(run):
    summary = run().summary()
    proximity = summary.protocols["all"]["proximity"]
    # A: three rows 0 → 5, one 10 → 4; B: 0 → 3, 10 → 2; C: 0 → 7, 10 → 6.
    expected = [(3 * 0.5 + 0.6) / 4, (3 * 0.3 + 0.8) / 4, (3 * 0.7 + 0.4) / 4]
    assert proximity.mean == pytest.approx(np.mean(expected))
    assert proximity.std == pytest.approx(np.std(expected, ddof=1))
    assert proximity.n == 3
    assert summary.protocols["adverse"]["validity"].mean == 1.0
    assert summary.protocols["all"]["features_changed"].mean == 1.0
    assert (summary.model["accuracy"].mean, summary.model["auc"].mean) == (1.0, 1.0)


def test_unchanged_validity_is_what_the_other_models_say_of_the_rows_as_they_are(
    threshold, incomes
):
    # Denied by A, B and C: 0; by A and C: 4; by C alone: 6; by none: 10.
    frame = incomes(*[0] * 8, *[4] * 8, *[6] * 8, *[10] * 8)
    frame["good"] = [0] * 8 + [1] * 8 + [2] * 8 + [3] * 8
    result = evaluation.run_subsets(
        dict.fromkeys(THRESHOLDS, frame),
        "good",
        lambda name, X, y, seed: threshold(THRESHOLDS[name]),
        seed=0,
    )
    # A's denied are 0 and 4, of whom B approves the second; its approved 6 and 10, of whom C
    # denies the first.
    adverse = {"A": (0.5 + 0) / 2, "B": 0.0, "C": (1 / 3 + 2 / 3) / 2}
    assert result.values("unchanged_validity", "adverse") == pytest.approx(adverse)
    approved = {"A": (0 + 0.5) / 2, "B": (1 / 3 + 2 / 3) / 2, "C": 0.0}
    assert result.values("unchanged_validity", "to_unfavourable") == pytest.approx(approved)
    assert result.subsets[0].scores.protocols["adverse"].unchanged == {"B": 0.5, "C": 0.0}
    summary = result.summary().protocols["adverse"]["unchanged_validity"]
    assert summary.mean == pytest.approx(np.mean(list(adverse.values())))


def test_a_constant_judge_can_be_left_out_of_unchanged_validity(run):
    result = run({"A": 5, "B": 3, "yes": 0})
    assert result.values("unchanged_validity", "adverse")["A"] == 0.5
    without = result.values("unchanged_validity", "adverse", exclude_constant=True)
    assert without == {"A": 0.0, "B": 0.0}


def test_plausibility_is_measured_by_the_training_rows_of_the_subset(run):
    result = run()
    # Nine of them have income 0 and were denied; only three were approved, which is too few.
    assert result.values("neighbour_distance", "adverse") == {"A": None, "B": None, "C": None}
    distances = result.values("neighbour_distance", "to_unfavourable")
    assert distances == pytest.approx({"A": 0.4, "B": 0.2, "C": 0.6}, abs=1e-6)
    assert result.summary().protocols["all"]["neighbour_distance"].n == 3


def test_results_of_version_1_can_still_be_read():
    paths = sorted(RESULTS.glob("*/*.json"))
    assert paths
    for path in paths:
        record = json.loads(path.read_text("utf-8"))
        if record.get("format") != "rocourse-comparison":
            continue
        for run in record["result"]["runs"]:
            result = SubsetsResult.from_dict(run)
            summary = result.summary().protocols["all"]
            assert summary["robust_validity"].n == len(result.names)
            if run["version"] == 1:
                absent = ("unchanged_validity", "neighbour_distance", "inliers")
                assert [summary[metric].n for metric in absent] == [0, 0, 0]
                again = result.to_dict()
                assert again["version"] == 2
                assert SubsetsResult.from_dict(again) == result


def test_times_are_measured(run):
    summary = run().summary()
    for metric in ("train_seconds", "train_cpu_seconds", "seconds_per_recourse"):
        assert summary.model[metric].n == 3
        assert summary.model[metric].mean >= 0


def test_constant_predictors_are_named_and_can_be_left_out(run):
    result = run({"A": 5, "B": 3, "yes": 0})
    assert result.constant == ("yes",)
    # The yes-sayer honours every recourse to approval, of A and of B, and denies no one.
    assert result.values("robust_validity", "adverse") == {"A": 1.0, "B": 0.5, "yes": None}
    without = result.values("robust_validity", "adverse", exclude_constant=True)
    assert without == {"A": 1.0, "B": 0.0}
    assert result.summary(exclude_constant=True).protocols["adverse"]["validity"].n == 2


def test_subsets_without_adverse_rows_are_left_out_of_the_means(run):
    result = run({"A": 5, "yes": 0})
    assert result.matrix("adverse") == ((1.0, 1.0), (None, None))
    validity = result.summary().protocols["adverse"]["validity"]
    assert (validity.mean, validity.std, validity.n) == (1.0, None, 1)


def test_test_rows_of_one_class_give_no_auc(threshold, subset):
    approved = subset[subset["good"] == 1]
    result = evaluation.run_subsets(
        {"mixed": subset, "approved": approved},
        "good",
        lambda name, X, y, seed: threshold(5),
        seed=0,
    )
    assert result.values("auc") == {"mixed": 1.0, "approved": None}
    assert result.summary().model["auc"].n == 1


def test_the_result_is_json_without_nan_and_comes_back_equal(run):
    result = run({"A": 5, "yes": 0})
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert SubsetsResult.from_dict(json.loads(text)) == result
    json.dumps(result.summary().to_dict(), allow_nan=False)


@pytest.mark.parametrize("change", [{"format": "other"}, {"version": 3}, {"version": None}])
def test_a_result_of_another_format_is_refused(run, change):
    with pytest.raises(ArtifactError, match="format 'rocourse-subsets' and version 1 or 2"):
        SubsetsResult.from_dict({**run().to_dict(), **change})


@pytest.mark.parametrize("field", ["target", "subsets"])
def test_an_incomplete_result_is_refused(run, field):
    record = run().to_dict()
    del record[field]
    with pytest.raises(ArtifactError, match=field):
        SubsetsResult.from_dict(record)


def test_fit_gets_the_training_rows_of_the_split_without_labels(threshold, subset):
    seen = {}

    def fit(name, X, y, seed):
        seen[name] = (X, y, seed)
        return threshold(5)

    evaluation.run_subsets({"A": subset, "B": subset}, "good", fit, seed=4)
    train, _ = evaluation.split(subset, "good", seed=4)
    X, y, seed = seen["A"]
    pd.testing.assert_frame_equal(X, train.drop(columns="good"))
    pd.testing.assert_series_equal(y, train["good"])
    assert seed != seen["B"][2]


def test_model_seeds_depend_on_seed_and_name_only(run):
    def seeds(result):
        return {subset.name: subset.fit_seed for subset in result.subsets}

    first = seeds(run())
    assert seeds(run()) == first
    assert seeds(run({"C": 7, "A": 5}))["A"] == first["A"]
    assert seeds(run(seed=1))["A"] != first["A"]
    assert all(0 <= seed < 2**31 for seed in first.values())


def test_fitted_models_can_be_kept(run, threshold):
    kept = {}
    run(on_fitted=kept.__setitem__)
    assert {name: model.at for name, model in kept.items()} == THRESHOLDS


def test_every_protocol_uses_the_same_recourses(run):
    kept = {}
    run(on_fitted=kept.__setitem__)
    # A quick call is made once more for the clock; neither depends on the number of protocols.
    assert kept["A"].calls == [4, 4]


def test_several_classes_ask_for_the_favourable_one(bands, incomes):
    frame = incomes(*[0] * 4, *[5] * 4, *[10] * 4)
    frame["grade"] = ["low"] * 4 + ["middle"] * 4 + ["high"] * 4
    models = {"A": bands(4, 7, goal=7), "B": bands(4, 9, goal=9)}
    result = evaluation.run_subsets(
        {"A": frame, "B": frame}, "grade", lambda name, X, y, seed: models[name], seed=0
    )
    assert result.matrix("all") == result.matrix("adverse") == ((1.0, 0.0), (1.0, 1.0))
    assert result.matrix("to_unfavourable") == ((None, None), (None, None))
    assert [subset.scores.protocols["all"].rows for subset in result.subsets] == [2, 2]
    assert result.summary().model["accuracy"].mean == 1.0


def test_a_class_that_only_the_test_rows_have_costs_accuracy_not_the_run(bands, incomes):
    frame = incomes(0, 0, 0, 10, 10, 10, 5, 5).assign(grade=["low"] * 3 + ["high"] * 3 + ["?"] * 2)
    result = evaluation.run_subsets(
        {"A": frame, "B": frame},
        "grade",
        lambda name, X, y, seed: bands(4, 7),
        seed=0,
        test_size=0.5,
    )
    assert result.values("accuracy") == {"A": 0.75, "B": 0.75}


def test_one_subset_is_refused(run):
    with pytest.raises(ConfigError, match="at least two"):
        run({"A": 5})


def test_unknown_protocol_and_metric_are_refused(run):
    result = run()
    with pytest.raises(ConfigError, match="protocol must be one of"):
        result.matrix("some")
    with pytest.raises(ConfigError, match="metric must be one of"):
        result.values("beauty")
