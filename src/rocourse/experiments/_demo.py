"""The demo: two methods on real data, judged by models retrained after the data were corrected."""

import json
import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

import rocourse
from rocourse import datasets
from rocourse.artifacts import save, write_file
from rocourse.attack import Attack
from rocourse.errors import ConfigError
from rocourse.estimators import METHODS, RecourseClassifier
from rocourse.evaluation import run_subsets, select_rows, split
from rocourse.experiments._folder import check_result_folder
from rocourse.options import NESTED, Options, plain
from rocourse.reports.demo import (
    CORRECTED,
    DEMO_PROTOCOLS,
    FORMAT,
    ORIGINAL,
    RESULT_FILE,
    Change,
    DemoResult,
    MethodRun,
    SampleRecourse,
    draw_demo,
    load_demo,
)
from rocourse.schema import Recourse, Schema

_NOTHING: Mapping[str, Any] = MappingProxyType({})
Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

DEMO_DATASET = "german_credit"
DEMO_METHODS = ("counternet", "rocoursenet")
DEMO_HELD: tuple[str, ...] = ("Age", "Present residence")
"""Features that the demo's advice leaves alone, besides the data set's own constraints.

They may only rise, and they do so by themselves: to tell an applicant to come back thirty years
older is no advice.
"""
DEMO_SAMPLES = 5
DEMO_WITNESSES = 8
MODEL_FOLDER = "model"

_PARTS = {ORIGINAL: "original", CORRECTED: "corrected"}
_PACKAGES = ("jax", "equinox", "optax", "numpy", "pandas", "scikit-learn")

Mask = npt.NDArray[np.bool_]


class Trial(NamedTuple):
    """One method's run, and what is left of it to choose samples from.

    Attributes:
        run: For the record.
        issuer: The model of the original data.
        judge: The model retrained on the corrected data.
        recourse: The issuer's recourses for its test rows.
        refused: Which of them are for refused applicants.
        approved_before: For which of them the judge gives the desired class without any change.
    """

    run: MethodRun
    issuer: RecourseClassifier
    judge: RecourseClassifier
    recourse: Recourse
    refused: Mask
    approved_before: Mask


