"""How many options refused applicants get, what they cost, and how long each takes.

    python benchmarks/options.py [--options 4] [--method rocourse] [--data german_credit student]

A model of four fifths of a subset advises the refused among the rest, under the constraints that
sensible advice has to respect. Times are those of the processor, of one answer to all rows, the
best of several; see benchmarks/README.md.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np

from rocourse import METHODS, Recourse, datasets
from rocourse.evaluation import diversity, split
from rocourse.schema import Rows

SUBSETS = {"german_credit": "org", "student": "gp", "loan": "2004"}
# What is to be shown: the share of rows with so many options, their cost, and the time of each.
ENOUGH, TARGET_SHARE, TARGET_COST, TARGET_TIME = 3, 0.9, 2.0, 0.5


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="Several options for each applicant.")
    parser.add_argument("--options", type=int, default=4, help="options to ask for (4)")
    parser.add_argument("--method", default="rocourse", choices=METHODS, help="(rocourse)")
    parser.add_argument("--data", nargs="+", default=list(SUBSETS), choices=SUBSETS)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each time (5)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    for name in asked.data:
        results.append(measure(name, asked.method, asked.options, asked.rounds))
        print_report(results[-1])
    if asked.json is not None:
        asked.json.write_text(json.dumps(results, indent=2) + "\n")


def measure(name: str, method: str, options: int, rounds: int) -> dict[str, Any]:
    """The figures of one data set."""
    data = datasets.load(name, subsets=SUBSETS[name])
    train, test = split(data.subsets[SUBSETS[name]], data.target, seed=0)
    model = METHODS[method](data.actionable_schema, random_state=0)
    model.fit(train.drop(columns=data.target), train[data.target])
    favourable = data.schema.target.favourable
    rows = test.drop(columns=data.target)
    rows = rows[model.predict(rows) != favourable].reset_index(drop=True)

    def several() -> Recourse:
        return model.recourse(rows, desired=favourable, options=options)

    found, alone = several(), model.recourse(rows, desired=favourable)
    first = seconds(lambda: model.recourse(rows, desired=favourable), rounds)
    all_ = seconds(several, rounds)
    there = apart(found, [values(option.attempts) for option in found.options])
    changed = [changes(found.original_rows, option.attempts) for option in found.options]
    further = sum(int(option.advised.sum()) for option in found.others) / len(rows)
    applicants = rows.head(50).to_dict("records")

    def one_by_one(count: int) -> Callable[[], Any]:
        return lambda: [
            model.recourse_one(one, desired=favourable, options=count) for one in applicants
        ]

    single = [seconds(one_by_one(count), rounds) / len(applicants) for count in (1, options)]
    return {
        "data": name,
        "method": method,
        "options": options,
        "refused": len(rows),
        "advised": float(alone.advised.mean()),
        "enough": float((there >= ENOUGH).mean()),
        "enough_of_other_features": float((apart(found, changed) >= ENOUGH).mean()),
        "promised": [float((option.status == "found").mean()) for option in found.options],
        "cost": [cost_ratio(option, found) for option in found.options],
        "cost_of_first_to_alone": cost_ratio(found, alone),
        "diversity": diversity(found),
        "seconds": [first, all_],
        "further_options_a_row": further,
        "time_of_further_to_first": (all_ - first) / further / first,
        "single_milliseconds": [1e3 * taken for taken in single],
    }


def apart(found: Recourse, told: list[np.ndarray]) -> np.ndarray:
    """How many options of each row differ from all before in what is told of them, `[n]`."""
    first = [option.advised.copy() for option in found.options]
    for i, j in combinations(range(len(told)), 2):
        first[j] &= ~(first[i] & (told[i] == told[j]).all(axis=1))
    return np.sum(first, axis=0)


def values(rows: Rows) -> np.ndarray:
    """What features are, to the half per cent that people notice, `[n, features]`."""
    return np.concatenate([np.rint(200 * rows.continuous), rows.categories], axis=1)


def changes(before: Rows, after: Rows) -> np.ndarray:
    """Which features change, `[n, features]`."""
    return np.concatenate(
        [before.continuous != after.continuous, before.categories != after.categories], axis=1
    )


def cost_ratio(option: Recourse, first: Recourse) -> float | None:
    """The mean cost of an option, as a multiple of the first one's of the same row."""
    both = option.advised & first.advised
    return float((option.cost[both] / first.cost[both]).mean()) if both.any() else None


def seconds(work: Callable[[], Any], rounds: int) -> float:
    """Processor time of a call, the least of some."""
    work()
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def print_report(results: dict[str, Any]) -> None:
    """The figures as text."""

    def met(value: bool) -> str:
        return "reached" if value else "missed"

    costs = [cost for cost in results["cost"] if cost is not None]
    ratio = results["time_of_further_to_first"]
    print(
        f"{results['data']}, {results['method']}: {results['refused']} refused, "
        f"{results['advised']:.0%} advised\n"
        f"  at least {ENOUGH} options, no two alike: {results['enough']:.1%} of them "
        f"(target {TARGET_SHARE:.0%}: {met(results['enough'] >= TARGET_SHARE)}); "
        f"{results['enough_of_other_features']:.1%} with as many sets of features\n"
        f"  promised, option by option: {', '.join(f'{p:.0%}' for p in results['promised'])}\n"
        f"  cost to the first: {', '.join(f'{cost:.2f}' for cost in costs)} (target "
        f"{TARGET_COST:g}: {met(max(costs) <= TARGET_COST)}); the first to what is advised alone: "
        f"{results['cost_of_first_to_alone']:.2f}\n"
        f"  two options differ in {results['diversity']:.1f} features\n"
        f"  {1e3 * results['seconds'][0]:.0f} ms for one option, {1e3 * results['seconds'][1]:.0f} "
        f"ms for {results['options']}: {ratio:.2f} of the first for each further one (target "
        f"{TARGET_TIME:g}: {met(ratio <= TARGET_TIME)})\n"
        f"  a single applicant: {results['single_milliseconds'][0]:.1f} ms, with "
        f"{results['options']} options {results['single_milliseconds'][1]:.1f} ms",
        flush=True,
    )


if __name__ == "__main__":
    main()
