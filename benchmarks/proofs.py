"""How many rows without a recourse get a proof, how long it takes, and whether proofs are true.

    python benchmarks/proofs.py [--small-rows 20000] [--seeds 3] [--json results.json]

Small worlds: random committees, schemas and rows of whole numbers and categories. For every row all
that is allowed is tried, and the verdict compared. German Credit: methods under constraints
from a lender's to such that leave many without a recourse; of rows that are proved to have none,
many allowed points are drawn, too. See benchmarks/README.md.
"""

import argparse
import json
import os
import sys
import time
import warnings
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
# The worlds, and what is allowed in them, are those of the tests.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from tests.recourse.proof.small_worlds import random_world, tried

import rocourse
from rocourse import datasets
from rocourse.recourse.proof import seek
from rocourse.schema import Continuous, Feature, Recourse, Schema

KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"n_networks": 3, "cut_off": True},
    {"n_networks": 3},
    {"n_networks": 2, "n_classes": 3},
)
METHODS = ("RoCourse", "VanillaCF", "ROAR")
BOXES = 20_000
DRAWN_POINTS = 20_000
CHECKED_ROWS = 40
SMALLEST_CHANGE = 0.005


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="Proofs that there is no recourse.")
    parser.add_argument("--small-rows", type=int, default=20_000, help="rows of worlds (20000)")
    parser.add_argument("--seeds", type=int, default=3, help="fits of each method (3)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results: dict[str, Any] = {"small worlds": small_worlds(options.small_rows)}
    print(f"small worlds: {results['small worlds']}", flush=True)
    results["german credit"] = []
    for name, schema in settings().items():
        for method in METHODS:
            found = german_credit(method, schema, options.seeds)
            results["german credit"].append({"setting": name, "method": method, **found})
            print(results["german credit"][-1], flush=True)
    found = german_credit("VanillaCF", few_points(), 1, forest=True)
    results["german credit"].append({"setting": "few points", "method": "forest", **found})
    print(results["german credit"][-1])
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
        print(f"\nWritten to {options.json}.")


def small_worlds(n: int) -> dict[str, Any]:
    """Verdicts beside those of trying everything."""
    counts: Counter[str] = Counter()
    points = boxes = 0
    spent, seed = 0.0, 0
    while counts["rows"] < n:
        world = random_world(seed, n=40, **KINDS[seed % len(KINDS)])
        seed += 1
        if not len(world.rows):
            continue
        start = time.perf_counter()
        told = seek(*world, boxes=BOXES)
        spent += time.perf_counter() - start
        boxes += int(told.examined.sum())
        for place in range(len(world.rows)):
            good, all_rows = tried(world, place)
            points += len(all_rows)
            counts["rows"] += 1
            counts["none exists"] += not good.any()
            counts["wrongly none"] += bool(told.none[place] and good.any())
            counts["wrongly exists"] += bool(told.exists[place] and not good.any())
            counts["undecided"] += not (told.none[place] or told.exists[place])
    return {
        **counts,
        "worlds": seed,
        "points tried": points,
        "boxes a row": round(boxes / counts["rows"], 1),
        "ms a row": round(1e3 * spent / counts["rows"], 2),
    }


def settings() -> dict[str, Schema]:
    """German Credit's constraints, a lender's, and harsher ones."""
    actionable = datasets.load("german_credit").actionable_schema
    lender = actionable.constrain(
        immutable=("Present residence", "Installment rate"),
        decrease_only=("Duration", "Credit amount"),
    )
    two = lender.constrain(immutable=("Status", "Existing credits"))
    bounded = two.constrain(immutable=("Credit amount",))
    return {
        "actionable": actionable,
        "lender": lender,
        "duration and amount may fall": two,
        "duration may fall": bounded,
    }


def few_points() -> Schema:
    """So few that a black box can be tried point by point."""
    return settings()["lender"].constrain(immutable=("Credit amount",))


def german_credit(
    method: str, schema: Schema, seeds: int, *, forest: bool = False
) -> dict[str, Any]:
    """A method under constraints, for all refused applicants of both files."""
    data = datasets.load("german_credit")
    counts: Counter[str] = Counter()
    seconds = loosening = 0.0
    for seed in range(seeds):
        for frame in data.subsets.values():
            X, y = frame.drop(columns=data.target), frame[data.target]
            learned = np.arange(len(X)) % 4 != 0
            given: dict[str, Any] = {}
            if forest:
                encoded = RandomForestClassifier(100, min_samples_leaf=5, random_state=seed)
                given["model"] = encoded.fit(X[learned], y[learned])
            model = getattr(rocourse, method)(schema=schema, random_state=seed, **given)
            model.fit(X[learned], y[learned])
            recourse = model.recourse(X, desired=1)
            model.prove(recourse[:40], loosen=False)
            start = time.perf_counter()
            proved = model.prove(recourse, boxes=BOXES, loosen=False)
            seconds += time.perf_counter() - start
            unfound = recourse.status == "not_found"
            none = np.array([bool(p and p.none_exists) for p in proved.proofs])
            left = proved.status == "not_found"
            counts["refused"] += int((recourse.status != "not_needed").sum())
            counts["unfound"] += int(unfound.sum())
            counts["none exists"] += int(none.sum())
            counts["found by the proof"] += int((unfound & ~left).sum())
            worse = [bool(p and p.text.startswith("one exists")) for p in proved.proofs]
            counts["exists, worse than none"] += sum(worse)
            counts["undecided"] += int((left & ~none & ~np.array(worse)).sum())
            counts.update(refuted(model, proved, none, seed))
            if seed == 0 and left.any():
                start = time.perf_counter()
                told = model.prove(proved[left][:50]).proofs
                loosening += time.perf_counter() - start
                counts["loosening asked"] += len(told)
                counts["loosening found"] += sum(bool(p and p.loosen) for p in told)
    return {
        **counts,
        "ms a row": round(1e3 * seconds / max(counts["unfound"], 1), 2),
        "loosening ms a row": round(1e3 * loosening / max(counts["loosening asked"], 1), 1),
    }


def refuted(model: Any, proved: Recourse, none: np.ndarray, seed: int) -> Counter[str]:
    """Rows without a recourse that have one among points that are drawn, or tried if few.

    Settling takes changes of less than half a per cent of a range for none. Rows that only such
    changes would help are counted apart: their proofs are true of advice, not of the model.
    """
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    for place in np.flatnonzero(none)[:CHECKED_ROWS]:
        row = proved.original.iloc[place]
        choices = [values_of(feature, row[feature.name]) for feature in proved.schema.features]
        if np.prod([float(len(values)) for values in choices]) <= DRAWN_POINTS:
            points = np.array(list(product(*choices)))
        else:
            points = np.stack([rng.choice(values, DRAWN_POINTS) for values in choices], axis=1)
        table = pd.DataFrame(points, columns=list(proved.schema.names))
        convinced = table[model.predict(table) == 1]
        allowed = np.ones(len(convinced), bool)
        for feature in proved.schema.continuous:
            change = np.abs(convinced[feature.name] - row[feature.name])
            allowed &= (change == 0) | (change >= SMALLEST_CHANGE * feature.span)
        counts["proofs checked"] += 1
        counts["refuted"] += bool(allowed.any())
        counts["helped by unnoticed changes alone"] += bool(len(convinced) and not allowed.any())
    return counts


def values_of(feature: Feature, here: Any) -> np.ndarray:
    """What a whole number or a category may become, unnoticed changes among it."""
    if feature.immutable:
        return np.array([here])
    if isinstance(feature, Continuous):
        values = np.arange(int(feature.low), int(feature.high) + 1)
    else:
        values = np.array(feature.categories)
    if feature.direction is None:
        return values
    return values[values >= here] if feature.direction == "up" else values[values <= here]


if __name__ == "__main__":
    main()
