"""What was tried to train faster, each measured beside what is kept.

    python benchmarks/training_tries.py [--rounds 15] [--only NAME] [--json results.json]

Times are those of the try by those of what is kept: above 1, the try is slower.
"""

import argparse
import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
from _attack_tries import attack_tries, attacked_weights, warm_up
from _core_tries import core_tries, core_try_names
from _cores import available_cores, bind
from _step_tries import step_tries
from _try import Result, judge

import rocourse

# What multiplies bfloat16 without making float32 of it first.
BFLOAT16_FLAGS = ("avx512_bf16", "amx_bf16")


def main() -> None:
    """Prints a line for each try as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="rounds of each try (15)")
    parser.add_argument("--only", default="", help="tries whose name contains this")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    cores = available_cores()[:2]
    bind(cores[-1:])
    # How long compiling takes is measured too.
    jax.config.update("jax_enable_compilation_cache", False)
    flags = processor_flags()
    print(f"bfloat16 in the processor: {', '.join(n for n in flags if flags[n]) or 'no'}\n")
    print(f"{'tried':40} {'kept':27} {'time':>5} {'quartiles':>12} {'CPU':>5} compile  θ' apart")
    results = []
    for result in measure(options.only, cores, options.rounds):
        results.append(result)
        print(line(result), flush=True)
    if options.json is not None:
        record = {
            "rounds": options.rounds,
            "processor": flags,
            "versions": {"rocourse": rocourse.__version__}
            | {name: version(name) for name in ("jax", "jaxlib", "optax")},
            "tries": [as_record(result) for result in results],
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n")


def measure(only: str, cores: list[int], rounds: int) -> Iterator[Result]:
    """The results one by one; those that need processes of their own come last."""
    warm_up()
    for attempt in (*attack_tries(), *step_tries()):
        if only in attempt.name:
            yield judge(attempt, attacked_weights(), rounds=rounds)
    wanted = [name for name in core_try_names() if only in name]
    if wanted and len(cores) < 2:
        for name in wanted:
            yield Result(name, "", None, None, None, "needs two cores")
    elif wanted:
        with core_tries(cores) as tries:
            for attempt in tries:
                if attempt.name in wanted:
                    yield judge(attempt, None, rounds=rounds)


def line(result: Result) -> str:
    """The line of the table."""
    names = f"{result.name:40} {result.instead_of:27}"
    if result.race is None:
        return f"{names} not possible: {result.refusal}"
    wall, cpu = result.race.wall, result.race.cpu
    quartiles = f"{wall.low:.2f}-{wall.high:.2f}"
    compiling = "" if result.compiling is None else f"{result.compiling:.1f}"
    difference = "" if result.difference is None else f"{result.difference:.0e}"
    times = f"{wall.median:5.2f} {quartiles:>12} {cpu.median:5.2f}"
    return f"{names} {times} {compiling:>7} {difference:>9}"


def as_record(result: Result) -> dict[str, object]:
    """The result as JSON has it."""
    record = result._asdict()
    if result.race is not None:
        race = result.race._asdict()
        race |= {clock: race[clock]._asdict() for clock in ("wall", "cpu")}
        record["race"] = race
    return record


def processor_flags() -> dict[str, bool | None]:
    """Which instructions for bfloat16 the processor has; None where the system does not say."""
    try:
        words = set(Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return dict.fromkeys(BFLOAT16_FLAGS)
    return {flag: flag in words for flag in BFLOAT16_FLAGS}


if __name__ == "__main__":
    main()
