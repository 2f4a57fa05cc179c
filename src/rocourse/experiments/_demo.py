"""The demo: three methods on a lender's records, judged by models retrained after a correction."""

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
from rocourse.errors import ConfigError
from rocourse.estimators import METHODS, RecourseClassifier, VanillaCF
from rocourse.evaluation import accuracy, common_judges, fit_seed, select_rows, split
from rocourse.experiments._demo_records import Records, draw_records, lender_schema
from rocourse.experiments._folder import check_result_folder
from rocourse.reports.demo import (
    FORMAT,
    RESULT_FILE,
    Change,
    DemoResult,
    MethodRun,
    SampleRecourse,
    Verdicts,
    draw_demo,
    fill_readme,
    load_demo,
)
from rocourse.schema import Continuous, Recourse, Schema

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

DEMO_DATASET = "german_credit"
DEMO_METHODS = ("rocourse", "counternet", "rocoursenet")
"""The first one is the one whose advice is shown and whose model is kept."""
DEMO_SAMPLES = 5
DEMO_JUDGES = 5
"""Retrained models of each kind."""
MODEL_FOLDER = "model"

# By method: the kind of judge that is its own. The generators' trainer makes a plain network.
_OWN = {"rocourse": "committee", "counternet": "network", "rocoursenet": "network"}
# Each judge has seen another part of the customers: lenders do not retrain on the very same rows.
_LEFT_OUT = 0.1
_PACKAGES = ("jax", "equinox", "optax", "numpy", "pandas", "scikit-learn")
_NOTHING: Mapping[str, Mapping[str, Any]] = MappingProxyType({})

Mask = npt.NDArray[np.bool_]
Judges = Mapping[str, list[Any]]
"""Retrained models, by kind."""


class Trial(NamedTuple):
    """One method's model, and what it told the applicants whom it refuses."""

    model: RecourseClassifier
    recourse: Recourse

    @property
    def promised(self) -> Recourse:
        """What is promised; nothing by a method that promises nothing."""
        return self._of("found") if self.model.pledge() is not None else self._of("")

    @property
    def unsure(self) -> Recourse:
        """What is valid today, and not promised."""
        return self._of("found_unsure" if self.model.pledge() is not None else "found")

    def _of(self, status: str) -> Recourse:
        return self.recourse[np.flatnonzero(self.recourse.status == status)]


