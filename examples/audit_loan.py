"""Promises of one year, audited against the models of the years after it.

A lender trains on the loans of 2004, tells refused applicants of that year what to change, and
writes what it told them into a ledger. Each year it trains anew. How many of the promises does each
new model honour? Once with CounterNet, which does not prepare for this, and once with
RoCoursePanel, which does.

    pip install 'rocourse[serve]'
    rocourse data fetch loan
    python examples/audit_loan.py --out runs/audit-loan

The whole takes about ten minutes of two cores; `--years 2004 2005 2006 --promises 300 --epochs 2`
shows sooner that it runs.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

import rocourse
from rocourse import datasets
from rocourse.artifacts import model_digest, write_file
from rocourse.datasets import Dataset
from rocourse.estimators import METHODS, RecourseClassifier
from rocourse.evaluation import AuditReport, audit, fit_seed, split
from rocourse.ledger import Issue, Ledger, NewPromise
from rocourse.reports import draw_audits
from rocourse.schema import Recourse

# Both are trained as for the tables of docs/reproduction.md, on networks of the paper's widths.
OPTIONS: dict[str, dict[str, Any]] = {
    "counternet": {"preset": "paper-loan"},
    "rocourse-panel": {
        "preset": "panel-loan",
        "trainer__encoder_widths": (200, 10),
        "trainer__head_widths": (10,),
    },
}
TITLES = {"counternet": "CounterNet", "rocourse-panel": "RoCoursePanel"}

# Promises of the first year are made at its end, and hold until all models have judged them.
LIFETIME = timedelta(days=20 * 365)


def end_of(year: str) -> datetime:
    """The moment at which a year's model takes over."""
    return datetime(int(year) + 1, 1, 1, tzinfo=UTC)


def train(
    method: str, year: str, rows: pd.DataFrame, data: Dataset, *, seed: int, epochs: int | None
) -> RecourseClassifier:
    """The model of one year."""
    options = OPTIONS[method] | ({} if epochs is None else {"trainer__epochs": epochs})
    model = METHODS[method](data.schema, random_state=fit_seed(seed, year), **options)
    return model.fit(rows.drop(columns=data.target), rows[data.target])


def promises(
    recourse: Recourse, model: RecourseClassifier, digest: str, at: datetime
) -> Iterator[NewPromise]:
    """The recourses that were found, as they are handed out."""
    column = list(model.classes_).index(recourse.desired[0])
    before = model.predict_proba(recourse.original)[:, column]
    rows, changed = (
        [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
        for table in (recourse.original, recourse.frame())
    )
    for k, status in enumerate(recourse.status):
        if status == "found":
            yield NewPromise(
                subject=f"loan-{recourse.original.index[k]}",
                model=digest,
                schema_version="1",
                row=rows[k],
                recourse=changed[k],
                desired=recourse.desired[k].item(),
                probability_before=float(before[k]),
                probability_after=float(recourse.probability[k]),
                robustness=None,
                issued_at=at,
                expires_at=at + LIFETIME,
            )


def issue(
    ledger: Ledger, model: RecourseClassifier, digest: str, rows: pd.DataFrame, at: datetime, n: int
) -> int:
    """Advises refused rows until so many promises are made; returns how many were."""
    assert model.schema_.target is not None
    favourable = model.schema_.target.favourable
    refused = rows[model.predict(rows) != favourable]
    # Some more than are asked for, since not all of them are given advice.
    recourse = model.recourse(refused.head(2 * n), desired=favourable)
    made = list(promises(recourse, model, digest, at))[:n]
    ledger.issue([Issue(promises=made, fingerprint=digest, answer="{}")])
    return len(made)


def audit_method(
    method: str, years: Sequence[str], out: Path, *, n: int, seed: int, epochs: int | None
) -> list[AuditReport]:
    """Issues the first year's promises, and audits them against the models of the others."""
    data = datasets.load("loan", subsets=years)
    reports = []
    with Ledger.open(out / f"{method}.db") as ledger:
        for year in years:
            # A quarter of each year is kept: the first year's applicants come from there.
            rows, kept = split(data.subsets[year], data.target, seed=seed)
            model = train(method, year, rows, data, seed=seed, epochs=epochs)
            path = rocourse.save(model, out / "models" / f"{method}-{year}")
            digest, at = model_digest(path), end_of(year)
            if year == years[0]:
                made = issue(ledger, model, digest, kept.drop(columns=data.target), at, n)
                print(f"{TITLES[method]}: {made} promises by the model of {year}", flush=True)
                continue
            pages = ledger.binding_promises(at=at)
            reports.append(audit(pages, model, digest=digest, at=at, name=year, worst=20))
            total = reports[-1].total
            print(f"  {year} honours {total.honoured} of {total.promises}", flush=True)
    return reports


def main(
    out: Path,
    *,
    years: Sequence[str] = ("2004", "2005", "2006", "2007", "2008", "2009"),
    n: int = 2000,
    seed: int = 0,
    epochs: int | None = None,
) -> dict[str, list[AuditReport]]:
    """Audits both methods; writes `audit.json`, `audit.png` and `audit.svg` to `out`."""
    out.mkdir(parents=True)
    audits = {
        TITLES[method]: audit_method(method, years, out, n=n, seed=seed, epochs=epochs)
        for method in TITLES
    }
    record = {label: [report.to_dict() for report in found] for label, found in audits.items()}
    write_file(out / "audit.json", f"{json.dumps(record, indent=2)}\n".encode())
    figure = draw_audits(audits)
    figure.savefig(out / "audit.png", dpi=160)
    figure.savefig(out / "audit.svg")
    return audits


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="new directory for everything")
    parser.add_argument("--years", nargs="+", help="the first year issues, the others audit")
    parser.add_argument("--promises", type=int, default=2000)
    parser.add_argument("--epochs", type=int, help="fewer, for a try")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chosen = {"years": given.years} if given.years else {}
    main(given.out, n=given.promises, seed=given.seed, epochs=given.epochs, **chosen)
