"""Limits of change, tried out: recourses of every method under random schemas, judged by an oracle.

    python benchmarks/constraint_fuzz.py [--recourses 20000] [--rows 100] [--method NAME ...]
        [--options 1] [--json results.json]

Each method is fitted once, small, and asked under as many random schemas as it takes: largest
changes, steps, moves, prices, followers, sums, numbers of features, directions, bounds. The oracle
(`tests/limits.py`) is plain Python over raw rows and the schema's JSON. With more than one option,
every other schema is asked under random wishes too. See benchmarks/README.md.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.limits import broken_limits, random_rows, random_schema, under
from tests.loans import fit, make_loans
from tests.wishes import broken_wishes, random_wishes

from rocourse.estimators import METHODS
from rocourse.schema import ClippedWarning, Recourse, Wishes


def main() -> None:
    """Prints a line a method, and leaves with 1 if a limit was broken."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--recourses", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--options", type=int, default=1)
    parser.add_argument("--method", action="append", choices=list(METHODS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ClippedWarning)
    results = []
    for method in options.method or METHODS:
        result = tried(method, options.recourses, options.rows, options.options)
        print(
            f"{method:20} {result['recourses']} recourses, {result['found']} of them valid, for "
            f"{result['rows']} rows under {result['schemas']} schemas: {result['violations']} "
            f"violations, {result['seconds']:.0f} s",
            flush=True,
        )
        results.append(result)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    sys.exit(any(result["violations"] for result in results))


def tried(method: str, recourses: int, rows: int, options: int) -> dict[str, Any]:
    """What came of so many attempts of one method."""
    model = fit(METHODS[method], make_loans(400, seed=0))
    start, asked, changed, found, seed = time.perf_counter(), 0, 0, 0, 0
    violations: list[str] = []
    # Rows that nothing is asked of keep every limit, and do not count.
    while changed < recourses:
        random = Random(seed)
        schema = random_schema(random, numbers=3, groups=(3, 2))
        frame = random_rows(random, schema, rows)
        wished = random_wishes(random, schema) if options > 1 and seed % 2 else None
        recourse = under(model, schema).table(
            frame, None, out_of_range="clip", wishes=wished, options=options
        )
        for option in recourse.options:
            violations += [f"seed {seed}: {text}" for text in _broken(option, wished)]
            changed += int((option.features_changed > 0).sum())
            found += int(option.advised.sum())
        asked, seed = asked + len(frame), seed + 1
    for text in violations[:5]:
        print(f"  {text}")
    return {
        "method": method,
        "schemas": seed,
        "rows": asked,
        "recourses": changed,
        "found": found,
        "violations": len(violations),
        "seconds": time.perf_counter() - start,
    }


def _broken(recourse: Recourse, wished: Wishes | None) -> list[str]:
    """What recourses break: of the limits, also by what did not convince the model; of wishes."""
    written, broken = recourse.schema.to_dict(), []
    groups = [feature.name for feature in recourse.schema.categorical]
    fills = {one.name: one.fill for one in recourse.schema.features if one.missing == "impute"}
    before, after = (
        frame.to_dict("records") for frame in (recourse.original, recourse.attempted())
    )
    for old, new, advised in zip(before, after, recourse.advised, strict=True):
        broken += broken_limits(written, old, new, None if wished is None else wished.ranges)
        if wished is not None and advised:
            broken += broken_wishes(wished, old, new, groups, fills)
    return broken


if __name__ == "__main__":
    main()
