"""Parameters of a method chosen on held-out rows, judged by predictors that were retrained."""

import json
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import rocourse
from rocourse.artifacts import write_file
from rocourse.engines import LOCAL, Engine
from rocourse.errors import ConfigError, DependencyError, TrainingError
from rocourse.estimators import METHODS, RecourseClassifier, tuning_space
from rocourse.evaluation import PROTOCOLS, split
from rocourse.experiments._trials import Labelled, TuningProblem, prepare, run_trials
from rocourse.experiments._tuning_result import TuningResult, TuningTrial
from rocourse.models import PlainTrainer
from rocourse.options import NESTED, Range, Span
from rocourse.schema import Schema

if TYPE_CHECKING:
    import optuna

Ranges = Mapping[str, Range]
Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

# What tuning itself sets.
_RESERVED = ("schema", "random_state", "model", "preset")
_STARTUP_TRIALS = 8


def tune(
    frame: pd.DataFrame,
    target: str,
    method: str,
    *,
    schema: Schema | None = None,
    fixed: Mapping[str, Any] | None = None,
    space: Ranges | None = None,
    trials: int = 20,
    protocol: str = "all",
    price: float = 0.01,
    judges: int = 4,
    validation_share: float = 0.25,
    max_validation_rows: int = 1000,
    repeats: int = 1,
    seed: int = 0,
    jobs: int = 1,
    engine: Engine = LOCAL,
    data: str = "",
    command: str = "",
    on_progress: Progress | None = None,
) -> TuningResult:
    """Searches for the parameters with which a method's recourses last at a low cost.

    The rows are cut into fit and validation rows. Each trial fits the method on the fit rows and
    makes recourses for the validation rows. They are judged by the model itself and by `judges`
    predictors that stand for retrained ones: of the method's widths, each with a seed of its own,
    trained on a re-weighted draw (with replacement) of the fit rows whose numbers are moved by up
    to 0.1 of their range. The score is

        (validity + robust validity) / 2 − price · proximity − accuracy lost,

    the last being what the trial's predictor gets wrong beyond a plain one; zero for methods that
    explain a model, which all explain the same. The method's defaults are the first trial, if they
    lie in the space.

    Args:
        frame: Rows with their labels. Rows that results are to be reported on must not be there.
        target: The label column.
        method: A name in `METHODS`.
        schema: The features and their constraints; None infers it.
        fixed: Parameters that are not varied.
        space: What to vary instead of the method's own space.
        trials: How many sets of parameters to try.
        protocol: Whose recourses are scored, one of `PROTOCOLS`.
        price: What a unit of proximity costs.
        judges: How many retrained predictors judge.
        validation_share: The share of rows to hold out.
        max_validation_rows: The most rows to make recourses for.
        repeats: How many times to cut the rows anew, with models of its own for each cut; a trial's
            measures are means over them. Few rows need several.
        seed: The same seed (and `jobs`) gives the same result.
        jobs: Processes side by side. As many trials are asked for at once, so that each knows less
            of the others.
        engine: Where trials are run.
        data: A name for the rows, for the record.
        command: What was run, for the record.
        on_progress: Told (label, done, total) after each model.

    Raises:
        ConfigError: If an option has a value it cannot have.
        DependencyError: If Optuna is not installed.
        TrainingError: If no trial succeeded, or all judges give every row the same class.
    """
    study = _new_study(seed)
    _check_options(
        protocol, price, {"trials": trials, "judges": judges, "repeats": repeats, "jobs": jobs}
    )
    fixed = dict(fixed or {})
    estimator = _estimator(method, fixed)
    varied = _varied(estimator, fixed) if space is None else dict(space)
    _check_names(estimator, (*fixed, *varied))
    defaults = estimator.get_params()
    problem = TuningProblem(
        method=method,
        schema=schema or Schema.infer(frame, target=target),
        fixed=fixed,
        trainer=_plainly(estimator),
        protocol=protocol,
        price=price,
        seed=seed,
    )
    cuts = [
        prepare(
            replace(problem, seed=seed + repeat),
            *_cut(frame, target, validation_share, max_validation_rows, seed + repeat),
            judges=judges,
            on_progress=on_progress,
        )
        for repeat in range(repeats)
    ]
    if all(defaults[name] in where for name, where in varied.items()):
        study.enqueue_trial({name: _asked(defaults[name], varied[name]) for name in varied})
    tried: list[TuningTrial] = []
    with run_trials(cuts, replace(engine, jobs=jobs)) as run:
        while len(tried) < trials:
            asked = [study.ask() for _ in range(min(jobs, trials - len(tried)))]
            proposals = [_suggest(trial, varied) for trial in asked]
            for trial, parameters, outcome in zip(asked, proposals, run(proposals), strict=True):
                _tell(study, trial, outcome.score)
                tried.append(
                    TuningTrial(
                        number=trial.number,
                        parameters=parameters,
                        score=outcome.score,
                        measures=outcome.measures,
                        seconds=round(outcome.seconds, 3),
                        error=outcome.error,
                    )
                )
            if on_progress is not None:
                on_progress("trial", len(tried), trials)
    if all(trial.score is None for trial in tried):
        raise TrainingError(
            f"Tuning must have a trial that succeeds, but all {trials} failed, the first because "
            f"{tried[0].error!r}; change the fixed parameters or the space."
        )
    return TuningResult(
        method=method,
        data=data,
        target=target,
        protocol=protocol,
        price=price,
        seed=seed,
        validation_share=validation_share,
        repeats=repeats,
        fit_rows=len(cuts[0].fit_rows[0]),
        validation_rows=len(cuts[0].validation_rows[0]),
        base_accuracy=float(np.mean([cut.base_accuracy for cut in cuts])),
        judge_accuracies=tuple(right for cut in cuts for right in cut.judge_accuracies),
        constant_judges=sum(cut.constant_judges for cut in cuts),
        fixed=fixed,
        space={name: where.to_dict() for name, where in varied.items()},
        trials=tuple(tried),
        versions=versions("scikit-learn", "optuna"),
        command=command,
    )


