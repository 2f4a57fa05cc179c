"""Runs of the k-subset protocol for several variants; each result is one JSON file."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from rocourse.artifacts import write_file
from rocourse.datasets import load
from rocourse.errors import ArtifactError
from rocourse.evaluation import SeedsResult, run_subsets
from rocourse.experiments._tuning import tune_setting, versions
from rocourse.experiments._variants import Comparison, Setting, Variant
from rocourse.methods import METHODS, RecourseClassifier

FORMAT = "rocourse-comparison"
VERSION = 1

# What a unit of proximity costs when parameters are chosen: three points of validity.
_PRICE = 0.03

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class ComparisonCell:
    """One variant on one data set."""

    comparison: str
    setting: str
    variant: str
    method: str
    options: dict[str, Any]
    tuned: dict[str, dict[str, Any]]
    """By seed, what was chosen for it in place of the options."""
    result: SeedsResult
    versions: dict[str, str]
    command: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values, with the format's name and version."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "comparison": self.comparison,
            "setting": self.setting,
            "variant": self.variant,
            "method": self.method,
            "options": self.options,
            "tuned": self.tuned,
            "command": self.command,
            "versions": self.versions,
            "result": self.result.to_dict(),
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "ComparisonCell":
        """The inverse of `to_dict`."""
        found = record.get("format"), record.get("version")
        if found != (FORMAT, VERSION):
            raise ArtifactError(
                f"A stored comparison must be of format {(FORMAT, VERSION)}: got {found}; run the "
                "comparison again."
            )
        names = ("comparison", "setting", "variant", "method", "options", "versions", "command")
        return cls(
            **{name: record[name] for name in names},
            # Older results have no tuned variants.
            tuned=record.get("tuned", {}),
            result=SeedsResult.from_dict(record["result"]),
        )


def run_comparison(
    comparison: Comparison,
    out: Path,
    *,
    jobs: int = 1,
    on_progress: Progress | None = None,
) -> list[ComparisonCell]:
    """Computes what is missing in `out` and returns all cells.

    Args:
        comparison: What to run.
        out: A directory with one file a cell; cells whose file is there are not computed again.
            The parameters of tuned variants are kept beside it, in `tuning`.
        jobs: Processes side by side.
        on_progress: Told (label, done, total) after each cell.
    """
    out.mkdir(parents=True, exist_ok=True)
    todo = [
        (comparison, setting, variant, out.parent / "tuning")
        for setting in comparison.settings
        for variant in comparison.variants
        if not _cell_path(out, setting, variant).exists()
    ]
    done = 0
    for cell in _compute(todo, jobs):
        text = json.dumps(cell.to_dict(), indent=1, allow_nan=False)
        write_file(_cell_path(out, cell.setting, cell.variant), text.encode())
        done += 1
        if on_progress is not None:
            on_progress(f"{cell.setting} {cell.variant}", done, len(todo))
    return read_comparison(comparison, out)


def read_comparison(comparison: Comparison, out: Path) -> list[ComparisonCell]:
    """The cells stored in `out`, in the order of the comparison."""
    cells = []
    for setting in comparison.settings:
        for variant in comparison.variants:
            path = _cell_path(out, setting, variant)
            if path.exists():
                cells.append(ComparisonCell.from_dict(json.loads(path.read_text("utf-8"))))
    return cells


def _compute(
    todo: list[tuple[Comparison, Setting, Variant, Path]], jobs: int
) -> Iterator[ComparisonCell]:
    if jobs == 1 or len(todo) < 2:
        yield from (_run_cell(*task) for task in todo)
        return
    # A fresh interpreter for each process: a forked one would inherit JAX's threads.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_run_cell, *task) for task in todo]
        for future in as_completed(futures):
            yield future.result()


def _run_cell(
    comparison: Comparison, setting: Setting, variant: Variant, tuning: Path
) -> ComparisonCell:
    options = {**setting.options_for(variant.method), **variant.options}
    # All parameters are stored, not only those that differ: defaults may change, results do not.
    params = METHODS[variant.method](**options).get_params()
    del params["schema"], params["random_state"]
    tuned: dict[str, dict[str, Any]] = {}

    def run(seed: int) -> Any:
        dataset = load(setting.dataset, subsets=setting.subsets, seed=seed)
        if variant.tuned or variant.plain:
            tuned[str(seed)] = _tune(comparison, setting, variant, seed, tuning)
        chosen = {**options, **tuned.get(str(seed), {})}

        def fit(_: str, X: pd.DataFrame, y: pd.Series, fit_seed: int) -> RecourseClassifier:
            model = METHODS[variant.method](schema=dataset.schema, random_state=fit_seed, **chosen)
            return model.fit(X, y)

        return run_subsets(dataset.subsets, dataset.target, fit, seed=seed)

    result = SeedsResult(tuple(run(seed) for seed in range(comparison.seeds)))
    return ComparisonCell(
        comparison=comparison.name,
        setting=setting.name,
        variant=variant.name,
        method=variant.method,
        options=params,
        tuned=tuned,
        result=result,
        versions=versions(),
        command=f"rocourse reproduce {comparison.name}",
    )


def _tune(
    comparison: Comparison, setting: Setting, variant: Variant, seed: int, out: Path
) -> dict[str, Any]:
    """The parameters to report a seed with, chosen without its test rows."""
    seeds = tuple(range(comparison.seeds)) if setting.tuned_once else (seed,)

    def best(method: str, fixed: dict[str, Any]) -> dict[str, Any]:
        found = tune_setting(
            setting,
            method,
            out,
            seeds=seeds,
            fixed=fixed,
            seed=seed if len(seeds) == 1 else 0,
            trials=setting.trials,
            price=_PRICE,
            command=f"rocourse reproduce {comparison.name}",
        )
        return dict(found.best.parameters)

    found = {} if variant.plain is None else best(variant.plain, {})
    return found | best(variant.method, {**variant.options, **found}) if variant.tuned else found


def _cell_path(out: Path, setting: Setting | str, variant: Variant | str) -> Path:
    setting_name = setting if isinstance(setting, str) else setting.name
    variant_name = variant if isinstance(variant, str) else variant.name
    return out / f"{setting_name}--{variant_name}.json"
