"""The stages of `loan_protocol.py`: loading, training, recourses, matrix."""

import os
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import pandas as pd
from _cores import available_cores
from _loan_years import answer_year, judge_year, train_year
from _peak_memory import bare_interpreter_bytes, peak_bytes
from _workers import Done, WorkerError, Workers

import rocourse
from rocourse import RoCourseNet, Schema
from rocourse.datasets import list_datasets, load
from rocourse.errors import RocourseError
from rocourse.estimators._parameters import resolved
from rocourse.evaluation import SubsetResult, SubsetsResult, split
from rocourse.evaluation._protocol import fit_seed
from rocourse.options import plain
from rocourse.reports import PAPER_RESULTS

CANNOT_RUN = (RocourseError, WorkerError)

TEST_SIZE = 0.25
LIMIT_SECONDS, LIMIT_CORES = 30 * 60.0, 2
# The paper's table of training times; its accuracy is from the table of predictors.
PAPER_SECONDS, PAPER_CORES = 32 * 60 + 16.0, 16
PAPER_ACCURACY = 0.885
# About what the code takes that the paper's authors published.
AUTHORS_CODE_SECONDS = 12 * 3600.0
SHOWN_PROTOCOLS = ("all", "adverse")
PACKAGES = ("jax", "jaxlib", "equinox", "optax", "numpy", "pandas", "scikit-learn")
MEGABYTE = 2**20


class Parts(NamedTuple):
    """The rows of a year."""

    train: pd.DataFrame
    test: pd.DataFrame


class Stages(NamedTuple):
    """What the workers did, by year."""

    trained: Mapping[str, Done]
    answered: Mapping[str, Done]
    judged: Mapping[str, Done]


class Laps:
    """Wall clock seconds by name; they add up to the total."""

    def __init__(self, started: float) -> None:
        self.seconds: dict[str, float] = {}
        self._since = started

    def lap(self, name: str) -> None:
        """Ends a lap."""
        now = perf_counter()
        self.seconds[name], self._since = now - self._since, now


def run(
    *, n_years: int, epochs: int, jobs: int, seed: int, whole: bool, started: float
) -> dict[str, Any]:
    """Runs the protocol; JSON-able."""
    laps = Laps(started)
    laps.lap("importing")
    options = {"preset": "paper-loan", "trainer__epochs": epochs}
    (info,) = (info for info in list_datasets() if info.name == "loan")
    dataset = load("loan", subsets=info.subsets[:n_years])
    parts = {
        year: Parts(*split(frame, dataset.target, seed=seed, test_size=TEST_SIZE))
        for year, frame in dataset.subsets.items()
    }
    laps.lap("loading and splitting")
    with Workers(jobs) as workers:
        stages = work(workers, parts, dataset.schema, options, seed, laps)
    laps.lap("ending the workers")
    cpu = os.times()
    result = summarised(stages, parts, dataset.target, seed)
    return {
        "command": f"python benchmarks/loan_protocol.py --epochs {epochs} --years {n_years} "
        f"--jobs {jobs} --seed {seed}",
        "whole_protocol": whole,
        "parameters": parameters(options),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {
            "python": platform.python_version(),
            "rocourse": rocourse.__version__,
            **{name: version(name) for name in PACKAGES},
        },
        "epochs": epochs,
        "jobs": jobs,
        "cores": min(jobs, len(available_cores())),
        "training_rows": sum(len(train) for train, _ in parts.values()),
        "test_rows": sum(len(test) for _, test in parts.values()),
        **times(laps, stages, cpu_seconds=sum(cpu[:4]), whole=whole),
        "memory": memory(workers),
        "figures": figures(result),
        "summary": result.summary().to_dict(),
        "constant_predictors": list(result.constant),
        "years": [of_year(subset, stages) for subset in result.subsets],
        "matrix": {protocol: result.matrix(protocol) for protocol in SHOWN_PROTOCOLS},
    }


