"""What one trial of a search for parameters does, and the models that all trials share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from rocourse.engines import Engine
from rocourse.errors import ConfigError, RocourseError, TrainingError
from rocourse.estimators import METHODS, RecourseClassifier, VanillaCF
from rocourse.evaluation import (
    Aggregate,
    accuracy,
    constant_class,
    proximity,
    robust_validity,
    select_rows,
    sparsity,
    validity,
)
from rocourse.models import PlainTrainer, Shift, TrainingRows, shift_rows
from rocourse.schema import Continuous, Rows, Schema

# What the rows of retrained predictors have gone through: drawn with other weights, numbers moved.
_USUAL = Shift(flip=0.0)

Labelled = tuple[pd.DataFrame, "pd.Series[Any]"]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class TuningProblem:
    """What is asked of every trial.

    Attributes:
        method: As in `METHODS`.
        schema: The features and their constraints.
        fixed: The parameters of the method that no trial varies.
        trainer: How the models around the method are trained: as its own, but plainly.
        protocol: The rows whose recourses are scored.
        price: What one unit of proximity costs.
        seed: Decides all models.
    """

    method: str
    schema: Schema
    fixed: Mapping[str, Any]
    trainer: PlainTrainer
    protocol: str
    price: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A problem with its rows and the models that all trials share.

    Attributes:
        problem: What is asked.
        model_seed: The seed of every trial's model, so that only parameters tell them apart.
        fit_rows: What models are fitted on.
        validation_rows: What recourses are made for.
        base: The model that methods explain which take one.
        judges: Predictors that stand for retrained ones.
        constant_judges: How many more there were, left out because they say the same of all
            validation rows.
        base_accuracy: Of `base`, on the validation rows.
        judge_accuracies: Of `judges`, on the validation rows.
    """

    problem: TuningProblem
    model_seed: int
    fit_rows: Labelled
    validation_rows: Labelled
    base: RecourseClassifier
    judges: tuple[RecourseClassifier, ...]
    constant_judges: int
    base_accuracy: float
    judge_accuracies: tuple[float, ...]


@dataclass(frozen=True)
class TrialOutcome:
    """What came of a trial.

    Attributes:
        score: None if it failed.
        measures: What was measured, by name.
        seconds: Wall clock.
        error: Why it failed.
    """

    score: float | None
    measures: Mapping[str, float | None]
    seconds: float
    error: str | None = None


def prepare(
    problem: TuningProblem,
    fit_rows: Labelled,
    validation_rows: Labelled,
    *,
    judges: int,
    on_progress: Progress | None = None,
) -> Prepared:
    """Fits the models that all trials share."""
    seeds = np.random.SeedSequence(problem.seed).generate_state(1 + judges) >> 1
    free = _without_rounding(problem.schema)
    models: list[RecourseClassifier] = []
    for seed in seeds.tolist():
        rows, schema = fit_rows, problem.schema
        if models:
            rows, schema = _shifted(free, *fit_rows, np.random.default_rng(seed)), free
        # A method that learns nothing besides the model.
        model = VanillaCF(schema=schema, trainer=problem.trainer, random_state=seed)
        models.append(model.fit(*rows))
        if on_progress is not None:
            on_progress("judge", len(models), len(seeds))
    X, y = validation_rows
    base, *others = models
    # What a predictor says that always says the same means nothing.
    retrained = [judge for judge in others if constant_class(judge.predict(X)) is None]
    if not retrained:
        raise TrainingError(
            f"Tuning must have a judge that tells rows apart, but all {judges} give every "
            "validation row the same class; set more epochs or another learning rate."
        )
    if constant_class(base.predict(X)) is not None:
        raise TrainingError(
            "Tuning must have a predictor that tells rows apart, but it gives every validation row "
            "the same class; set more epochs or another learning rate, or give more rows."
        )
    base_accuracy, *judge_accuracies = (
        float(np.mean(model.predict(X) == y.to_numpy())) for model in (base, *retrained)
    )
    return Prepared(
        problem=problem,
        model_seed=int(seeds[0]),
        fit_rows=fit_rows,
        validation_rows=validation_rows,
        base=base,
        judges=tuple(retrained),
        constant_judges=len(others) - len(retrained),
        base_accuracy=base_accuracy,
        judge_accuracies=tuple(judge_accuracies),
    )


Run = Callable[[list[dict[str, Any]]], list[TrialOutcome]]


