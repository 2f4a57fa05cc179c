"""What a million rows take on the command line: memory, and time beside the model's own.

    python benchmarks/stream_million.py [--rows 1000000] [--json results.json]

Prints the peak memory of `rocourse recourse`, beside that of a bare interpreter and of one that has
loaded the model, and rows per second, beside those of `model.recourse` on the same batches.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np
import pandas as pd
from _cores import limit_cores
from _loan_shapes import (
    ENCODER,
    HEAD,
    TRAINING_ROWS,
    draw_rows,
    make_schema,
)
from _peak_memory import bare_interpreter_bytes

import rocourse
from rocourse import CounterNet, JointTrainer
from rocourse.tables import BATCH_ROWS, even_size, new_table

MIB = 2**20

# The last line on stderr is the peak: that of the process itself, without the one that started it.
_TELL_PEAK = f"""
import atexit, sys
sys.path.append({str(Path(__file__).parent)!r})
from _peak_memory import peak_bytes
atexit.register(lambda: print(peak_bytes(), file=sys.stderr))
"""
_COMMAND = "from rocourse.cli import main\nmain()"
_LOAD = "import rocourse.artifacts\nrocourse.artifacts.load(sys.argv[1])"


class Taken(NamedTuple):
    """What a process took, and what it printed."""

    seconds: float
    peak_bytes: int
    lines: list[str]


def main() -> None:
    """Measures the command once, and the model alone once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows in the file (1000000)")
    parser.add_argument("--cores", type=int, default=2, help="cores to run on (2)")
    parser.add_argument(
        "--table", choices=("parquet", "csv"), default="parquet", help="kind of file, in and out"
    )
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    limit_cores(options.cores)
    with TemporaryDirectory() as name:
        figures = measure(Path(name), options.rows, options.table)
    report(figures)
    if options.json is not None:
        record = {
            "rows": options.rows,
            "table": options.table,
            "batch_rows": even_size(options.rows, BATCH_ROWS),
            "cores": options.cores,
            "versions": {
                "rocourse": rocourse.__version__,
                **{name: version(name) for name in ("jax", "pandas", "pyarrow")},
            },
            **figures,
        }
        options.json.write_text(json.dumps(record, indent=1))


def measure(folder: Path, rows: int, suffix: str) -> dict[str, Any]:
    """All figures, from files in a folder of their own."""
    known, label = draw_rows(TRAINING_ROWS)
    model = CounterNet(
        schema=make_schema(),
        trainer=JointTrainer(encoder_widths=ENCODER, head_widths=HEAD, epochs=5),
        random_state=0,
    ).fit(known, label)
    model.save(folder / "model")
    data, out = folder / f"rows.{suffix}", folder / f"advice.{suffix}"
    with new_table(data, force=False) as write:
        for batch in draw_batches(known, rows):
            write(batch)
    loaded = run(_LOAD, folder / "model")
    command = run(_COMMAND, "recourse", folder / "model", data, "--out", out)
    bare = bare_interpreter_bytes()
    alone = seconds_alone(model, known, rows)
    return {
        "advice": next(line for line in command.lines if line.startswith("Advice found")),
        "input_mib": data.stat().st_size / MIB,
        "output_mib": out.stat().st_size / MIB,
        "bare_interpreter_mib": bare / MIB,
        "loaded_model_mib": loaded.peak_bytes / MIB,
        "command_mib": command.peak_bytes / MIB,
        "above_bare_mib": (command.peak_bytes - bare) / MIB,
        "above_loaded_mib": (command.peak_bytes - loaded.peak_bytes) / MIB,
        "loading_seconds": loaded.seconds,
        "command_seconds": command.seconds,
        "command_rows_per_second": rows / command.seconds,
        "model_seconds": alone,
        "model_rows_per_second": rows / alone,
        "times_the_model": command.seconds / alone,
        "times_the_model_once_loaded": (command.seconds - loaded.seconds) / alone,
    }


def draw_batches(known: pd.DataFrame, rows: int) -> Iterator[pd.DataFrame]:
    """Rows whose columns are drawn from those of the known rows, the same in every call."""
    rng = np.random.default_rng(1)
    size = even_size(rows, BATCH_ROWS)
    for start in range(0, rows, size):
        n = min(size, rows - start)
        yield pd.DataFrame({name: rng.choice(known[name], n) for name in known.columns})


def run(code: str, *args: object) -> Taken:
    """A process of its own; its time includes the start of the interpreter."""
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _TELL_PEAK + code, *map(str, args)], capture_output=True, text=True
    )
    seconds = perf_counter() - start
    if done.returncode:
        sys.exit(done.stderr)
    return Taken(seconds, int(done.stderr.split()[-1]), done.stdout.splitlines())


def seconds_alone(model: CounterNet, known: pd.DataFrame, rows: int) -> float:
    """What `model.recourse` takes for the same batches, compiled before."""
    seconds = 0.0
    for number, batch in enumerate(draw_batches(known, rows)):
        if number == 0:
            model.recourse(batch, desired=1)
        start = perf_counter()
        model.recourse(batch, desired=1)
        seconds += perf_counter() - start
    return seconds


def report(figures: dict[str, Any]) -> None:
    """Prints the figures for people."""
    print(figures["advice"])
    for name, figure in figures.items():
        if name != "advice":
            print(f"{name.replace('_', ' '):30s} {figure:12,.2f}")


if __name__ == "__main__":
    main()