def run_demo(
    out: Path,
    *,
    seed: int = 0,
    on_progress: Progress | None = None,
    options: Mapping[str, Any] = _NOTHING,
) -> DemoResult:
    """Trains, judges, and writes a JSON result, figures, a report and a model to be served.

    CounterNet and RoCourseNet are each trained on the original and on the corrected German Credit
    data; the model of the corrected data judges the recourses of the model of the original ones, as
    in the k-subset protocol.

    Args:
        out: Directory to write to. What an earlier run left there is replaced.
        seed: The same seed gives the same models and recourses.
        on_progress: Called with a label, the epochs done and their number.
        options: Parameters of both estimators, besides the preset `demo`.

    Raises:
        OutputError: If `out` is a file, cannot be written, or holds something else.
        ConfigError: If the seed or an option has a value it cannot have.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise ConfigError(
            f"The option 'seed' must be a whole number from 0 to 2³² - 1. Got {seed!r} instead."
        )
    check_result_folder(out, FORMAT)
    progress = on_progress or _silent
    wall, cpu = perf_counter(), process_time()

    dataset = datasets.load(DEMO_DATASET)
    schema = dataset.actionable_schema.constrain(immutable=DEMO_HELD)
    trials = [
        _run_method(method, dataset, schema, options, seed=seed, progress=progress)
        for method in DEMO_METHODS
    ]
    adviser = trials[-1]
    result = DemoResult(
        command=f"rocourse demo --seed {seed}",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=seed,
        seconds=perf_counter() - wall,
        cpu_seconds=process_time() - cpu,
        versions=_versions(),
        dataset=dataset.name,
        source=dataset.source,
        license=dataset.license,
        schema=schema,
        methods=tuple(trial.run for trial in trials),
        samples=choose_samples(adviser),
    )
    progress("Report", 0, 1)
    text = json.dumps(result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    write_file(Path(out) / RESULT_FILE, text.encode(), force=True)
    save(adviser.issuer, Path(out) / MODEL_FOLDER, force=True)
    render_demo(out)
    progress("Report", 1, 1)
    return result


def _run_method(
    method: str,
    dataset: datasets.Dataset,
    schema: Schema,
    options: Mapping[str, Any],
    *,
    seed: int,
    progress: Progress,
) -> Trial:
    estimator = METHODS[method]
    # The figure shows how each method fares under attack.
    parameters = {"preset": "demo", "proposer__measured_attack": Attack(), **options}
    models: dict[str, RecourseClassifier] = {}

    def fit(subset: str, X: pd.DataFrame, y: pd.Series, fit_seed: int) -> RecourseClassifier:
        # The model that gives the advice is the one that is kept and may be served.
        kept = method == DEMO_METHODS[-1] and subset == ORIGINAL
        witnesses = DEMO_WITNESSES if kept else 0
        model = estimator(schema=schema, random_state=fit_seed, witnesses=witnesses, **parameters)
        label = f"{estimator.__name__}, {_PARTS[subset]} data"
        epochs = model.planned_epochs
        progress(label, 0, epochs)

        def on_epoch(record: Mapping[str, float]) -> None:
            progress(label, int(record["epoch"]), epochs)

        model.fit(X, y, on_epoch=on_epoch)
        if model.n_iter_ < epochs:
            # Stopped early: nothing more is to be waited for.
            progress(label, epochs, epochs)
        return model

    subsets = run_subsets(
        dataset.subsets, dataset.target, fit, seed=seed, on_fitted=models.__setitem__
    )
    issuer, judge = models[ORIGINAL], models[CORRECTED]
    _, test = split(dataset.subsets[ORIGINAL], dataset.target, seed=seed)
    rows = test.drop(columns=dataset.target)
    recourse = issuer.recourse(rows)
    assert schema.target is not None  # every embedded data set has one
    selected = select_rows(recourse, schema.target.favourable)
    approved_before = np.asarray(judge.predict(rows) == recourse.desired)
    run = MethodRun(
        name=method,
        title=estimator.__name__,
        parameters=_stated(issuer),
        subsets=subsets,
        unchanged={
            protocol: float(approved_before[selected[protocol]].mean())
            if selected[protocol].any()
            else None
            for protocol in DEMO_PROTOCOLS
        },
        histories={name: tuple(model.history_) for name, model in models.items()},
        best_epochs={name: int(model.best_epoch_) for name, model in models.items()},
    )
    return Trial(run, issuer, judge, recourse, selected["adverse"], approved_before)


def choose_samples(trial: Trial) -> tuple[SampleRecourse, ...]:
    """The first refused test applicants with a recourse.

    First those whose recourse makes the judge approve them, then those whom it would have approved
    anyway, then those whom it refuses after all.
    """
    issuer, judge, recourse = trial.issuer, trial.judge, trial.recourse
    honoured = np.asarray(judge.predict(recourse.attempted()) == recourse.desired)
    found = np.flatnonzero(trial.refused & (recourse.status == "found"))
    rank = np.where(honoured, np.where(trial.approved_before, 1, 0), 2)
    # Stable, so that within each kind the order is that of the test rows: no other choice is made.
    chosen = found[np.argsort(rank[found], kind="stable")][:DEMO_SAMPLES]
    if not len(chosen):
        return ()

    picked = recourse[chosen]
    issuer_before, issuer_after = _scores(issuer, picked)
    judge_before, judge_after = _scores(judge, picked)
    return tuple(
        SampleRecourse(
            applicant=int(record["index"]),
            values={str(name): value for name, value in values.items()},
            changes=tuple(
                Change(change["feature"], change["from"], change["to"], text)
                for change, text in zip(record["changes"], picked.describe(i), strict=True)
            ),
            issuer_scores=(issuer_before[i], issuer_after[i]),
            judge_scores=(judge_before[i], judge_after[i]),
            honoured=bool(honoured[chosen[i]]),
            proximity=record["proximity"],
        )
        for i, (record, values) in enumerate(
            zip(picked.to_records(), picked.original.to_dict(orient="records"), strict=True)
        )
    )


def _scores(model: RecourseClassifier, recourse: Recourse) -> tuple[list[float], list[float]]:
    """The probabilities of the desired class, all of one class, before and after the changes."""
    column = list(model.classes_).index(recourse.desired[0])
    before, after = (
        model.predict_proba(rows)[:, column].tolist()
        for rows in (recourse.original, recourse.frame())
    )
    return before, after


def _stated(model: RecourseClassifier) -> dict[str, Any]:
    """All parameters of a model that do not differ between the subsets, as JSON-able values."""
    parts = {"trainer": model.trainer_, "proposer": model.proposer_, "attack": model.attack_}
    return {
        f"{part}.{name.replace(NESTED, '.')}": plain(value)
        for part, options in parts.items()
        if options is not None
        for name, value in options.get_params().items()
        if not isinstance(value, Options)
    }


def _versions() -> dict[str, str]:
    return {
        "rocourse": rocourse.__version__,
        "python": platform.python_version(),
        **{package: version(package) for package in _PACKAGES},
    }


def _silent(label: str, done: int, total: int) -> None:
    pass


def render_demo(out: Path) -> list[Path]:
    """Draws the figures and the report of the result that is stored in the directory `out`.

    Returns:
        The files that were written.

    Raises:
        ArtifactError: If the stored result is missing, damaged or of another version.
        OutputError: If a file cannot be written.
    """
    files = draw_demo(load_demo(out))
    return [write_file(Path(out) / name, content, force=True) for name, content in files.items()]