def write_tuning(result: TuningResult, path: Path, *, force: bool = False) -> None:
    """Writes a result to a JSON file, whole or not at all."""
    text = json.dumps(result.to_dict(), indent=1, allow_nan=False)
    write_file(path, text.encode(), force=force)


def _cut(
    frame: pd.DataFrame, target: str, share: float, most: int, seed: int
) -> tuple[Labelled, Labelled]:
    fit, validation = split(frame, target, seed=seed, test_size=share)
    if len(validation) > most:
        validation = validation.sample(most, random_state=seed)
    return (
        (fit.drop(columns=target), fit[target]),
        (validation.drop(columns=target), validation[target]),
    )


def _new_study(seed: int) -> "optuna.Study":
    try:
        import optuna
    except ImportError as error:
        raise DependencyError(
            "Tuning must have the package optuna, but it is not installed; install it with "
            "pip install 'rocourse[tune]'."
        ) from error
    said = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=_STARTUP_TRIALS),
        )
    finally:
        optuna.logging.set_verbosity(said)


def _suggest(trial: "optuna.Trial", space: Ranges) -> dict[str, Any]:
    return {name: _suggest_one(trial, name, where) for name, where in space.items()}


def _suggest_one(trial: "optuna.Trial", name: str, where: Range) -> Any:
    if not isinstance(where, Span):
        # By position: Optuna's own values may not be tuples.
        return where.values[trial.suggest_categorical(name, range(len(where.values)))]
    if where.whole:
        return trial.suggest_int(name, int(where.low), int(where.high), log=where.log)
    return trial.suggest_float(name, where.low, where.high, log=where.log)


def _asked(value: Any, where: Range) -> Any:
    """What Optuna would have suggested to get `value`."""
    return value if isinstance(where, Span) else where.values.index(value)


def _tell(study: "optuna.Study", trial: "optuna.Trial", score: float | None) -> None:
    import optuna

    if score is None:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    else:
        study.tell(trial, score)


def _check_options(protocol: str, price: float, counts: Mapping[str, int]) -> None:
    if protocol not in PROTOCOLS:
        raise ConfigError(
            f"The protocol must be one of {list(PROTOCOLS)}: got {protocol!r}; name one of them."
        )
    if isinstance(price, bool) or not 0 <= price < float("inf"):
        raise ConfigError(
            f"The price must be a number of at least 0: got {price!r}; use, say, 0.01."
        )
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ConfigError(
                f"The option {name!r} must be a whole number of at least 1: got {count!r}; set it "
                "to such a value."
            )


def _estimator(method: str, fixed: Mapping[str, Any]) -> RecourseClassifier:
    if method not in METHODS:
        raise ConfigError(
            f"The method to tune must be one of {', '.join(METHODS)}: got {method!r}; name one of "
            "them."
        )
    estimator = METHODS[method]()
    _check_names(estimator, fixed)
    return estimator.set_params(**fixed)


def _check_names(estimator: RecourseClassifier, names: Iterable[str]) -> None:
    known = estimator.get_params()
    for name in names:
        if name not in known or name in _RESERVED:
            choices = sorted(set(known) - set(_RESERVED))
            raise ConfigError(
                f"Parameter {name!r} must be one of {estimator.method} that tuning does not set "
                f"itself: {', '.join(choices)}; correct the name."
            )


def _varied(estimator: RecourseClassifier, fixed: Mapping[str, Any]) -> dict[str, Range]:
    """What the method's options say of themselves, without those that are fixed."""
    whole = {
        name: where
        for name, where in tuning_space(type(estimator)).items()
        if name in estimator.get_params()
    }
    space = {name: where for name, where in whole.items() if name not in fixed}
    if not space:
        names = ", ".join(name.replace(NESTED, ".") for name in whole)
        raise ConfigError(
            f"Tuning must have a parameter to vary, but all that it varies of {estimator.method} "
            f"are fixed: {names}; leave one open."
        )
    return space


def _plainly(estimator: RecourseClassifier) -> PlainTrainer:
    """The options of the method's trainer that a plain one has too."""
    given = estimator.trainer.get_params(deep=False)
    return PlainTrainer(**{name: given[name] for name in PlainTrainer().get_params(deep=False)})


def versions(*besides: str) -> dict[str, str]:
    """Of what computed a result: the core packages, and others by name."""
    packages = ("jax", "equinox", "optax", "numpy", *besides)
    return {
        "python": platform.python_version(),
        "rocourse": rocourse.__version__,
        **{name: version(name) for name in packages},
    }
