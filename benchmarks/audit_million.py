"""What an audit of a million promises takes on the command line: processor time and memory.

    python benchmarks/audit_million.py [--promises 1000000] [--verify]

Makes a ledger in SQLite, then runs `rocourse audit` on it in a process of its own, with two cores.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["JAX_PLATFORMS"] = "cpu"

from _cores import limit_cores

from rocourse import CounterNet, datasets
from rocourse.ledger import Issue, Ledger, NewPromise

_AT_ONCE = 1000
_COMMAND = f"""
import atexit, sys
sys.path.append({str(Path(__file__).parent)!r})
from _peak_memory import peak_bytes
atexit.register(lambda: print(peak_bytes(), file=sys.stderr))
from rocourse.cli import main
main()
"""


def main() -> None:
    """Prints what was taken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--promises", type=int, default=1_000_000)
    parser.add_argument("--verify", action="store_true", help="Verify the chain as well.")
    options = parser.parse_args()
    limit_cores(2)
    with TemporaryDirectory() as place:
        folder = Path(place)
        make_promises(folder, options.promises)
        ledger, model = folder / "ledger.db", folder / "model"
        _run("audit", "audit", ledger, "--model", model, "--json", "--list", "10")
        if options.verify:
            _run("verify", "ledger", "verify", ledger, "--json")


def train(folder: Path) -> list[dict[str, object]]:
    """Trains and stores a model, and gives the rows that it knows."""
    data = datasets.load("german_credit", seed=0)
    frame = next(iter(data.subsets.values()))
    rows = frame.drop(columns=data.target)
    model = CounterNet(schema=data.schema, trainer__epochs=30, random_state=0)
    model.fit(rows, frame[data.target]).save(folder / "model")
    return json.loads(rows.to_json(orient="records"))


def made_promise(
    records: Sequence[dict[str, object]],
    k: int,
    issued_at: datetime,
    expires_at: datetime,
    **named: str,
) -> NewPromise:
    """The promise of this number, between rows of the records."""
    return NewPromise(
        subject=f"A-{k}",
        model="0" * 64,
        schema_version="1",
        row=records[k % len(records)],
        recourse=records[(7 * k + 3) % len(records)],
        desired=1,
        probability_before=0.2,
        probability_after=0.8,
        robustness=0.9,
        issued_at=issued_at,
        expires_at=expires_at,
        **named,
    )


def make_promises(folder: Path, promises: int) -> None:
    """Trains and stores a model, and makes a ledger of promises beside it."""
    records, now = train(folder), datetime.now(UTC)
    began, start_time = time.process_time(), time.perf_counter()
    with Ledger.open(folder / "ledger.db") as ledger:
        for start in range(0, promises, _AT_ONCE):
            made = [
                made_promise(records, k, now - timedelta(days=k % 300), now + timedelta(days=365))
                for k in range(start, min(start + _AT_ONCE, promises))
            ]
            ledger.issue([Issue(promises=made, fingerprint="f", answer="{}")])
    spent = f"{time.process_time() - began:.1f} s of processor time"
    size = f"{(folder / 'ledger.db').stat().st_size / 2**20:.0f} MiB"
    rate = promises / (time.perf_counter() - start_time)
    print(f"{promises:,} promises written with {spent}, {rate:,.0f} a second, {size}", flush=True)


def _run(name: str, *command: object) -> None:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, *map(str, command)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = int(done.stderr.strip().splitlines()[-1]) / 2**20
    found = json.loads(done.stdout)
    if name == "audit":
        total = found["audits"][0]["total"]
        print(f"audited {total['promises']:,}, honoured {total['honoured']:,}")
    else:
        print(f"verified {found['promises']:,}: {'clean' if found['clean'] else 'NOT clean'}")
    print(f"  {spent:.1f} s of processor time, {seconds:.1f} s, {peak:.0f} MiB at most", flush=True)


if __name__ == "__main__":
    main()
