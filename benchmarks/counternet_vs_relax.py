"""Training rocourse's CounterNet beside that of jax-relax: same rows, same sizes, same losses.

    python benchmarks/counternet_vs_relax.py [--json results.json]

jax-relax runs in an environment of its own, which the first run makes. See benchmarks/README.md.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from _relax_env import HERE, ISOLATED, SAME_FOOTING, CannotRunError

# Before JAX is imported, and inherited by the workers.
os.environ.update(SAME_FOOTING)

import numpy as np
from _cores import limit_cores
from _counternet_figures import FIRST_STEADY_EPOCH, LIBRARIES, LOSSES, judge, times, to_equal_loss
from _counternet_report import print_report
from _counternet_task import Data, Settings, read_answer, write_task
from _loan_shapes import (
    ENCODER,
    GROUP_SIZES,
    HEAD,
    N_CONTINUOUS,
    draw_rows,
    make_schema,
)
from _relax_run import add_shared_options, run_beside_relax

import rocourse
from rocourse.schema import one_hot

# A year of the loan data, on average; the epochs are the paper's.
ROWS = 20_000
VALIDATION_ROWS = 2000
MOST_CHECKPOINTS = 12


class Worker(NamedTuple):
    """How one library is asked to train."""

    library: str
    command: list[str]


def main() -> int:
    """Prints the figures; exit status 1 where jax-relax cannot be had."""
    options = parse_options()
    limit_cores(options.cores)
    return run_beside_relax(options, lambda python: compare(python, options), print_report)


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="CounterNet of rocourse beside jax-relax's.")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"training rows ({ROWS})")
    parser.add_argument("--epochs", type=int, default=50, help="epochs of each training (50)")
    parser.add_argument("--repeats", type=int, default=3, help="trainings of each library (3)")
    add_shared_options(parser)
    options = parser.parse_args()
    if options.epochs < FIRST_STEADY_EPOCH:
        parser.error(f"--epochs must be at least {FIRST_STEADY_EPOCH}: the first ones compile")
    return options


def compare(python: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Trains both libraries turn by turn; JSON-able."""
    data = make_data(options.rows)
    turns = [
        Worker("rocourse", [sys.executable, str(HERE / "_rocourse_counternet.py")]),
        Worker("jax-relax", [str(python), *ISOLATED, str(HERE / "_relax_counternet.py")]),
    ]
    repeats: list[dict[str, Any]] = []
    versions: dict[str, dict[str, str]] = {}
    for seed in range(options.repeats):
        print(f"Training, repeat {seed + 1} of {options.repeats} ...", flush=True)
        settings = make_settings(options.epochs, seed)
        repeat: dict[str, Any] = {"seed": seed}
        for worker in turns:
            repeat[worker.library], versions[worker.library] = train(worker, data, settings)
        repeats.append(repeat)
        # Neither always follows the other.
        turns.reverse()
    versions["rocourse"] = {"rocourse": rocourse.__version__} | versions["rocourse"]
    return {
        "rows": options.rows,
        "validation_rows": VALIDATION_ROWS,
        "epochs": options.epochs,
        "cores": options.cores,
        "encoded_columns": data.x.shape[1],
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": {library: versions[library] for library in LIBRARIES},
        "repeats": repeats,
        "to_equal_loss": {
            loss: [
                to_equal_loss({name: repeat[name] for name in LIBRARIES}, loss)
                for repeat in repeats
            ]
            for loss in LOSSES
        },
    }


def make_data(n: int) -> Data:
    """Training rows followed by validation rows."""
    frame, label = draw_rows(n + VALIDATION_ROWS)
    schema = make_schema()
    return Data(
        x=one_hot(schema.encode(frame), schema.layout),
        continuous=frame.iloc[:, :N_CONTINUOUS].to_numpy(),
        codes=frame.iloc[:, N_CONTINUOUS:].to_numpy(),
        group_sizes=np.asarray(GROUP_SIZES),
        label=label.to_numpy(),
        n_training=n,
    )


def make_settings(epochs: int, seed: int) -> Settings:
    """The paper's sizes for the loan data; jax-relax's defaults for the rest."""
    checkpoints = np.unique(np.geomspace(1, epochs, MOST_CHECKPOINTS).round().astype(int))
    return Settings(
        encoder=ENCODER,
        head=HEAD,
        generator=(10,),
        dropout=0.3,
        learning_rate=0.003,
        lambdas=(1.0, 0.2, 0.1),
        batch_size=128,
        epochs=epochs,
        checkpoints=tuple(checkpoints.tolist()),
        seed=seed,
    )


def train(worker: Worker, data: Data, settings: Settings) -> tuple[dict[str, Any], dict[str, str]]:
    """One training in a fresh process: its figures, and the versions over there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        task, answer, log = folder / "task.npz", folder / "answer.npz", folder / "log.txt"
        write_task(task, data, settings)
        with log.open("w") as output:
            command = [*worker.command, str(task), str(answer)]
            done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT)
        if done.returncode:
            said = log.read_text().strip().splitlines()[-1:]
            raise CannotRunError(
                f"{worker.library} stopped with {''.join(said)!r}; check that it can be used with "
                f"{worker.command[0]}."
            )
        laps, outcomes, versions = read_answer(answer)
    wall, cpu = laps.T
    figures = {
        "wall": times(wall)._asdict(),
        "cpu": times(cpu)._asdict(),
        "cpu_laps": cpu.tolist(),
        "curve": [
            {"epoch": epoch} | judge(outcome, data, settings)
            for epoch, outcome in zip(settings.checkpoints, outcomes, strict=True)
        ],
    }
    return figures, versions


if __name__ == "__main__":
    sys.exit(main())
