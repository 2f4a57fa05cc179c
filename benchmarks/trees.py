"""How fast single changes of rows are judged by trees, beside the libraries' `predict_proba`.

    python benchmarks/trees.py [--rows 1000] [--edits 60] [--json results.json]

The access pattern of a greedy search: for each row, what would each of the edits of one feature
do? A library is asked in one batch of all rows with all edits, made before its time begins, on one
thread and on all cores; ours is on one. Prints milliseconds of the processor (of the clock), and
how many times as much of the processor the library uses on one thread: where all rows have the same
edits, where each has its own, and an edit, where all split points are tried.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from _cores import limit_cores
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_limits

from rocourse.models.trees import TreeEvaluator, read_trees, split_points

_TREES, _DEPTH, _FEATURES, _TRAINING_ROWS = 200, 6, 20, 8000
# Rows that are asked about with all split points as edits, which are thousands.
_FEW = 100


def main() -> None:
    """Measures all libraries that are installed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000, help="rows in a batch (1000)")
    parser.add_argument("--edits", type=int, default=60, help="edits of each row (60)")
    parser.add_argument("--repeats", type=int, default=7, help="calls that are timed (7)")
    parser.add_argument("--cores", type=int, default=2, help="cores to run on (2)")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    limit_cores(options.cores)
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(_TRAINING_ROWS, _FEATURES))
    score = x[:, :5].sum(axis=1) + x[:, 5] * x[:, 6] + rng.normal(size=len(x))
    labels = (score > 0).astype(int)
    rows = rng.normal(size=(options.rows, _FEATURES))
    print(
        f"{_TREES} trees, {_FEATURES} features, {options.rows} rows with {options.edits} edits "
        f"each, {options.cores} cores; ms of the processor (of the clock)"
    )
    results = []
    for name, make in classifiers().items():
        figures = measure(name, make, x, labels, rows, options)
        results.append({"model": name, **figures})
    if options.json is not None:
        packages = ["numba", "numpy", "scikit-learn", "lightgbm"]
        record = {"rows": options.rows, "edits": options.edits, "results": results}
        record["versions"] = {package: version(package) for package in packages}
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def classifiers() -> dict[str, Callable[[int], Any]]:
    """From a number of threads to a model, by name."""

    def xgboost_model(threads: int) -> Any:
        import xgboost

        return xgboost.XGBClassifier(n_estimators=_TREES, max_depth=_DEPTH, n_jobs=threads)

    def lightgbm_model(threads: int) -> Any:
        import lightgbm

        return lightgbm.LGBMClassifier(
            n_estimators=_TREES, max_depth=_DEPTH, num_leaves=63, n_jobs=threads, verbose=-1
        )

    def catboost_model(threads: int) -> Any:
        import catboost

        return catboost.CatBoostClassifier(
            iterations=_TREES,
            depth=_DEPTH,
            thread_count=threads,
            verbose=False,
            allow_writing_files=False,
        )

    def hist_model(threads: int) -> Any:
        return HistGradientBoostingClassifier(
            max_iter=_TREES, max_depth=_DEPTH, max_leaf_nodes=63, early_stopping=False
        )

    def forest_model(threads: int) -> Any:
        return RandomForestClassifier(_TREES, max_depth=_DEPTH, n_jobs=threads, random_state=0)

    def deep_forest(threads: int) -> Any:
        return RandomForestClassifier(_TREES, n_jobs=threads, random_state=0)

    every = {
        "XGBoost": ("xgboost", xgboost_model),
        "LightGBM": ("lightgbm", lightgbm_model),
        "CatBoost": ("catboost", catboost_model),
        "HistGradientBoosting": ("sklearn", hist_model),
        "RandomForest": ("sklearn", forest_model),
        "RandomForest, any depth": ("sklearn", deep_forest),
    }
    for name, (package, _) in every.items():
        if find_spec(package) is None:
            print(f"{name:24s} left out: {package} is not installed")
    return {name: make for name, (package, make) in every.items() if find_spec(package)}


def measure(
    name: str,
    make: Callable[[int], Any],
    x: np.ndarray,
    labels: np.ndarray,
    rows: np.ndarray,
    options: argparse.Namespace,
) -> dict[str, float]:
    """The library on one thread and on several, beside the evaluator."""
    rng = np.random.default_rng(1)
    feature = np.arange(options.edits) % _FEATURES
    value = rng.normal(size=options.edits)
    candidates = np.repeat(rows[:, None], options.edits, axis=1)
    candidates[:, np.arange(options.edits), feature] = value
    candidates = candidates.reshape(-1, _FEATURES)
    figures: dict[str, float] = {}
    for threads in sorted({1, options.cores}):
        model = make(threads).fit(x, labels)
        with threadpool_limits(threads):
            figures |= timed(
                f"library_{threads}", lambda m=model: m.predict_proba(candidates), options.repeats
            )
    evaluator = TreeEvaluator(read_trees(model))
    edits = evaluator.edits(feature, value)
    answer = evaluator.ensemble.probabilities(evaluator.edit_margins(rows, edits))
    figures["difference"] = float(
        np.abs(answer.reshape(-1, 2) - model.predict_proba(candidates)).max()
    )
    own_feature = np.tile(feature, (len(rows), 1))
    own_value = rng.normal(size=own_feature.shape)
    every = [(f, v) for f in range(_FEATURES) for v in split_points(evaluator.ensemble, f)]
    thresholds = evaluator.edits(*np.array(every).T)
    figures |= timed(
        "same_edits",
        lambda: evaluator.ensemble.probabilities(evaluator.edit_margins(rows, edits)),
        options.repeats,
    )
    figures |= timed(
        "own_edits",
        lambda: evaluator.edit_margins(rows, evaluator.edits(own_feature, own_value)),
        options.repeats,
    )
    figures |= timed(
        "split_points", lambda: evaluator.edit_margins(rows[:_FEW], thresholds), options.repeats
    )
    library = figures["library_1_cpu"]
    figures["times_same_edits"] = library / figures["same_edits_cpu"]
    figures["times_own_edits"] = library / figures["own_edits_cpu"]
    each = figures["split_points_cpu"] / (_FEW * len(every))
    figures["times_split_points"] = library / len(candidates) / each
    of_library = ", ".join(
        f"{figures[f'library_{threads}_cpu']:.1f} ({figures[f'library_{threads}_ms']:.1f})"
        for threads in sorted({1, options.cores})
    )
    print(
        f"{name:24s} library {of_library}; same edits {figures['same_edits_cpu']:.1f}: "
        f"{figures['times_same_edits']:.1f} times; own edits {figures['own_edits_cpu']:.1f}: "
        f"{figures['times_own_edits']:.1f} times; {len(every)} split points: "
        f"{figures['times_split_points']:.0f} times an edit; differs by "
        f"{figures['difference']:.0e}"
    )
    return figures


def timed(name: str, call: Callable[[], Any], repeats: int) -> dict[str, float]:
    """The least of several times, after a first one."""
    call()
    cpu, wall = [], []
    for _ in range(repeats):
        began, used = perf_counter(), process_time()
        call()
        cpu.append(process_time() - used)
        wall.append(perf_counter() - began)
    return {f"{name}_cpu": 1000.0 * min(cpu), f"{name}_ms": 1000.0 * min(wall)}


if __name__ == "__main__":
    main()
