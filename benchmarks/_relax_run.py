"""What the benchmarks beside jax-relax share: their options, and how they run and report."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _relax_env import DEFAULT_FOLDER, CannotRunError, environment


def add_shared_options(parser: argparse.ArgumentParser) -> None:
    """The options that do not depend on what is compared."""
    parser.add_argument("--cores", type=int, default=2, help="cores that both may use (2)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument(
        "--env",
        type=Path,
        default=DEFAULT_FOLDER,
        help="where jax-relax is installed, on the first run (.venv-relax)",
    )


def run_beside_relax(
    options: argparse.Namespace,
    compare: Callable[[Path], dict[str, Any]],
    print_report: Callable[[dict[str, Any]], None],
) -> int:
    """Compares, given jax-relax's interpreter, and reports; 1 where jax-relax cannot be had."""
    try:
        results = compare(environment(options.env))
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return 1
    print_report(results)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
        print(f"\nWritten to {options.json}.")
    return 0


def print_versions(results: dict[str, Any]) -> None:
    """A line for each library."""
    for library, versions in results["versions"].items():
        others = ", ".join(f"{name} {number}" for name, number in versions.items())
        print(f"  {library}: {others}")
