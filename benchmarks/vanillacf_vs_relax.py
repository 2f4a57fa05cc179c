"""VanillaCF of rocourse beside that of jax-relax: same weights, same rows, same number of steps.

    python benchmarks/vanillacf_vs_relax.py [--json results.json]

jax-relax runs in an environment of its own, which the first run makes. See benchmarks/README.md.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from _relax_env import HERE, ISOLATED, SAME_FOOTING, CannotRunError

# Before JAX is imported, and inherited by the other side.
os.environ.update(SAME_FOOTING)

import numpy as np
import pandas as pd
from _cores import limit_cores
from _loan_shapes import GROUP_SIZES, N_CONTINUOUS, make_problem
from _relax_run import add_shared_options, print_versions, run_beside_relax

import rocourse
from rocourse import VanillaCF
from rocourse.recourse import Context
from rocourse.schema import Rows, one_hot, proximity


class Setting(NamedTuple):
    """What both sides share besides the model and the rows."""

    steps: int
    rate: float


SETTINGS = (Setting(100, 0.1), Setting(1000, 0.001))


class Contender(NamedTuple):
    """One way of asking one library."""

    library: str
    call: str
    explanation: str


CONTENDERS = (
    Contender("rocourse", "compiled", "search(), encoded rows in and out"),
    Contender("jax-relax", "compiled", "its vmap strategy in a jit of ours, encoded rows"),
    Contender("rocourse", "as called", "recourse(), DataFrame in, Recourse out"),
    Contender("jax-relax", "as called", "generate_cf_explanations(strategy='vmap')"),
)


@dataclass
class Figures:
    """What was measured of one contender; times are seconds for all rows."""

    first_call: float = 0.0
    """Wall time of the call before all others. That of `rocourse as called` finds the code that was
    compiled for `rocourse compiled`."""
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    validity: float = 0.0
    """Share of recourses that the model gives the class asked for."""
    proximity: float = 0.0
    """Mean L1 distance over all rows; a changed category counts 2."""
    proximity_where_both: float | None = None
    """The same over the rows for which both libraries found a valid recourse."""


Ask = Callable[[str, Setting], tuple[float, float, Rows]]
"""From a call and a setting to wall time, CPU time and the rows found."""


def main() -> int:
    """Prints the table; exit status 1 where jax-relax cannot be had."""
    options = parse_options()
    limit_cores(options.cores)
    return run_beside_relax(
        options,
        lambda python: compare(python, options.rows, options.repeats, options.cores),
        print_report,
    )


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="VanillaCF of rocourse beside jax-relax's.")
    parser.add_argument("--rows", type=int, default=1000, help="rows to explain (1000)")
    parser.add_argument("--repeats", type=int, default=5, help="warm runs of each (5)")
    add_shared_options(parser)
    return parser.parse_args()


def compare(python: Path, n: int, repeats: int, cores: int) -> dict[str, Any]:
    """Measures both libraries turn by turn; JSON-able."""
    model, _, frame, label = make_problem(n)
    rows = model.schema_.encode(frame)
    predicted = model.judge_.probabilities(one_hot(rows, model.schema_.layout))
    with (
        tempfile.TemporaryDirectory() as folder,
        relax(python, model, rows, Path(folder)) as theirs,
    ):
        apart = np.abs(np.asarray(theirs.greeting["probabilities"]) - predicted[:, 1]).max()
        if apart > 1e-5:
            raise CannotRunError(f"The two copies of the model differ by {apart:.2g}; a bug here.")
        ask = {"rocourse": ours(model, frame, rows), "jax-relax": theirs.ask}
        settings = []
        for setting in SETTINGS:
            print(f"Measuring {setting.steps} steps ...", flush=True)
            figures = measure(ask, setting, repeats, lambda found: judge(model, rows, found))
            settings.append({"steps": setting.steps, "rate": setting.rate, **figures})
    return {
        "rows": n,
        "repeats": repeats,
        "cores": cores,
        "encoded_columns": model.schema_.layout.width,
        "accuracy": float(np.mean(predicted.argmax(axis=1) == label)),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": {
            "rocourse": {"rocourse": rocourse.__version__}
            | {name: version(name) for name in ("jax", "equinox", "optax")},
            "jax-relax": theirs.greeting["versions"],
        },
        "settings": settings,
    }


def ours(model: VanillaCF, frame: pd.DataFrame, rows: Rows) -> Ask:
    """Asks rocourse."""
    target = 1 - model.model_.probabilities(one_hot(rows, model.schema_.layout)).argmax(axis=1)
    context = Context(model.schema_, model.model_, model.network_, model.seed_)

    def ask(call: str, setting: Setting) -> tuple[float, float, Rows]:
        model.proposer_ = model.proposer(steps=setting.steps, learning_rate=setting.rate)
        twin = copy(model)
        wall, cpu = time.perf_counter(), time.process_time()
        if call == "compiled":
            found = model.proposer_.propose(model.state_, context, rows, target)
        else:
            found = twin.recourse(frame).attempts
        return time.perf_counter() - wall, time.process_time() - cpu, found

    return ask


class Relax:
    """Asks jax-relax, in its own process."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        self.process, self.folder = process, folder
        self.greeting = self._read()

    def ask(self, call: str, setting: Setting) -> tuple[float, float, Rows]:
        """Has one search done and times it over there."""
        save = self.folder / "found.npz"
        request = {"call": call, **setting._asdict(), "save": str(save)}
        assert self.process.stdin is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        seconds = self._read()
        with np.load(save, allow_pickle=False) as file:
            found = compact(file["rows"])
        return seconds["wall"], seconds["cpu"], found

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            said = (self.folder / "errors.txt").read_text().strip().splitlines()[-1:]
            raise CannotRunError(
                f"jax-relax stopped with {''.join(said)!r}; try again with another --env."
            )
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def relax(python: Path, model: VanillaCF, rows: Rows, folder: Path) -> Iterator[Relax]:
    """jax-relax with a copy of the model and the rows, ready to be asked."""
    network = model.predictor_
    assert network is not None
    layers = (*network.encoder.layers, *network.head.layers, network.output)
    np.savez(
        folder / "problem.npz",
        rows=one_hot(rows, model.schema_.layout),
        n_continuous=N_CONTINUOUS,
        group_sizes=GROUP_SIZES,
        **{f"weight{i}": np.asarray(layer.weight) for i, layer in enumerate(layers)},
        **{f"bias{i}": np.asarray(layer.bias) for i, layer in enumerate(layers)},
    )
    with (folder / "errors.txt").open("w") as errors:
        process = subprocess.Popen(
            [str(python), *ISOLATED, str(HERE / "_relax_worker.py"), str(folder / "problem.npz")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        # Leaving closes its stdin, at which it ends, and waits for it.
        with process:
            yield Relax(process, folder)


def compact(x: np.ndarray) -> Rows:
    """Encoded rows `[n, width]` with the most likely category of each group."""
    ends = np.cumsum([N_CONTINUOUS, *GROUP_SIZES])
    codes = [x[:, a:b].argmax(axis=1) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    return Rows(x[:, :N_CONTINUOUS], np.stack(codes, axis=1).astype(np.int16))


def judge(model: VanillaCF, rows: Rows, found: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Which of the rows found have the other class now, and how far each is from its origin."""
    before, after = (
        model.judge_.probabilities(one_hot(some, model.schema_.layout)).argmax(axis=1)
        for some in (rows, found)
    )
    return after != before, proximity(rows, found, model.schema_.layout)


def measure(
    ask: dict[str, Ask],
    setting: Setting,
    repeats: int,
    judge: Callable[[Rows], tuple[np.ndarray, np.ndarray]],
) -> dict[str, Any]:
    """All contenders at one setting: a first call each, then warm calls in turn."""
    figures = [Figures() for _ in CONTENDERS]
    verdicts = []
    for contender, figure in zip(CONTENDERS, figures, strict=True):
        figure.first_call, _, found = ask[contender.library](contender.call, setting)
        valid, distance = judge(found)
        figure.validity, figure.proximity = float(valid.mean()), float(distance.mean())
        verdicts.append((valid, distance))
    both = np.logical_and.reduce([valid for valid, _ in verdicts])
    for figure, (_, distance) in zip(figures, verdicts, strict=True):
        figure.proximity_where_both = float(distance[both].mean()) if both.any() else None
    turns = list(zip(CONTENDERS, figures, strict=True))
    for _ in range(repeats):
        for contender, figure in turns:
            wall, cpu, _ = ask[contender.library](contender.call, setting)
            figure.wall.append(wall)
            figure.cpu.append(cpu)
        # Neither always follows the other.
        turns.reverse()
    return {
        "valid_in_both": float(both.mean()),
        "contenders": [
            contender._asdict() | vars(figure)
            for contender, figure in zip(CONTENDERS, figures, strict=True)
        ],
        "ratios": {call: ratios(figures, call) for call in ("compiled", "as called")},
    }


def ratios(figures: Sequence[Figures], call: str) -> dict[str, list[float]]:
    """jax-relax's time over rocourse's, repeat by repeat."""
    pair = {
        contender.library: figure
        for contender, figure in zip(CONTENDERS, figures, strict=True)
        if contender.call == call
    }
    mine, theirs = pair["rocourse"], pair["jax-relax"]
    return {
        "wall": [b / a for a, b in zip(mine.wall, theirs.wall, strict=True)],
        "cpu": [b / a for a, b in zip(mine.cpu, theirs.cpu, strict=True)],
    }


def print_report(results: dict[str, Any]) -> None:
    """The figures as text."""
    print(
        f"\n{results['rows']} rows, {results['encoded_columns']} encoded columns, "
        f"{results['cores']} cores, {results['repeats']} repeats; "
        f"model of {results['accuracy']:.0%} accuracy"
    )
    print_versions(results)
    for setting in results["settings"]:
        print(f"\n{setting['steps']} steps, learning rate {setting['rate']:g}")
        header = ("ms a recourse", "CPU ms", "compiling", "validity", "proximity", "both valid")
        print(" " * 20 + "".join(f"{name:>15}" for name in header))
        for contender in setting["contenders"]:
            per_row = 1000.0 / results["rows"]
            near = contender["proximity_where_both"]
            compiling = contender["first_call"] - median(contender["wall"])
            cells = (
                f"{median(contender['wall']) * per_row:.3f}",
                f"{median(contender['cpu']) * per_row:.3f}",
                f"{compiling:.1f} s" if contender["call"] == "compiled" else "-",
                f"{contender['validity']:.1%}",
                f"{contender['proximity']:.2f}",
                "-" if near is None else f"{near:.2f}",
            )
            name = f"{contender['library']} {contender['call']}"
            print(f"{name:20}" + "".join(f"{cell:>15}" for cell in cells))
        for call, times in setting["ratios"].items():
            texts = [
                f"{what} {median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
                for what, values in times.items()
            ]
            print(f"jax-relax / rocourse, {call}: {', '.join(texts)}")


if __name__ == "__main__":
    sys.exit(main())
