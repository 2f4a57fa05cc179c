"""How long fresh processes take: the command line, imports, a first training, a first recourse.

    python benchmarks/start_up.py [--repeats 5] [--json results.json]

Wall clock and processor seconds of whole processes, as median and range. See benchmarks/README.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter
from typing import Any

from _cores import available_cores

import rocourse

TASK = Path(__file__).with_name("_start_up_task.py")
# Seconds of wall clock that must not be exceeded.
TARGETS = {"rocourse --help": 0.3, "fit, nothing compiled": 15.0, "fit, compiled before": 5.0}
NOTHING = "python -c pass"
# What the surroundings may say about compiled code; each measurement says it itself.
CACHE_VARIABLES = ("JAX_COMPILATION_CACHE", "JAX_ENABLE_COMPILATION", "JAX_PERSISTENT_CACHE")
OWN_VARIABLE = "ROCOURSE_COMPILATION_CACHE"


class CannotRunError(Exception):
    """Why there is nothing to measure, in a sentence."""


@dataclass
class Measured:
    """Processes that did the same."""

    name: str
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    said: list[dict[str, float]] = field(default_factory=list)
    """What the processes printed, where they time their parts."""

    def parts(self) -> dict[str, float]:
        """The medians of what the processes printed."""
        return {name: median(one[name] for one in self.said) for name in (self.said or [{}])[0]}


def main() -> int:
    """Prints a line for each kind of process; exit status 1 with a sentence if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="processes of each kind (5)")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"--json must be in a folder that exists, but {options.json.parent} does not")
    print(
        f"Seconds of whole processes, cores: {len(available_cores())}; "
        f"median (range) of {options.repeats}"
    )
    print(f"{'':28s}{'wall':^26s}{'processor':^26s}")
    results: dict[str, Measured] = {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for measured in measure_all(Path(folder), options.repeats):
                results[measured.name] = measured
                print_line(measured, results)
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return 1
    if options.json is not None:
        record = as_record(results, options.repeats)
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


def measure_all(folder: Path, repeats: int) -> Iterator[Measured]:
    """Runs all processes, each kind `repeats` times."""
    yield from measure_quick(repeats)
    yield from measure_fit(folder, repeats)
    yield from measure_recourse(folder, repeats)


def measure_quick(repeats: int) -> list[Measured]:
    """What compiles nothing, turn by turn."""
    commands = {
        NOTHING: ["-c", "pass"],
        "rocourse --help": ["-m", "rocourse.cli", "--help"],
        "import rocourse": ["-c", "import rocourse"],
        "import rocourse.estimators": ["-c", "import rocourse.estimators"],
    }
    measured = {name: Measured(name) for name in commands}
    for repeat in range(repeats + 1):
        for name, arguments in commands.items():
            # The first turn brings the files into memory, and is not kept.
            run(Measured(name) if repeat == 0 else measured[name], arguments, environment())
    return list(measured.values())


def measure_fit(folder: Path, repeats: int) -> tuple[Measured, Measured]:
    """A training without and with what an equal one compiled."""
    cold, warm = Measured("fit, nothing compiled"), Measured("fit, compiled before")
    for repeat in range(repeats):
        surroundings = environment(folder / f"cache-{repeat}")
        for measured in (cold, warm):
            run(measured, [str(TASK), "fit"], surroundings)
    return cold, warm


def measure_recourse(folder: Path, repeats: int) -> Iterator[Measured]:
    """A stored model's first recourses, compiled by an equal process."""
    surroundings = environment(folder / "cache-0")
    model = str(folder / "model")
    run(Measured("a model to load"), [str(TASK), "fit", model], surroundings)
    for name, rows in (("load, recourse of 1 row", 1), ("load, recourse of 1,000", 1000)):
        measured = Measured(name)
        for repeat in range(repeats + 1):
            kept = Measured(name) if repeat == 0 else measured
            run(kept, [str(TASK), "recourse", model, str(rows)], surroundings)
        yield measured


def environment(compiled_code: Path | None = None) -> dict[str, str]:
    """Variables of a process that keeps compiled code in a folder, or keeps none."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith((*CACHE_VARIABLES, OWN_VARIABLE))
    }
    variables["JAX_PLATFORMS"] = "cpu"
    return variables | {OWN_VARIABLE: "off" if compiled_code is None else str(compiled_code)}


def run(measured: Measured, arguments: list[str], variables: Mapping[str, str]) -> None:
    """Adds a fresh process to what is measured."""
    before, start = getrusage(RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env=variables, capture_output=True, text=True
    )
    wall, after = perf_counter() - start, getrusage(RUSAGE_CHILDREN)
    if done.returncode:
        reason = "".join(done.stderr.strip().splitlines()[-1:])
        raise CannotRunError(f"{measured.name} ended with {reason!r}; run it by hand to see why.")
    measured.wall.append(wall)
    measured.cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    if str(TASK) in arguments:
        measured.said.append(json.loads(done.stdout))


def print_line(measured: Measured, results: Mapping[str, Measured]) -> None:
    """Prints the times, the target, and the parts where they are known."""
    line = f"{measured.name:28s}{spread(measured.wall):26s}{spread(measured.cpu):26s}"
    if target := TARGETS.get(measured.name):
        verdict = "met" if median(measured.wall) <= target else "missed"
        line += f"target {target:g}: {verdict}"
    if measured.name == "rocourse --help":
        line += f"; {spread(ratios(measured, results[NOTHING]), 1)} times {NOTHING}"
    print(line.rstrip())
    parts = measured.parts()
    if parts:
        counts = f"{parts.pop('compilations'):g} compilations, {parts.pop('from_cache'):g} of them"
        seconds = ", ".join(f"{name} {value:.2f}" for name, value in parts.items())
        print(f"    {seconds} ({counts} from the cache)", flush=True)


def ratios(one: Measured, other: Measured) -> list[float]:
    """Of wall clocks, turn by turn."""
    return [a / b for a, b in zip(one.wall, other.wall, strict=True)]


def spread(values: list[float], digits: int = 3) -> str:
    """Median and range."""
    low, middle, high = (f"{f(values):.{digits}f}" for f in (min, median, max))
    return f"{middle} ({low}–{high})"


def as_record(results: Mapping[str, Measured], repeats: int) -> dict[str, Any]:
    """All figures; JSON-able."""
    return {
        "command": f"python benchmarks/start_up.py --repeats {repeats}",
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": len(available_cores()),
        "versions": {
            "python": platform.python_version(),
            "rocourse": rocourse.__version__,
            **{name: version(name) for name in ("jax", "jaxlib", "typer", "pandas")},
        },
        "help_times_nothing": ratios(results["rocourse --help"], results[NOTHING]),
        "results": [
            {
                "name": one.name,
                "target_seconds": TARGETS.get(one.name),
                "median_seconds": median(one.wall),
                "median_cpu_seconds": median(one.cpu),
                "seconds": one.wall,
                "cpu_seconds": one.cpu,
                "median_parts": one.parts(),
            }
            for one in results.values()
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