def run_demo(
    out: Path,
    *,
    seed: int = 0,
    on_progress: Progress | None = None,
    options: Mapping[str, Mapping[str, Any]] = _NOTHING,
    judges: int = DEMO_JUDGES,
) -> DemoResult:
    """Trains, judges, and writes a JSON result, figures, a report and a model to be served.

    A lender corrects the German Credit records batch by batch. Models of today learn from
    customers half of whom are corrected, and tell the applicants whom they refuse what to change;
    models of four kinds, retrained when all are corrected, say what that was worth.

    Args:
        out: Directory to write to. What an earlier run left there is replaced.
        seed: The same seed gives the same models and recourses.
        on_progress: Called with a label, the steps done and their number.
        options: Parameters of the estimators other than their defaults, by method.
        judges: Retrained models of each kind.

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
    schema, target = lender_schema(dataset), dataset.target
    records = draw_records(dataset, seed=seed)
    estimators = {
        name: METHODS[name](schema=schema, random_state=seed, **options.get(name, {}))
        for name in DEMO_METHODS
    }
    trials = {
        name: _ask(estimator, records, target, progress) for name, estimator in estimators.items()
    }
    retrained = _retrain(estimators, records, target, schema, seed, judges, progress)
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
        customers=len(records.today),
        corrected=int(records.corrected.sum()),
        applicants=len(records.applicants),
        judges=judges,
        methods=tuple(
            _method_run(name, trial, records, target, retrained) for name, trial in trials.items()
        ),
        samples=choose_samples(trials[DEMO_METHODS[0]], retrained),
    )
    progress("Report", 0, 1)
    text = json.dumps(result.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    write_file(Path(out) / RESULT_FILE, text.encode(), force=True)
    save(trials[DEMO_METHODS[0]].model, Path(out) / MODEL_FOLDER, force=True)
    render_demo(out)
    progress("Report", 1, 1)
    return result


def _ask(estimator: RecourseClassifier, records: Records, target: str, progress: Progress) -> Trial:
    label, epochs = type(estimator).__name__, estimator.planned_epochs
    progress(label, 0, epochs)

    def on_epoch(record: Mapping[str, float]) -> None:
        progress(label, int(record["epoch"]), epochs)

    # Only a method that promises learns from what was corrected so far.
    estimator.fit(
        records.today.drop(columns=target),
        records.today[target],
        groups=records.corrected.astype(int),
        on_epoch=on_epoch,
    )
    progress(label, epochs, epochs)
    assert estimator.schema_.target is not None  # every embedded data set has one
    favourable = estimator.schema_.target.wanted()
    recourse = estimator.recourse(records.applicants.drop(columns=target), desired=favourable)
    return Trial(estimator, recourse[np.flatnonzero(select_rows(recourse, favourable)["adverse"])])


def _retrain(
    estimators: Mapping[str, RecourseClassifier],
    records: Records,
    target: str,
    schema: Schema,
    seed: int,
    judges: int,
    progress: Progress,
) -> Judges:
    """Models of each kind, each of another part of the corrected customers."""

    def network(method: str) -> Callable[[pd.DataFrame, Any, int], Any]:
        trainer = estimators[method].trainer_
        return lambda X, y, fit_seed: VanillaCF(schema, trainer=trainer, random_state=fit_seed).fit(
            X, y
        )

    kinds = {**{_OWN[method]: network(method) for method in DEMO_METHODS}, **common_judges(schema)}
    retrained: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for k in range(judges):
        progress("Retrained models", k, judges)
        rows, _ = split(
            records.later, target, seed=fit_seed(seed, f"later {k}"), test_size=_LEFT_OUT
        )
        for kind, fit in kinds.items():
            X, y = rows.drop(columns=target), rows[target]
            retrained[kind].append(fit(X, y, fit_seed(seed, f"{kind} {k}")))
    progress("Retrained models", judges, judges)
    return retrained


def _method_run(
    name: str, trial: Trial, records: Records, target: str, judges: Judges
) -> MethodRun:
    pledge = trial.model.pledge()
    told = trial.unsure if pledge is None else trial.promised
    unsure_told = {} if pledge is None else _judged(trial.unsure, judges)
    asked, share = _most_asked(told)
    return MethodRun(
        name=name,
        title=type(trial.model).__name__,
        own=_OWN[name],
        stated=None if pledge is None else pledge.kept,
        accuracy=accuracy(
            records.applicants[target],
            trial.model.predict(records.applicants.drop(columns=target)),
        ),
        refused=len(trial.recourse),
        promised=len(trial.promised),
        unsure=len(trial.unsure),
        told=_judged(told, judges),
        unsure_told=unsure_told,
        proximity=float(told.proximity.mean()) if len(told) else None,
        unusual=_unusual(told, records.today) if len(told) else None,
        most_asked=asked,
        most_asked_share=share,
    )


def _judged(told: Recourse, judges: Judges) -> dict[str, Verdicts]:
    if not len(told):
        return {}
    return {
        kind: Verdicts(
            *(
                tuple(float(np.mean(judge.predict(rows) == told.desired)) for judge in models)
                for rows in (told.attempted(), told.original)
            )
        )
        for kind, models in judges.items()
    }


def _unusual(told: Recourse, customers: pd.DataFrame) -> float:
    """The share of advice that asks for a number beyond the 1st and 99th percentile."""
    unusual = np.zeros(len(told), bool)
    for feature, changed, after in _changed_numbers(told):
        low, high = np.quantile(customers[feature.name], [0.01, 0.99])
        unusual |= changed & ((after < low) | (after > high))
    return float(unusual.mean())


def _most_asked(told: Recourse) -> tuple[str | None, float | None]:
    """The number that most of the advice asks for, in words, and how much of it does."""
    most: tuple[str | None, float | None] = (None, None)
    for feature, changed, after in _changed_numbers(told):
        if changed.any():
            values, counts = np.unique(after[changed], return_counts=True)
            share = float(counts.max() / len(told))
            if most[1] is None or share > most[1]:
                words = f"{feature.name} {values[counts.argmax()]:g} {feature.unit}"
                most = (words.strip(), share)
    return most


def _changed_numbers(told: Recourse) -> list[tuple[Continuous, Mask, npt.NDArray[np.float64]]]:
    before, after = told.original, told.attempted()
    return [
        (feature, new != before[feature.name].to_numpy(float), new)
        for feature in told.schema.continuous
        for new in [after[feature.name].to_numpy(float)]
    ]


def choose_samples(trial: Trial, judges: Judges) -> tuple[SampleRecourse, ...]:
    """Promises from cheap to dear: those at the tenths 1, 3, 5, 7 and 9 of the order of cost.

    Where nothing is promised, what is valid today is shown instead.
    """
    told = trial.promised if len(trial.promised) else trial.unsure
    order = np.argsort(told.proximity, kind="stable")
    places = (np.arange(DEMO_SAMPLES) + 0.5) / DEMO_SAMPLES * len(told)
    picked = told[order[np.unique(places.astype(int))]] if len(told) else told
    models = [model for kind in judges.values() for model in kind]
    kept, unchanged = (
        np.sum([model.predict(rows) == picked.desired for model in models], axis=0)
        if len(picked)
        else ()
        for rows in (picked.attempted(), picked.original)
    )
    return tuple(
        SampleRecourse(
            applicant=int(record["index"]),
            values={str(name): value for name, value in values.items()},
            changes=tuple(
                Change(change["feature"], change["from"], change["to"], text)
                for change, text in zip(record["changes"], picked.describe(i), strict=True)
            ),
            promised=bool(len(trial.promised)),
            chance=None if picked.robustness is None else float(picked.robustness[i]),
            kept=int(kept[i]),
            unchanged=int(unchanged[i]),
            proximity=record["proximity"],
        )
        for i, (record, values) in enumerate(
            zip(picked.to_records(), picked.original.to_dict(orient="records"), strict=True)
        )
    )


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
    return _written({Path(out) / name: text for name, text in draw_demo(load_demo(out)).items()})


def publish_demo(out: Path, readme: Path) -> list[Path]:
    """Writes the result that is stored in the directory `out` into a README.

    Its figures stand between the README's marks; the picture and the record that they are of are
    in the folder `docs` beside it.

    Returns:
        The files that were written.

    Raises:
        ArtifactError: If the stored result is missing, damaged or of another version.
        ConfigError: If the README has no marks.
        OutputError: If a file cannot be written.
    """
    result, docs = load_demo(out), Path(readme).parent / "docs"
    files = {
        Path(readme): fill_readme(Path(readme).read_text(encoding="utf-8"), result).encode(),
        docs / "results/demo.json": (Path(out) / RESULT_FILE).read_bytes(),
        docs / "images/demo.png": (Path(out) / "figures/kept.png").read_bytes(),
    }
    return _written(files)


def _written(files: Mapping[Path, bytes]) -> list[Path]:
    for path, content in files.items():
        write_file(path, content, force=True)
    return list(files)
