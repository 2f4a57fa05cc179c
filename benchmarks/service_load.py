"""How many decisions with recourse a service answers in a second, and how soon.

    python benchmarks/service_load.py [--rate 600] [--seconds 5] [--rounds 6] [--json results.json]
    python benchmarks/service_load.py --given [--rate 120] …

A service is started on a small model with a ledger in SQLite; a second process sends refused
applicants, one a request, at a steady rate whether or not earlier ones have been answered. Times
count from the moment at which a request was due, so that a service that stalls cannot hide it.
Service and sender share the given cores. A machine that is itself shared takes cores away for
tenths of a second (steal), which no service can make up for: each round says how much was taken,
and what other programs of this machine took. The target is held against the round with least
stolen. With `--given` the model is XGBoost's, of 200 trees on the loans of 2004 (`rocourse data
fetch loan`), and recourses are RoCourse's for it. See benchmarks/README.md.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _cores import limit_cores
from _sender import Sender
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from rocourse import datasets
from rocourse.estimators import METHODS, RoCourse
from rocourse.ledger import Ledger

# Requests a second, and milliseconds at p99: of a model of ours, and of one that is given.
TARGETS, GIVEN_TARGETS = (500.0, 50.0), (100.0, 100.0)
_RATE, _GIVEN_RATE = 600.0, 120.0
_WARM_SECONDS = 2.0
_CONNECTIONS = 64


def main() -> None:
    """Prints the figures."""
    options = parse_options()
    limit_cores(options.cores)
    with tempfile.TemporaryDirectory() as folder:
        results = measure(options, Path(folder))
    results |= {"cores": options.cores, "given": options.given}
    print_report(results)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
        print(f"\nWritten to {options.json}.")


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Load on a service with a ledger.")
    parser.add_argument("--rate", type=float, help=f"requests due a second ({_RATE:.0f})")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a round (5)")
    parser.add_argument("--rounds", type=int, default=6, help="how many rounds (6)")
    parser.add_argument("--method", default="rocourse", help="whose model is served (rocourse)")
    parser.add_argument("--given", action="store_true", help="serve RoCourse for XGBoost on loan")
    parser.add_argument("--cores", type=int, default=2, help="cores of service and sender (2)")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    options.rate = options.rate or (_GIVEN_RATE if options.given else _RATE)
    return options


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Runs a service, sends it requests, and looks into its ledger."""
    rows = make_given(folder / "model") if options.given else make_model(folder / "model", options)
    bodies = [
        json.dumps({"applicants": [{"row": row, "subject": "load"}]}).encode()
        for row in json.loads(rows.to_json(orient="records"))
    ]
    ledger = folder / "ledger.db"
    # Nobody limits the sender: that is not what is measured.
    command = [sys.executable, "-m", "rocourse.cli", "serve", str(folder / "model")]
    command += ["--ledger", str(ledger), "--port", "0", "--rate", "1e9"]
    service = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert service.stdout is not None
        port = int(service.stdout.readline().rsplit(":", 1)[1])
        sender = Sender(port, bodies, _CONNECTIONS)
        sender.at_rate(options.rate, _WARM_SECONDS)
        rounds = [
            one_round(service.pid, sender, options.rate, options.seconds)
            for _ in range(options.rounds)
        ]
        sender.close()
    finally:
        service.terminate()
        service.wait()
    with Ledger.open(ledger) as book:
        promises = sum(len(page) for page in book.binding_promises(at=datetime.now(UTC)))
    return {"due_per_second": options.rate, "rounds": rounds, "promises_in_ledger": promises}


