"""How fast a trained generator answers: in batches, against its FLOP bound, and one by one.

    python benchmarks/recourse_speed.py [--rows 131072] [--cores 2] [--json results.json]

The bound is what the products of the networks would take at the rate at which the same cores
multiply large matrices, measured in the same run, in turn. See benchmarks/README.md.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from _calibration import square_product
from _cores import limit_cores
from _loan_shapes import ENCODER, HEAD, draw_rows, make_schema

from rocourse import GeneratorProposer, JointTrainer, RoCourseNet
from rocourse.models import predict_rows
from rocourse.recourse.generator._propose import propose_rows
from rocourse.schema.constraints import ConstraintLayer

TRAINING_ROWS = 5_000
GENERATOR = (10,)
TARGET_SHARE, TARGET_SINGLE_MS = 0.5, 0.3


def main() -> None:
    """Prints the figures."""
    options = parse_options()
    limit_cores(options.cores)
    results = measure(options.rows, options.rounds, options.cores)
    print_report(results)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
        print(f"\nWritten to {options.json}.")


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Speed of a trained generator.")
    parser.add_argument("--rows", type=int, default=131_072, help="rows in a batch (131072)")
    parser.add_argument("--rounds", type=int, default=15, help="measurements of each (15)")
    parser.add_argument("--cores", type=int, default=2, help="cores to use (2)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    return parser.parse_args()


def measure(n: int, rounds: int, cores: int) -> dict[str, Any]:
    """All figures, the calibration taking turns with what it is compared with."""
    frame, label = draw_rows(TRAINING_ROWS + n)
    model = RoCourseNet(
        schema=make_schema(),
        trainer=JointTrainer(encoder_widths=ENCODER, head_widths=HEAD, epochs=2),
        proposer=GeneratorProposer(widths=GENERATOR),
        random_state=0,
    ).fit(frame[:TRAINING_ROWS], label[:TRAINING_ROWS])
    table = frame[TRAINING_ROWS:].reset_index(drop=True)
    rows = model.schema_.encode(table)
    target = 1 - np.argmax(predict_rows(model.model_, rows, model.schema_.layout), axis=1)
    predictor, generator = model.network_, model.state_
    constraints = ConstraintLayer.from_schema(model.schema_)

    def networks() -> None:
        propose_rows(predictor, generator, rows, target, constraints)

    flops = forward_flops(model)
    product = square_product()
    shares, per_row, whole, rates = [], [], [], []
    with ThreadPoolExecutor(cores) as threads:

        def multiply(_: int) -> None:
            jax.block_until_ready(product.run())

        def multiply_on_all_cores() -> None:
            list(threads.map(multiply, range(4 * cores)))

        for work in (networks, multiply_on_all_cores, lambda: model.recourse(table)):
            work()
        for _ in range(rounds):
            before = seconds(multiply_on_all_cores)
            taken = seconds(networks)
            after = seconds(multiply_on_all_cores)
            rate = 4 * cores * product.flops / ((before + after) / 2)
            rates.append(rate)
            per_row.append(taken / n)
            shares.append(flops * n / rate / taken)
            whole.append(seconds(lambda: model.recourse(table)) / n)
    applicants = table.head(500).to_dict("records")
    single = [seconds(lambda a=a: model.recourse_one(a)) for _ in range(6) for a in applicants]
    one_row = table.head(1)
    as_table = [seconds(lambda: model.recourse(one_row)) for _ in range(100)]
    return {
        "cores": cores,
        "rows": n,
        "kiloflops_a_row": flops / 1e3,
        "gemm_gigaflops": quartiles([rate / 1e9 for rate in rates]),
        "share_of_bound": quartiles(shares),
        "networks_microseconds_a_row": quartiles([1e6 * s for s in per_row]),
        "recourse_microseconds_a_row": quartiles([1e6 * s for s in whole]),
        "single_row_ms": {
            "recourse_one": summary(single),
            "recourse, a table of one row": summary(as_table),
        },
        "versions": {name: version(name) for name in ("jax", "jaxlib", "equinox", "pandas")},
    }


def forward_flops(model: RoCourseNet) -> float:
    """The products that one row needs: encoder, head and generator, rows taken as dense."""
    predictor, generator = model.network_, model.state_
    layers = (
        *predictor.encoder.layers,
        *predictor.head.layers,
        *generator.hidden.layers,
        generator.output,
    )
    return 2.0 * sum(layer.weight.size for layer in layers)


def seconds(work: Callable[[], Any]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def quartiles(values: list[float]) -> list[float]:
    """Lower quartile, median, upper quartile."""
    return [float(value) for value in np.quantile(values, [0.25, 0.5, 0.75])]


def summary(times: list[float]) -> dict[str, float]:
    """Median and 99th percentile in milliseconds, without the first few calls."""
    warm = times[10:]
    return {"median": 1e3 * median(warm), "p99": 1e3 * float(np.quantile(warm, 0.99))}


def print_report(results: dict[str, Any]) -> None:
    """The figures as text."""

    def spread(name: str, form: str = "{:.2f}") -> str:
        low, middle, high = (form.format(value) for value in results[name])
        return f"{middle} ({low} to {high})"

    print(
        f"{results['rows']} rows of the loan data's shape, {results['cores']} cores; "
        f"{results['kiloflops_a_row']:.1f} kFLOP a row, products at "
        f"{spread('gemm_gigaflops', '{:.0f}')} GFLOP/s"
    )
    low, middle, high = results["share_of_bound"]
    met = "reached" if middle >= TARGET_SHARE else "missed"
    print(
        f"networks, batch:   {middle:.0%} of the FLOP bound ({low:.0%} to {high:.0%}; target "
        f"{TARGET_SHARE:.0%}: {met}), {spread('networks_microseconds_a_row')} µs a row"
    )
    print(f"recourse(), batch: {spread('recourse_microseconds_a_row')} µs a row, table to record")
    for name, figures in results["single_row_ms"].items():
        print(f"one row, {name}: median {figures['median']:.3f} ms, p99 {figures['p99']:.3f} ms")
    single = results["single_row_ms"]["recourse_one"]["median"]
    print(
        f"  target {TARGET_SINGLE_MS} ms: {'reached' if single <= TARGET_SINGLE_MS else 'missed'}"
    )


if __name__ == "__main__":
    main()
