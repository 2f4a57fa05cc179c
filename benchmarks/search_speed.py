"""How long a recourse takes by search, at the shapes of the loan data.

    python benchmarks/search_speed.py [--rows 1000] [--json results.json]

Prints milliseconds a recourse and how many times faster that is than the published code.
"""

import argparse
import json
import os
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import pandas as pd
from _cores import limit_cores
from _loan_shapes import make_problem

from rocourse import RBR, ROAR, RecourseClassifier

# One recourse on the loan data, as the paper gives it (its table of running times).
PUBLISHED_MS = {"ROAR": 131.0, "RBR": 346.0}


def main() -> None:
    """Measures all searches on one model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1000, help="rows in a batch (1000)")
    parser.add_argument("--repeats", type=int, default=5, help="calls that are timed (5)")
    parser.add_argument("--cores", type=int, default=2, help="cores to run on (2)")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    limit_cores(options.cores)
    vanilla, train, frame, _ = make_problem(options.rows)
    models: dict[str, RecourseClassifier] = {
        "VanillaCF": vanilla,
        "ROAR": ROAR(model=vanilla, random_state=0).fit(train, None),
        "RBR": RBR(model=vanilla, random_state=0).fit(train, None),
    }
    width = vanilla.schema_.layout.width
    print(
        f"{width} encoded columns, {len(train)} training rows, {options.cores} cores; `recourse` "
        "as called, compiled before"
    )
    results = []
    for name, model in models.items():
        for rows in (options.rows, 1):
            figures = measure(model, frame.head(rows), options.repeats)
            published = PUBLISHED_MS.get(name)
            ratio = None if published is None else published / figures["ms"]
            results.append({"method": name, "rows": rows, **figures, "times_as_fast": ratio})
            beside = "" if ratio is None else f", {ratio:5.0f} times as fast as {published:g} ms"
            print(
                f"{name:10s} {rows:5d} rows: {figures['ms']:8.3f} ms a recourse "
                f"({figures['cpu_ms']:.3f} ms of processor), {figures['valid']:.1%} valid{beside}"
            )
    if options.json is not None:
        record = {
            "columns": width,
            "training_rows": len(train),
            "cores": options.cores,
            "versions": {name: version(name) for name in ("rocourse", "jax")},
            "results": results,
        }
        options.json.write_text(json.dumps(record, indent=1))


def measure(model: RecourseClassifier, frame: pd.DataFrame, repeats: int) -> dict[str, Any]:
    """Medians of wall clock and processor time for one recourse."""
    valid = float(model.recourse(frame).valid.mean())  # compiles
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = perf_counter(), process_time()
        model.recourse(frame)
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
    scale = 1e3 / len(frame)
    return {"ms": scale * median(walls), "cpu_ms": scale * median(cpus), "valid": valid}


if __name__ == "__main__":
    main()
