"""The paper's protocol on the loan data, timed: sixteen years, each model judged by all others.

    python benchmarks/loan_protocol.py [--epochs 50] [--years 16] [--jobs 2] [--json results.json]

Needs the loan data (`rocourse data fetch loan`). See benchmarks/README.md.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from time import perf_counter

# Read when JAX is imported, also by the workers: no compiled code from before makes this quicker.
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
os.environ["ROCOURSE_COMPILATION_CACHE"] = "off"

ALL_YEARS = 16
ALL_EPOCHS = 50


def main() -> int:
    """Prints the figures; exit status 1 with a sentence where they cannot be had."""
    started = perf_counter()
    options = parse_options()
    # Here, so that importing is timed; and the workers, which read this file too, do without.
    from _loan_report import print_report
    from _loan_run import CANNOT_RUN, run

    try:
        record = run(
            n_years=options.years,
            epochs=options.epochs,
            jobs=options.jobs,
            seed=options.seed,
            whole=(options.years, options.epochs) == (ALL_YEARS, ALL_EPOCHS),
            started=started,
        )
    except CANNOT_RUN as error:
        print(error, file=sys.stderr)
        return 1
    print_report(record)
    if options.json is not None:
        options.json.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n")
    return 0


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=ALL_EPOCHS, help="of each training (50)")
    parser.add_argument("--years", type=int, default=ALL_YEARS, help="the first so many (16)")
    parser.add_argument("--jobs", type=int, default=2, help="processes, one core each (2)")
    parser.add_argument("--seed", type=int, default=0, help="of splits and models (0)")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    options = parser.parse_args()
    if options.epochs < 1 or options.jobs < 1 or options.seed < 0:
        parser.error("--epochs and --jobs must be at least 1, and --seed at least 0")
    if not 2 <= options.years <= ALL_YEARS:
        parser.error(f"--years must be from 2, one to judge the other, to {ALL_YEARS}")
    if options.json is not None and not options.json.parent.is_dir():
        parser.error(f"--json must be in a folder that exists, but {options.json.parent} does not")
    return options


if __name__ == "__main__":
    sys.exit(main())