@contextmanager
def run_trials(cuts: Sequence[Prepared], engine: Engine) -> Iterator[Run]:
    """Gives a function that runs some trials, side by side if there are several jobs."""
    with engine.pool(partial(tuple, cuts)) as pool:
        yield lambda proposals: pool.results(
            [partial(_run_trial, parameters=parameters) for parameters in proposals]
        )


def _without_rounding(schema: Schema) -> Schema:
    """The schema with fractions allowed: a whole number moved by little would be put back."""
    return replace(
        schema,
        features=tuple(
            replace(feature, integer=False) if isinstance(feature, Continuous) else feature
            for feature in schema.features
        ),
    )


def _shifted(
    schema: Schema, X: pd.DataFrame, y: "pd.Series[Any]", rng: np.random.Generator
) -> tuple[pd.DataFrame, "pd.Series[Any]"]:
    """Rows as they might be at the next training."""
    classes, labels = np.unique(y.to_numpy(), return_inverse=True)
    data = TrainingRows(schema.encode(X), labels, len(classes), schema)
    shifted = shift_rows(data, _USUAL, rng)
    # A predictor has to know all classes, also those that the draw left out.
    missing = np.setdiff1d(labels, shifted.labels)
    kept = [int(np.flatnonzero(labels == label)[0]) for label in missing]
    rows = Rows.concatenate([shifted.rows, data.rows.take(kept)])
    told = classes[np.append(shifted.labels, missing)]
    return schema.decode(rows), pd.Series(told, name=y.name)


def _run_trial(cuts: Sequence[Prepared], parameters: dict[str, Any]) -> TrialOutcome:
    """One set of parameters on every cut of the rows; a failure on one is a failure."""
    outcomes = [_run_once(prepared, parameters) for prepared in cuts]
    seconds = sum(outcome.seconds for outcome in outcomes)
    for outcome in outcomes:
        if outcome.score is None:
            return replace(outcome, seconds=seconds)
    scores = [outcome.score for outcome in outcomes if outcome.score is not None]
    measures = {
        name: Aggregate.of(outcome.measures[name] for outcome in outcomes).mean
        for name in outcomes[0].measures
    }
    return TrialOutcome(float(np.mean(scores)), measures, seconds)


def _run_once(prepared: Prepared, parameters: dict[str, Any]) -> TrialOutcome:
    start = perf_counter()
    try:
        measures = _measure(prepared, _fit(prepared, parameters))
    except ConfigError:
        # Not of these values but of what is fixed: no trial would do better.
        raise
    except RocourseError as error:
        return TrialOutcome(None, {}, perf_counter() - start, str(error))
    seconds = perf_counter() - start
    if measures["proximity"] is None:
        reason = (
            "The predictor must leave validation rows to judge in protocol "
            f"{prepared.problem.protocol!r}, but leaves none."
        )
        return TrialOutcome(None, measures, seconds, reason)
    return TrialOutcome(_score(prepared, measures), measures, seconds)


def _fit(prepared: Prepared, parameters: dict[str, Any]) -> RecourseClassifier:
    problem = prepared.problem
    model = METHODS[problem.method](schema=problem.schema, random_state=prepared.model_seed)
    model.set_params(**problem.fixed, **parameters)
    if isinstance(model.trainer, PlainTrainer):
        # All trials explain the same model; other trainers are a part of the method.
        model.set_params(model=prepared.base)
    return model.fit(*prepared.fit_rows)


def _measure(prepared: Prepared, model: RecourseClassifier) -> dict[str, float | None]:
    X, y = prepared.validation_rows
    recourse = model.recourse(X)
    target = model.schema_.target
    assert target is not None  # fitting completes the schema
    where = select_rows(recourse, target.wanted())[prepared.problem.protocol]
    chosen = recourse[np.flatnonzero(where)]
    predicts = [judge.predict for judge in prepared.judges] if len(chosen) else []
    return {
        "validity": validity(chosen),
        "robust_validity": robust_validity(chosen, predicts),
        "proximity": proximity(chosen),
        "features_changed": sparsity(chosen),
        "accuracy": accuracy(y, model.predict(X)),
    }


def _score(prepared: Prepared, measures: Mapping[str, float | None]) -> float:
    valid, robust, cost, right = (
        measures[name] or 0.0 for name in ("validity", "robust_validity", "proximity", "accuracy")
    )
    lost = max(0.0, prepared.base_accuracy - right)
    return (valid + robust) / 2 - prepared.problem.price * cost - lost
