"""How close RoCourseNet's training comes to the speed of its matrix products.

    python benchmarks/training_speed.py [--cores 2] [--rounds 30] [--json results.json]

Prints the time of a training step at the shapes of the loan data by the least time that its
products need on the same cores.
"""

import argparse
import json
import os
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

from _bound import Speed, measure_round, needed, speed_pieces, summarise
from _calibration import SQUARE_SIDE
from _core_workers import CoreWorker, core_workers
from _cores import available_cores
from _gradient_agreement import gradient_agreement
from _loan_training import BATCH_SIZE, loan_training

import rocourse
from rocourse.attack import InnerOptimizer

OPTIMIZERS: tuple[InnerOptimizer, ...] = ("adam", "sgd")
TARGET, AT_MOST = 2.0, 3.0


def main() -> None:
    """Measures each optimiser of the virtual retraining."""
    options = parse_options()
    cores = available_cores()[: options.cores]
    if len(cores) < options.cores:
        print(f"Only {len(cores)} of {options.cores} cores can be used here.")
    print_task()
    chosen = OPTIMIZERS if options.optimizer == "both" else (options.optimizer,)
    results = {name: measure(name, cores, options.rounds) for name in chosen}
    if options.json is not None:
        record = {
            "cores": len(cores),
            "rounds": options.rounds,
            "target": TARGET,
            "at_most": AT_MOST,
            "versions": {"rocourse": rocourse.__version__, "jax": version("jax")},
            "results": results,
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n")


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=2, help="cores, a process on each (2)")
    parser.add_argument("--rounds", type=int, default=30, help="rounds of each measurement (30)")
    parser.add_argument(
        "--optimizer",
        choices=(*OPTIMIZERS, "both"),
        default="both",
        help="of the virtual retraining (both)",
    )
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    return parser.parse_args()


def print_task() -> None:
    """What is trained, and what one step of it needs."""
    training = loan_training("adam")
    least, literal = needed(training), needed(training, last_ascent=True)
    predictor, attack = training.state.predictor, training.attack
    widths = (*predictor.encoder.widths, *predictor.head.widths)
    print(
        f"RoCourseNet: {training.constraints.layout.width} encoded columns, predictor "
        f"{'-'.join(map(str, widths))}, batches of {BATCH_SIZE}, T = {attack.steps}, "
        f"K = {attack.unroll}, float32\n"
        f"One step: at least {least.flops / 1e6:.0f} MFLOP in {least.predictor.first} passes over "
        f"the first layer and {least.predictor.later} over each later one\n"
        f"(with Algorithm 1's last ascent, which training leaves out: {literal.flops / 1e6:.0f})\n"
        f"Wanted, by {SQUARE_SIDE}³ products: {TARGET:g} times the bound, at most {AT_MOST:g}"
    )


def measure(optimizer: InnerOptimizer, cores: list[int], rounds: int) -> dict[str, Any]:
    """One core alone and all at once, turn by turn; then whether the gradient is right."""
    print(f"\nVirtual retraining by {optimizer}", flush=True)
    training = loan_training(optimizer)
    with core_workers([([core], partial(speed_pieces, optimizer)) for core in cores]) as workers:
        groups: list[list[CoreWorker]] = [workers[-1:]]
        if len(workers) > 1:
            groups.append(workers)
        laps = [[measure_round(group) for group in groups] for _ in range(rounds)]
    results: dict[str, Any] = {}
    for group, taken in zip(groups, zip(*laps, strict=True), strict=True):
        name = "1 core alone" if len(group) == 1 else f"{len(group)} cores at once"
        wall, cpu = (
            summarise(list(taken), training, "wall"),
            summarise(list(taken), training, "cpu"),
        )
        print_speed(name, wall, cpu)
        results[name] = {"wall": as_record(wall), "cpu": as_record(cpu), "laps": taken}
    agreement = gradient_agreement(optimizer)
    print(
        f"  gradient by the shift: {agreement.to_plain:.0e} from plain autodiff row by row, which "
        f"is {agreement.plain_to_double:.0e} from float64; {agreement.same_signs:.2%} same signs"
    )
    return results | {"gradient": agreement._asdict()}


def print_speed(name: str, wall: Speed, cpu: Speed) -> None:
    """By the wall clock, and in brackets by CPU seconds: what an idle machine would show."""
    steps = wall.steps_a_second
    print(
        f"  {name}: {steps:.0f} steps/s, {steps * BATCH_SIZE:,.0f} rows/s "
        f"(by CPU seconds {cpu.steps_a_second:.0f} and {cpu.steps_a_second * BATCH_SIZE:,.0f})"
    )
    for shape, rate, ratio, cpu_ratio in (
        (f"{SQUARE_SIDE}³ products", wall.square_rate, wall.to_bound, cpu.to_bound),
        ("products of the layer's shape", wall.layer_rate, wall.to_layer_bound, cpu.to_layer_bound),
    ):
        print(
            f"    {ratio.median:.2f} times the bound by {shape} at {rate / 1e9:.0f} GFLOP/s "
            f"(quartiles {ratio.low:.2f}-{ratio.high:.2f}; by CPU seconds {cpu_ratio.median:.2f}, "
            f"{cpu_ratio.low:.2f}-{cpu_ratio.high:.2f})",
            flush=True,
        )


def as_record(speed: Speed) -> dict[str, Any]:
    """The figures as JSON has them."""
    return {
        name: value._asdict() if isinstance(value, tuple) else value
        for name, value in speed._asdict().items()
    }


if __name__ == "__main__":
    main()
