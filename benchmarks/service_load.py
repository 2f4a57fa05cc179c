"""How many decisions with recourse a service answers in a second, and how soon.

    python benchmarks/service_load.py [--rate 600] [--seconds 20] [--json results.json]

A service is started on a small model with a ledger in SQLite; a second process sends refused
applicants, one a request, at a steady rate whether or not earlier ones have been answered. Times
count from the moment at which a request was due, so that a service that stalls cannot hide it.
Service and sender share the given cores. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
from _cores import limit_cores

from rocourse import RoCourseNet, datasets
from rocourse.ledger import Ledger

TARGET_RATE, TARGET_P99_MS = 500.0, 50.0
_WARM_SECONDS = 2.0
_CONNECTIONS = 64


def main() -> None:
    """Prints the figures."""
    options = parse_options()
    limit_cores(options.cores)
    with tempfile.TemporaryDirectory() as folder:
        results = measure(options, Path(folder))
    results["cores"] = options.cores
    print_report(results)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
        print(f"\nWritten to {options.json}.")


def parse_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Load on a service with a ledger.")
    parser.add_argument("--rate", type=float, default=600.0, help="requests due a second (600)")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long (20)")
    parser.add_argument("--cores", type=int, default=2, help="cores of service and sender (2)")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Runs a service, sends it requests, and looks into its ledger."""
    bodies = make_model(folder / "model")
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
        asyncio.run(send(port, bodies, options.rate, _WARM_SECONDS))
        before = cpu_seconds(service.pid), own_seconds()
        sent = asyncio.run(send(port, bodies, options.rate, options.seconds))
        after = cpu_seconds(service.pid), own_seconds()
    finally:
        service.terminate()
        service.wait()
    with Ledger.open(ledger) as book:
        promises = sum(len(page) for page in book.open_promises(at=_now()))
    times = np.sort(1000.0 * np.array(sent["times"]))
    return {
        "due_per_second": options.rate,
        "answered_per_second": len(times) / sent["seconds"],
        "requests": len(times),
        "failed": sent["failed"],
        "promises_in_ledger": promises,
        "milliseconds": {
            name: float(np.quantile(times, share))
            for name, share in {"p50": 0.5, "p95": 0.95, "p99": 0.99, "most": 1.0}.items()
        },
        "cpu_seconds_per_second": {
            "service": (after[0] - before[0]) / sent["seconds"],
            "sender": (after[1] - before[1]) / sent["seconds"],
        },
    }


def make_model(path: Path) -> list[bytes]:
    """Trains and stores a model; gives request bodies of rows that it refuses."""
    data = datasets.load("german_credit", seed=0)
    frame = next(iter(data.subsets.values()))
    rows = frame.drop(columns=data.target)
    model = RoCourseNet(schema=data.schema, random_state=0, witnesses=8)
    model.fit(rows, frame[data.target]).save(path)
    recourse = model.recourse(rows, desired=1)
    refused = rows[recourse.status == "found"]
    return [
        json.dumps({"applicants": [{"row": row, "subject": "load"}]}).encode()
        for row in json.loads(refused.to_json(orient="records"))
    ]


async def send(port: int, bodies: list[bytes], rate: float, seconds: float) -> dict[str, Any]:
    """Sends requests when they are due, each with a key of its own."""
    free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(_CONNECTIONS):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    times: list[float] = []
    failed = 0

    async def one(body: bytes, due: float) -> None:
        nonlocal failed
        reader, writer = await free.get()
        writer.write(
            b"POST /v1/decisions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Idempotency-Key: %s\r\nContent-Length: %d\r\n\r\n"
            % (uuid.uuid4().hex.encode(), len(body))
            + body
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        answer = await reader.readexactly(length)
        times.append(time.perf_counter() - due)
        failed += not (head.startswith(b"HTTP/1.1 200") and b'"status": "found"' in answer)
        free.put_nowait((reader, writer))

    start = time.perf_counter()
    tasks = []
    for i in range(int(rate * seconds)):
        due = start + i / rate
        wait = due - time.perf_counter()
        if wait > 0.0005:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(one(bodies[i % len(bodies)], due)))
    await asyncio.gather(*tasks)
    elapsed = time.perf_counter() - start
    while not free.empty():
        free.get_nowait()[1].close()
    return {"times": times, "failed": failed, "seconds": elapsed}


def cpu_seconds(pid: int) -> float:
    """Processor time of another process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _now() -> Any:
    from datetime import UTC, datetime

    return datetime.now(UTC)


def print_report(results: dict[str, Any]) -> None:
    """The figures in words."""
    ms, cpu = results["milliseconds"], results["cpu_seconds_per_second"]
    met = results["answered_per_second"] >= TARGET_RATE and ms["p99"] <= TARGET_P99_MS
    print(
        f"{results['answered_per_second']:.0f} decisions with recourse a second "
        f"({results['requests']} requests, {results['failed']} failed, "
        f"{results['promises_in_ledger']} promises in the ledger, warm-up included)\n"
        f"p50 {ms['p50']:.1f} ms, p95 {ms['p95']:.1f} ms, p99 {ms['p99']:.1f} ms, "
        f"at most {ms['most']:.1f} ms\n"
        f"of {results['cores']} cores: service {cpu['service']:.2f}, sender {cpu['sender']:.2f}\n"
        f"target: {TARGET_RATE:.0f} a second at p99 of at most {TARGET_P99_MS:.0f} ms: "
        f"{'met' if met else 'NOT met'}"
    )


if __name__ == "__main__":
    main()
