"""Tuning: what is scored, on which rows, by whom, and what is kept of it."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.applicants import TARGET, TINY, make_applicants, make_schema

from rocourse.engines import LOCAL, Engine
from rocourse.errors import ArtifactError, ConfigError, DependencyError, TrainingError
from rocourse.estimators import METHODS, CounterNet, RoCoursePanel, tuning_space
from rocourse.evaluation import evaluate_model, split
from rocourse.experiments import TuningResult, _trials, read_tuning, tune, write_tuning
from rocourse.experiments._trials import TuningProblem, prepare, run_trials
from rocourse.experiments._tuning import _plainly
from rocourse.models import PlainTrainer, SteadyTrainer
from rocourse.options import Choices, Span

FIXED = {
    name: TINY[name]
    for name in (
        "trainer__encoder_widths",
        "trainer__head_widths",
        "trainer__batch_size",
        "trainer__learning_rate",
        "proposer__widths",
    )
} | {"trainer__epochs": 30}
PRICE = CounterNet().proposer.proximity_weight
TRAINER = CounterNet(**FIXED).trainer
PLAIN = PlainTrainer(
    encoder_widths=TRAINER.encoder_widths,
    head_widths=TRAINER.head_widths,
    batch_size=TRAINER.batch_size,
    learning_rate=TRAINER.learning_rate,
    epochs=TRAINER.epochs,
)
QUICK = {"fixed": FIXED, "trials": 3, "judges": 2}


@pytest.fixture(scope="module")
def applicants():
    return make_applicants(120)


@pytest.fixture(scope="module")
def schema(applicants):
    return make_schema(applicants)


@pytest.fixture(scope="module")
def result(applicants, schema):
    return tune(applicants, TARGET, "counternet", schema=schema, price=0.05, **QUICK)


@pytest.fixture(scope="module")
def prepared(applicants, schema):
    fit, held_out = split(applicants, TARGET, seed=3)
    return prepare(
        TuningProblem("counternet", schema, FIXED, PLAIN, protocol="adverse", price=0.05, seed=3),
        (fit.drop(columns=TARGET), fit[TARGET]),
        (held_out.drop(columns=TARGET), held_out[TARGET]),
        judges=2,
    )


def timeless(result):
    return [{**trial.to_dict(), "seconds": None} for trial in result.trials]


def test_the_defaults_are_tried_first_and_the_best_trial_wins(result):
    assert [trial.number for trial in result.trials] == [0, 1, 2]
    assert result.trials[0].parameters == {"proposer__proximity_weight": PRICE}
    scores = [trial.score for trial in result.trials]
    assert len(set(scores)) > 1
    assert result.best.score == max(scores)
    assert result.parameters == {**FIXED, **result.best.parameters}
    assert (result.fit_rows, result.validation_rows) == (90, 30)


def test_the_score_weighs_validity_cost_and_lost_accuracy(result):
    for trial in result.trials:
        measures = trial.measures
        valid = (measures["validity"] + measures["robust_validity"]) / 2
        lost = max(0.0, result.base_accuracy - measures["accuracy"])
        assert trial.score == pytest.approx(valid - 0.05 * measures["proximity"] - lost)


@pytest.mark.parametrize("jobs", [1, 2])
def test_measures_are_those_of_the_evaluation(prepared, jobs):
    proposals = [{"proposer__proximity_weight": 0.1}, {"proposer__proximity_weight": 1.5}]
    with run_trials([prepared], Engine(jobs=jobs)) as run:
        outcomes = run(proposals)
    X, y = prepared.validation_rows
    for parameters, outcome in zip(proposals, outcomes, strict=True):
        options = {**FIXED, **parameters}
        model = CounterNet(prepared.problem.schema, random_state=prepared.model_seed, **options)
        judges = {str(k): judge for k, judge in enumerate(prepared.judges)}
        scores = evaluate_model(model.fit(*prepared.fit_rows), X, y, judges=judges)
        adverse = scores.protocols["adverse"].to_dict()
        assert outcome.measures["accuracy"] == scores.accuracy
        for name in ("validity", "robust_validity", "proximity", "features_changed"):
            assert outcome.measures[name] == pytest.approx(adverse[name]), name


def test_judges_are_predictors_of_their_own(prepared):
    X, _ = prepared.validation_rows
    first, second = (judge.predict_proba(X) for judge in prepared.judges)
    assert not np.allclose(first, second)
    assert not np.allclose(first, prepared.base.predict_proba(X))
    assert min(prepared.base_accuracy, *prepared.judge_accuracies) > 0.7


def test_methods_that_explain_a_model_all_explain_the_same_one(prepared, monkeypatch):
    def explain(self, X, y):
        assert X.equals(prepared.fit_rows[0]) and self.model is prepared.base
        return self.model

    fixed = {"trainer": PLAIN}
    explaining = replace(
        prepared, problem=replace(prepared.problem, method="cf-model", fixed=fixed)
    )
    with monkeypatch.context() as patched, run_trials([explaining], LOCAL) as run:
        patched.setattr(METHODS["cf-model"], "fit", explain)
        outcomes = run([{"proposer__proximity_weight": 0.1}, {"proposer__proximity_weight": 1.5}])
    assert [o.measures["accuracy"] for o in outcomes] == [prepared.base_accuracy] * 2
    assert outcomes[0].score == outcomes[1].score


def test_judges_are_trained_as_the_method_would_but_plainly():
    assert _plainly(CounterNet(**FIXED)) == PLAIN
    panel = {name: value for name, value in FIXED.items() if name.startswith("trainer")}
    assert _plainly(RoCoursePanel(trainer__committee=2, **panel)) == PLAIN


def test_tuning_a_panel_trains_its_steady_committee(applicants, schema, monkeypatch):
    committees = []
    train = SteadyTrainer.train

    def noted(self, data, **options):
        trained = train(self, data, **options)
        committees.append((self.blur.flip, len(trained.networks)))
        return trained

    monkeypatch.setattr(SteadyTrainer, "train", noted)
    fixed = {name: value for name, value in FIXED.items() if name.startswith("trainer")}
    fixed |= {"trainer__committee": 2, "proposer__members": 1}
    space = {"trainer__blur__flip": Choices((0.2, 0.5))}
    options = {"schema": schema, "fixed": fixed, "space": space, "trials": 2, "judges": 1}
    result = tune(applicants, TARGET, "rocourse-panel", **options)
    asked = [trial.parameters["trainer__blur__flip"] for trial in result.trials]
    assert asked[0] == 0.2
    assert [size for _, size in committees] == [2] * len(committees)
    assert set(asked) <= {flip for flip, _ in committees}, "each trial's model, blurred as asked"
    # Not the plain model that other methods explain.
    assert all(trial.score is not None for trial in result.trials)


def test_tuning_varies_what_a_jury_goes_by_and_no_blur_that_it_has_not(applicants, schema):
    space = tuning_space(METHODS["rocourse"])
    assert {"proposer__kept", "proposer__shift__drift"} <= space.keys()
    assert not [name for name in space if name.startswith("trainer")]
    assert "trainer__blur__flip" in tuning_space(RoCoursePanel)
    fixed = {name: value for name, value in FIXED.items() if name.startswith("trainer")}
    fixed |= {"trainer__committee": 1, "proposer__jurors": 2, "proposer__witnesses": 4}
    options = {"schema": schema, "fixed": fixed, "trials": 2, "judges": 1}
    result = tune(applicants, TARGET, "rocourse", **options)
    first, second = result.trials
    assert first.parameters["proposer__kept"] == METHODS["rocourse"]().proposer.kept
    assert second.parameters.keys() == space.keys()
    assert first.score is not None and second.score is not None


def test_judges_that_say_the_same_of_all_rows_are_left_out(prepared, monkeypatch):
    def judged_anew(*constants):
        answers = iter(constants)
        monkeypatch.setattr(_trials, "constant_class", lambda predicted: next(answers))
        return prepare(prepared.problem, prepared.fit_rows, prepared.validation_rows, judges=2)

    again = judged_anew("granted", None, None)
    assert (len(again.judges), again.constant_judges) == (1, 1)
    assert again.judge_accuracies == prepared.judge_accuracies[1:]
    with pytest.raises(TrainingError, match="all 2 give every validation row the same class"):
        judged_anew("granted", "denied")
    with pytest.raises(TrainingError, match="it gives every validation row the same class"):
        judged_anew(None, None, "granted")


def test_a_retraining_draws_rows_and_moves_numbers_but_keeps_all_classes(applicants, schema):
    X, y = applicants.drop(columns=TARGET), applicants[TARGET].copy()
    y.iloc[7] = "rare"
    free = _trials._without_rounding(schema)
    for seed in range(20):
        rows, labels = _trials._shifted(free, X, y, np.random.default_rng(seed))
        assert len(rows) == len(labels) and set(labels) == set(y)
        assert set(rows["age"] % 1) != {0.0}
        # Every row is one of the given ones, but for its numbers.
        joined = rows.assign(label=labels).merge(
            X.assign(label=y), on=["job", "region", "label"], suffixes=("", "_before")
        )
        near = np.ones(len(joined), dtype=bool)
        for name in ("income", "age"):
            near &= (joined[name] - joined[f"{name}_before"]).abs() <= 0.1001 * schema[name].span
        assert len(joined[near].drop_duplicates(["income", "age"])) == len(
            rows.drop_duplicates(["income", "age"])
        )


def test_the_seed_decides_everything(applicants, schema, result):
    again = tune(applicants, TARGET, "counternet", schema=schema, price=0.05, **QUICK)
    assert timeless(again) == timeless(result)
    other = tune(applicants, TARGET, "counternet", schema=schema, seed=1, **QUICK)
    assert other.trials[1].parameters != result.trials[1].parameters


def test_large_validation_sets_are_drawn_from(applicants, schema):
    options = {**QUICK, "trials": 1, "max_validation_rows": 10}
    assert tune(applicants, TARGET, "counternet", schema=schema, **options).validation_rows == 10


def test_the_result_survives_its_file(result, tmp_path):
    path = tmp_path / "tuned.json"
    write_tuning(result, path)
    record = json.loads(path.read_text("utf-8"))
    assert (record["format"], record["version"]) == ("rocourse-tuning", 1)
    assert record["best"]["parameters"]["trainer__encoder_widths"] == [8, 4]
    assert {"optuna", "jax", "rocourse"} <= set(record["versions"])
    assert read_tuning(path) == result


@pytest.mark.parametrize("change", [{"format": "other"}, {"version": 9}])
def test_a_file_of_another_format_is_refused(result, change):
    with pytest.raises(ArtifactError, match=r"format \('rocourse-tuning', 1\)"):
        TuningResult.from_dict({**result.to_dict(), **change})


def test_an_incomplete_or_missing_file_is_refused(result, tmp_path):
    record = result.to_dict()
    del record["trials"]
    with pytest.raises(ArtifactError, match="trials"):
        TuningResult.from_dict(record)
    with pytest.raises(ArtifactError, match="must be a JSON file"):
        read_tuning(tmp_path / "absent.json")


def test_failed_trials_are_kept_with_their_reason(applicants, schema, monkeypatch):
    def fit(prepared, parameters):
        if parameters["proposer__proximity_weight"] != PRICE:
            raise TrainingError("The loss must be finite.")
        return prepared.base

    monkeypatch.setattr(_trials, "_fit", fit)
    result = tune(applicants, TARGET, "counternet", schema=schema, **QUICK)
    assert [trial.score is None for trial in result.trials] == [False, True, True]
    assert result.trials[1].error == "The loss must be finite."
    assert result.best.number == 0
    assert TuningResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_nothing_but_failures_is_an_error(applicants, schema, monkeypatch):
    def fit(prepared, parameters):
        raise TrainingError("The loss must be finite.")

    monkeypatch.setattr(_trials, "_fit", fit)
    with pytest.raises(TrainingError, match="all 3 failed, .*The loss must be finite"):
        tune(applicants, TARGET, "counternet", schema=schema, **QUICK)


def test_a_model_that_refuses_nobody_fails_the_adverse_protocol(prepared, monkeypatch):
    generous = prepared.base
    monkeypatch.setattr(_trials, "_fit", lambda prepared, parameters: generous)
    X, _ = prepared.validation_rows
    approved = X[generous.predict(X) == "granted"]
    labels = pd.Series("granted", index=approved.index)
    easy = replace(prepared, validation_rows=(approved, labels))
    with run_trials([easy], LOCAL) as run:
        (outcome,) = run([{"proposer__proximity_weight": 0.1}])
    assert outcome.score is None
    assert "leaves none" in outcome.error


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        ("oracle", {}, "method to tune must be one of .*got 'oracle'"),
        ("counternet", {"trials": 0}, "'trials' must be a whole number of at least 1: got 0"),
        ("counternet", {"judges": 0}, "'judges' must be"),
        ("counternet", {"jobs": 0}, "'jobs' must be"),
        ("counternet", {"protocol": "some"}, "protocol must be one of .*got 'some'"),
        ("counternet", {"price": -1}, "price must be a number of at least 0: got -1"),
        ("counternet", {"price": float("nan")}, "price must be a number"),
        ("counternet", {"fixed": {"epoch": 3}}, "Parameter 'epoch' must be one of counternet"),
        ("counternet", {"fixed": {"random_state": 3}}, "'random_state' .* does not set itself"),
        (
            "counternet",
            {"space": {"attack__norm": Choices(("l2",))}},
            "Parameter 'attack__norm' must be one",
        ),
        (
            "counternet",
            {"fixed": {name: 1 for name in tuning_space(CounterNet)}},
            "must have a parameter to vary",
        ),
        ("counternet", {"validation_share": 1.5}, "test_size must lie between 0 and 1"),
        (
            "counternet",
            {"fixed": {**FIXED, "trainer__epochs": 0}},
            "'epochs' of JointTrainer must be a whole number",
        ),
        (
            "counternet",
            {"fixed": {**FIXED, "proposer__validity_weight": -1.0}},
            "'validity_weight' of GeneratorProposer must be",
        ),
    ],
)
def test_wrong_options_are_refused(applicants, schema, method, options, words):
    with pytest.raises(ConfigError, match=words):
        tune(applicants, TARGET, method, schema=schema, **{**QUICK, **options})


def test_without_optuna_it_is_said_how_to_get_it(applicants, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(DependencyError, match=r"pip install 'rocourse\[tune\]'"):
        tune(applicants, TARGET, "counternet")


@pytest.mark.parametrize("method", METHODS)
def test_a_space_holds_the_defaults_and_ends_that_the_method_takes(method):
    defaults = METHODS[method]().get_params()
    space = tuning_space(METHODS[method])
    assert space
    assert [name for name, where in space.items() if defaults[name] not in where] == []
    for pick in (lambda w: w.low, lambda w: w.high):
        ends = {
            name: (int(pick(where)) if where.whole else pick(where))
            if isinstance(where, Span)
            else where.values[0]
            for name, where in space.items()
        }
        METHODS[method](**ends).check_parameters()
    json.dumps({name: where.to_dict() for name, where in space.items()}, allow_nan=False)


def test_choices_may_be_tuples(applicants, schema, monkeypatch):
    # What is trained with them is of no concern here.
    monkeypatch.setattr(_trials, "_fit", lambda prepared, parameters: prepared.base)
    space = {"proposer__widths": Choices(((8,), (100,)))}
    fixed = {name: value for name, value in FIXED.items() if name != "proposer__widths"}
    options = {**QUICK, "fixed": fixed, "trials": 1, "judges": 1}
    result = tune(applicants, TARGET, "counternet", schema=schema, space=space, **options)
    assert result.best.parameters == {"proposer__widths": (100,)}
    assert TuningResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_repeats_are_means_over_cuts_of_the_rows(applicants, schema):
    """Each cut is the one that a tuning with its own seed makes."""
    options = dict(schema=schema, fixed=FIXED, trials=1, judges=2)
    both = tune(applicants, TARGET, "counternet", repeats=2, **options).trials[0]
    apart = [
        tune(applicants, TARGET, "counternet", seed=seed, **options).trials[0] for seed in (0, 1)
    ]
    assert both.parameters == apart[0].parameters == apart[1].parameters
    assert both.score == pytest.approx((apart[0].score + apart[1].score) / 2)
    for name, value in both.measures.items():
        assert value == pytest.approx((apart[0].measures[name] + apart[1].measures[name]) / 2)
