"""How long a recourse takes by search, at the shapes of the loan data.

    python benchmarks/search_speed.py [--rows 1000] [--json results.json]

Prints milliseconds a recourse and how many times faster that is than the published code. Of the
greedy searches, RoCourse and RoCoursePanel, also what share of the processor's time their products
alone would take at the rate of large square products, taken in turns in the same run
(`_search_flops.py` says what is counted). A single applicant is asked about by `recourse_one`.
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

import jax
import pandas as pd
from _calibration import square_product
from _cores import limit_cores
from _loan_shapes import TRAINING_ROWS, draw_rows, make_problem, make_schema
from _search_flops import mean_steps, step_flops

from rocourse import RBR, ROAR, RecourseClassifier, RoCourse, RoCoursePanel

# One recourse on the loan data, as the paper gives it (its table of running times).
PUBLISHED_MS = {"ROAR": 131.0, "RBR": 346.0}
# A single applicant is asked about so many times: one answer is too short to time.
_CALLS = 20


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
    _, label = draw_rows(TRAINING_ROWS + options.rows)
    greedy = {
        kind.__name__: kind(schema=make_schema(), random_state=0).fit(train, label[:TRAINING_ROWS])
        for kind in (RoCourse, RoCoursePanel)
    }
    models: dict[str, RecourseClassifier] = greedy | {
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
            if name in greedy:
                figures |= beside_bound(model, frame.head(rows), figures["cpu_ms"])
            published = PUBLISHED_MS.get(name)
            ratio = None if published is None else published / figures["ms"]
            results.append({"method": name, "rows": rows, **figures, "times_as_fast": ratio})
            beside = "" if ratio is None else f", {ratio:5.0f} times as fast as {published:g} ms"
            if "of_bound" in figures:
                beside = f", bound {figures['bound_ms']:.3f} ms: {figures['of_bound']:.1%} of it"
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
    applicants = frame.to_dict("records")

    def ask() -> object:
        if len(applicants) == 1:
            return [model.recourse_one(applicants[0]) for _ in range(_CALLS)]
        return model.recourse(frame)

    ask()
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = perf_counter(), process_time()
        ask()
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
    scale = 1e3 / (len(frame) if len(frame) > 1 else _CALLS)
    return {"ms": scale * median(walls), "cpu_ms": scale * median(cpus), "valid": valid}


def beside_bound(model: RecourseClassifier, frame: pd.DataFrame, cpu_ms: float) -> dict[str, float]:
    """What products alone would take, and which share of the processor's time that is."""
    rows = model.schema_.encode(frame)
    target = 1 - model._context().predict(rows).argmax(axis=1)
    product = square_product()
    jax.block_until_ready(product.run())
    times = []
    for _ in range(5):
        cpu = process_time()
        jax.block_until_ready(product.run())
        times.append(process_time() - cpu)
    flops = mean_steps(model, rows, target) * step_flops(model)
    bound_ms = 1e3 * flops / (product.flops / median(times))
    return {"bound_ms": bound_ms, "of_bound": bound_ms / cpu_ms}


if __name__ == "__main__":
    main()