def work(
    workers: Workers,
    parts: Mapping[str, Parts],
    schema: Schema,
    options: Mapping[str, Any],
    seed: int,
    laps: Laps,
) -> Stages:
    """Trains all years, then lets each model answer, then judge."""
    # The longest first, so that no worker begins a long one when the other is about to end.
    years = sorted(parts, key=lambda year: len(parts[year].train), reverse=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        trained: dict[str, Done] = {}
        for done in workers.each(
            train_year,
            {
                year: (parts[year].train, schema, options, fit_seed(seed, year), folder)
                for year in years
            },
        ):
            trained[done.name] = done
            print(
                f"{done.name}: trained on {len(parts[done.name].train):,} rows in "
                f"{done.seconds:.1f} s ({len(trained)} of {len(years)} years)",
                file=sys.stderr,
                flush=True,
            )
        laps.lap("training")
        answered = by_year(
            workers.each(answer_year, {year: (parts[year].test, schema, folder) for year in years})
        )
        laps.lap("recourses")
        judged = by_year(
            workers.each(
                judge_year,
                {
                    year: (parts[year].test, answered[year].value, tuple(parts), folder)
                    for year in years
                },
            )
        )
        laps.lap("matrix")
    return Stages(trained, answered, judged)


def by_year(finished: Any) -> dict[str, Done]:
    """What was done, by year."""
    return {done.name: done for done in finished}


def summarised(stages: Stages, parts: Mapping[str, Parts], target: str, seed: int) -> SubsetsResult:
    """The result as `run_subsets` gives it, without plausibility."""
    return SubsetsResult(
        target=target,
        seed=seed,
        test_size=TEST_SIZE,
        subsets=tuple(
            SubsetResult(
                name=year,
                train_rows=len(train),
                fit_seed=fit_seed(seed, year),
                train_seconds=stages.trained[year].seconds,
                train_cpu_seconds=stages.trained[year].cpu_seconds,
                scores=stages.judged[year].value,
            )
            for year, (train, _) in parts.items()
        ),
    )


def parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a training, also those that are defaults today."""
    parts = resolved(RoCourseNet(**options))
    return dict(zip(("trainer", "proposer", "attack"), map(plain, parts), strict=True))


def times(laps: Laps, stages: Stages, *, cpu_seconds: float, whole: bool) -> dict[str, Any]:
    """Seconds, steps, and how they stand to published times."""
    total = sum(laps.seconds.values())
    steps = sum(done.value for done in stages.trained.values())
    fitting, computing = (
        sum(getattr(done, name) for done in stages.trained.values())
        for name in ("seconds", "cpu_seconds")
    )
    return {
        "seconds": {**laps.seconds, "total": total},
        "cpu_seconds": cpu_seconds,
        "steps": steps,
        "steps_per_second": steps / laps.seconds["training"],
        "steps_per_second_of_a_worker": steps / fitting,
        "steps_per_cpu_second": steps / computing,
        "limit_seconds": LIMIT_SECONDS,
        "limit_cores": LIMIT_CORES,
        "paper": {
            "seconds": PAPER_SECONDS,
            "cores": PAPER_CORES,
            "times_as_fast": PAPER_SECONDS / total if whole else None,
            "times_as_fast_by_core": PAPER_SECONDS * PAPER_CORES / cpu_seconds if whole else None,
        },
        "authors_code": {
            "seconds": AUTHORS_CODE_SECONDS,
            "times_as_fast": AUTHORS_CODE_SECONDS / total if whole else None,
        },
    }


def memory(workers: Workers) -> dict[str, Any]:
    """Peaks in megabytes, above that of a bare interpreter."""
    bare = bare_interpreter_bytes()
    return {
        "bare_interpreter_mb": bare / MEGABYTE,
        "parent_mb_above": (peak_bytes() - bare) / MEGABYTE,
        "workers_mb_above": [(peak - bare) / MEGABYTE for peak in workers.peak_bytes],
    }


def figures(result: SubsetsResult) -> dict[str, Any]:
    """Means over the years by protocol, and the paper's."""
    summary = result.summary()
    means: dict[str, Any] = {
        protocol: {
            "robust_validity": summary.protocols[protocol]["robust_validity"].mean,
            "validity": summary.protocols[protocol]["validity"].mean,
            "accuracy": summary.model["accuracy"].mean,
            "proximity": summary.protocols[protocol]["proximity"].mean,
        }
        for protocol in SHOWN_PROTOCOLS
    }
    published = PAPER_RESULTS["loan"]["rocoursenet"]
    return means | {"paper": {**published._asdict(), "accuracy": PAPER_ACCURACY}}


def of_year(subset: SubsetResult, stages: Stages) -> dict[str, Any]:
    """What is kept of one year."""
    trained, answered, judged = (stage[subset.name] for stage in stages)
    return {
        "year": subset.name,
        "training_rows": subset.train_rows,
        "test_rows": subset.scores.rows,
        "steps": trained.value,
        "training_seconds": trained.seconds,
        "training_cpu_seconds": trained.cpu_seconds,
        "recourse_seconds": answered.seconds,
        "judging_seconds": judged.seconds,
        "accuracy": subset.accuracy,
        "auc": subset.auc,
        **{
            protocol: {
                name: getattr(subset.scores.protocols[protocol], name)
                for name in ("rows", "robust_validity", "validity", "proximity", "features_changed")
            }
            for protocol in SHOWN_PROTOCOLS
        },
    }
