"""What `rocourse check` finds in tables, as the lines of the table in docs/tables.md.

    python benchmarks/check_tables.py hmda.csv:deny:no cards.csv:card:yes

Each argument is a .csv or .parquet file, its target and, if it is to be stated, the class that
people want. Time is that of the check alone.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

import sklearn.tree  # noqa: F401  Imported by the first check, which is not what is timed.

from rocourse.schema import Schema
from rocourse.schema.check import Finding
from rocourse.tables import read_table

HEAD = (
    "| table | rows × columns | stops training | warned of | noted | time |\n"
    "|---|---|---|---|---|---|"
)
SHOWN = 3


def told(findings: Iterable[Finding]) -> str:
    """The findings in a few words."""
    parts = []
    for finding in findings:
        names = [f"`{name}`" for name in finding.columns[:SHOWN]]
        if len(finding.columns) > SHOWN:
            names.append(f"{len(finding.columns) - SHOWN} more")
        parts.append(f"{finding.kind}: {', '.join(names)}" if names else finding.kind)
    return "; ".join(parts) or "–"


def line(path: Path, target: str, favourable: str | None) -> str:
    """A line of the table."""
    frame = read_table(path)
    start = perf_counter()
    check = Schema.check(frame, target, favourable)
    seconds = perf_counter() - start
    cells = [told(check.of(severity)) for severity in ("error", "warning", "note")]
    size = f"{check.rows:,} × {check.columns}"
    return f"| {path.stem}, `{target}` | {size} | {' | '.join(cells)} | {seconds:.2f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", metavar="FILE:TARGET[:FAVOURABLE]")
    print(HEAD)
    for given in parser.parse_args().tables:
        file, target, *favourable = given.split(":")
        print(line(Path(file), target, favourable[0] if favourable else None))


if __name__ == "__main__":
    main()