def one_round(service: int, sender: Sender, rate: float, seconds: float) -> dict[str, Any]:
    """Sends requests for a while, and looks at the times that they took."""

    def spent() -> tuple[float, ...]:
        mine = cpu_seconds(service), own_seconds()
        return *mine, stolen_seconds(), busy_seconds() - sum(mine)

    before = spent()
    sent = sender.at_rate(rate, seconds)
    after = spent()
    used = [(late - early) / sent.seconds for early, late in zip(before, after, strict=True)]
    times = np.sort(1000.0 * np.array(sent.times))
    return {
        "answered_per_second": len(times) / sent.seconds,
        "requests": len(times),
        "failed": sent.failed + len(sent.refused),
        "milliseconds": {
            name: float(np.quantile(times, share))
            for name, share in {"p50": 0.5, "p95": 0.95, "p99": 0.99, "most": 1.0}.items()
        },
        "cores": dict(zip(("service", "sender", "stolen", "others"), used, strict=True)),
        # What a busy machine does not change much.
        "service_milliseconds": 1000.0 * (after[0] - before[0]) / len(times),
    }


def make_model(path: Path, options: argparse.Namespace) -> pd.DataFrame:
    """Trains and stores a model; gives rows that it refuses."""
    method = options.method
    data = datasets.load("german_credit", seed=0)
    frame = next(iter(data.subsets.values()))
    rows = frame.drop(columns=data.target)
    witnesses = 0 if method == "rocourse" else 8
    model = METHODS[method](schema=data.actionable_schema, random_state=0, witnesses=witnesses)
    model.fit(rows, frame[data.target]).save(path)
    recourse = model.recourse(rows, desired=1)
    return rows[recourse.status == "found"]


def make_given(path: Path) -> pd.DataFrame:
    """Fits and stores recourses for XGBoost on loan; gives rows that it refuses."""
    from xgboost import XGBClassifier

    data = datasets.load("loan", subsets=("2004",))
    frame = data.subsets["2004"]
    rows, labels = frame.drop(columns=data.target), frame[data.target]
    categories = [feature.name for feature in data.schema.categorical]
    prepared = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categories), remainder="passthrough"
    )
    trees = XGBClassifier(n_estimators=200, max_depth=4, learning_rate=0.1, random_state=0)
    given = make_pipeline(prepared, trees).fit(rows, labels)
    model = RoCourse(data.actionable_schema, model=given, random_state=0).fit(rows, labels)
    model.save(path)
    some = rows.sample(2000, random_state=0)
    return some[model.recourse(some, desired=1).status == "found"]


def cpu_seconds(pid: int) -> float:
    """Processor time of another process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def stolen_seconds() -> float:
    """Processor time that the machine's host has given to others so far."""
    return int(Path("/proc/stat").read_text().split()[8]) / os.sysconf("SC_CLK_TCK")


def busy_seconds() -> float:
    """Processor time that all of the machine's processes have used so far."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    user, nice, system, _idle, _waiting, hard, soft, _stolen = fields
    return (user + nice + system + hard + soft) / os.sysconf("SC_CLK_TCK")


def print_report(results: dict[str, Any]) -> None:
    """The figures in words."""
    print(f"Decisions with recourse, one a request, {results['cores']} cores:")
    for found in results["rounds"]:
        ms, cores = found["milliseconds"], found["cores"]
        print(
            f"{found['answered_per_second']:5.0f} a second, {found['failed']} failed; "
            f"p50 {ms['p50']:.1f} ms, p95 {ms['p95']:.1f}, p99 {ms['p99']:.1f}, "
            f"at most {ms['most']:.1f}; cores: service {cores['service']:.2f}, "
            f"sender {cores['sender']:.2f}, stolen {cores['stolen']:.2f}, "
            f"all others {cores['others']:.2f}; "
            f"{found['service_milliseconds']:.2f} ms of processor time each"
        )
    calm = min(results["rounds"], key=lambda found: found["cores"]["stolen"])
    p99 = calm["milliseconds"]["p99"]
    rate, most = GIVEN_TARGETS if results["given"] else TARGETS
    met = calm["answered_per_second"] >= rate and p99 <= most
    print(
        f"{results['promises_in_ledger']} promises in the ledger, warm-up included\n"
        f"target: {rate:.0f} a second at p99 of at most {most:.0f} ms; in the "
        f"round with least stolen: {'met' if met else 'NOT met'}"
    )


if __name__ == "__main__":
    main()
