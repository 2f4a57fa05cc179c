"""This checkout beside another commit: the same recourses for equal seeds, and ratios of speed.

    python benchmarks/beside_commit.py COMMIT [--what recourses recourse_speed ...] [--rounds 3]

The other commit is checked out into a temporary folder. Recourses of six methods on German Credit
are compared row by row; benchmarks of both run in turn, so that a busy moment meets both, and what
is printed is the median of the ratios, this checkout's time over the other's.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parents[1]
ANSWERS = Path(__file__).with_name("_answers.py")

Figures = dict[str, float]
ARGUMENTS = {
    "recourse_speed": ["--rows", "65536", "--rounds", "9"],
    "training_speed": ["--rounds", "9"],
    "start_up": ["--repeats", "3"],
    "search_speed": [],
}
# Of names that all commits have in common: this checkout's script runs with either package.
COMMON = ("search_speed",)


def recourse_figures(record: dict[str, Any]) -> Figures:
    """Times of `recourse_speed.py`."""
    return {
        "networks, µs a row": record["networks_microseconds_a_row"][1],
        "recourse(), µs a row": record["recourse_microseconds_a_row"][1],
        "recourse_one, ms": record["single_row_ms"]["recourse_one"]["median"],
    }


def training_figures(record: dict[str, Any]) -> Figures:
    """Times of `training_speed.py`: how many times the FLOP bound a step takes."""
    return {
        f"{optimizer}, {where}": figures["cpu"]["to_bound"]["median"]
        for optimizer, parts in record["results"].items()
        for where, figures in parts.items()
        if "cpu" in figures
    }


def start_figures(record: dict[str, Any]) -> Figures:
    """Times of `start_up.py`: processor seconds of whole processes."""
    return {part["name"]: part["median_cpu_seconds"] for part in record["results"]}


def search_figures(record: dict[str, Any]) -> Figures:
    """Times of `search_speed.py`."""
    return {
        f"{part['method']}, {part['rows']} rows, CPU ms": part["cpu_ms"]
        for part in record["results"]
    }


FIGURES: dict[str, Callable[[dict[str, Any]], Figures]] = {
    "recourse_speed": recourse_figures,
    "training_speed": training_figures,
    "start_up": start_figures,
    "search_speed": search_figures,
}


def main() -> int:
    """Prints what was asked for; exit status 1 where recourses differ by more than rounding."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", help="what to compare with")
    parser.add_argument(
        "--what", nargs="+", choices=["recourses", *FIGURES], default=["recourses", *FIGURES]
    )
    parser.add_argument("--rounds", type=int, default=3, help="runs of each benchmark (3)")
    options = parser.parse_args()
    with checkout(options.commit) as other:
        same = compare_recourses(other) if "recourses" in options.what else True
        for name in options.what:
            if name in FIGURES:
                compare_speed(name, other, options.rounds)
    return 0 if same else 1


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Another commit in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "other"
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(place), commit], check=True)
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def run(root: Path, script: Path, *arguments: str) -> None:
    """Runs a script against one checkout's package."""
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    command = [sys.executable, str(script), *arguments]
    subprocess.run(
        command, env=environment, cwd=root, check=True, stdout=subprocess.PIPE, text=True
    )


def compare_recourses(other: Path) -> bool:
    """Prints how many recourses differ; whether at most one row in a thousand does."""
    answers = []
    for root in (HERE, other):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            run(root, ANSWERS, file.name)
            answers.append(json.loads(Path(file.name).read_text()))
    mine, theirs = answers
    rows = differing = 0
    for name, answer in mine.items():
        before = theirs[name]
        statuses = sum(a != b for a, b in zip(answer["status"], before["status"], strict=True))
        places = [
            i for i, (a, b) in enumerate(zip(answer["rows"], before["rows"], strict=True)) if a != b
        ]
        rows, differing = rows + len(answer["rows"]), differing + max(statuses, len(places))
        told = f": {places[:20]}" if places else ""
        print(
            f"{name:28s} {len(answer['rows']):4d} rows, {statuses} statuses and {len(places)} "
            f"decoded rows differ{told}"
        )
    print(f"{differing} of {rows} rows differ")
    return differing <= 0.001 * rows


def compare_speed(name: str, other: Path, rounds: int) -> None:
    """Prints the median ratio of each figure of a benchmark, with the range over the rounds."""
    ratios: dict[str, list[float]] = {}
    for number in range(rounds):
        found = {}
        # In turn, and each first in every other round.
        for root in (HERE, other) if number % 2 else (other, HERE):
            with tempfile.NamedTemporaryFile(suffix=".json") as file:
                home = HERE if name in COMMON else root
                script = home / "benchmarks" / f"{name}.py"
                run(root, script, *ARGUMENTS[name], "--json", file.name)
                found[root] = FIGURES[name](json.loads(Path(file.name).read_text()))
        for figure, value in found[HERE].items():
            # A figure may have another name there.
            if figure in found[other]:
                ratios.setdefault(figure, []).append(value / found[other][figure])
    for figure, values in ratios.items():
        print(
            f"{name}: {figure}: {median(values):.3f} ({min(values):.3f} to {max(values):.3f}) of "
            "the other commit's"
        )


if __name__ == "__main__":
    sys.exit(main())
