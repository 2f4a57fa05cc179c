"""Memory and handles of a service over very many requests.

    python benchmarks/service_soak.py [--requests 100000] [--connections 32]

Clients ask one after the other for decisions on rows that differ, of a service with a ledger in
SQLite; now and then one hangs up in the middle, sends no JSON, repeats a key, reads or redeems a
promise, scrapes metrics. Looked at ten times: resident memory, open handles, threads. At the end
there are no more threads than after the first tenth, and of what handles stand for no more but the
ledger's own files: connections are opened when look-ups first coincide, and kept. Memory has grown
by less than a tenth, and nothing was answered with a 5xx but 503. All of it on this machine's
loopback.
"""

import argparse
import asyncio
import json
import os
import sys
import time
import uuid
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from audit_million import make_promises
from service_faults import Service

from rocourse import datasets

_PARTS = 10
# Of requests, those that are odd: each kind.
_ODD = 0.01
# By how much memory may grow from the first tenth on.
_GROWTH = 1.1
# Four look up or redeem at a time, each by a connection to read and one to write; and each of those
# has two files of SQLite.
_POOLED = 4 * 2 * 2
_LEDGER = "soak.db"


def main() -> None:
    """Prints a line a tenth, and leaves with 1 if something grew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place)
        make_promises(folder, 1000)
        data = datasets.load("german_credit", seed=0)
        rows = next(iter(data.subsets.values())).drop(columns=data.target)
        service = Service(folder, str(folder / _LEDGER))
        try:
            good = soak(service, json.loads(rows.to_json(orient="records")), options)
        finally:
            service.end()
    sys.exit(not good)


def soak(service: Service, rows: list[dict[str, object]], options: argparse.Namespace) -> bool:
    """Asks and looks; whether all was well."""
    seen, statuses = [], Counter()
    each = options.requests // _PARTS // options.connections
    for part in range(_PARTS):
        began = time.perf_counter()
        clients = (
            client(service.port, rows, each, Random(f"{part} {number}"), statuses)
            for number in range(options.connections)
        )
        asyncio.run(_all(clients))
        rate = each * options.connections / (time.perf_counter() - began)
        # Whoever hung up is gone by then.
        time.sleep(1.0)
        seen.append(look(service.process.pid))
        memory, handles, threads = seen[-1]
        print(
            f"{(part + 1) * each * options.connections:7d} requests, {rate:.0f} a second: "
            f"{memory:.0f} MiB, {handles.total()} handles, {threads} threads",
            flush=True,
        )
    print("answers:", dict(sorted(statuses.items())))
    first, last = seen[0], seen[-1]
    more = last[1] - first[1]
    print("handles that were not open after the first tenth:", dict(more) or "none")
    pooled = more.total() <= _POOLED and all(name.startswith(_LEDGER) for name in more)
    good = last[0] <= _GROWTH * first[0] and pooled and last[2] <= first[2] + 1
    failed = sum(number for status, number in statuses.items() if status >= 500 and status != 503)
    print("nothing grew" if good else "SOMETHING GREW", f"; {failed} failed", sep="")
    return good and not failed


async def _all(clients) -> None:  # type: ignore[no-untyped-def]
    await asyncio.gather(*clients)


async def client(port: int, rows: list, number: int, random: Random, statuses: Counter) -> None:
    """Asks so many times, mostly for decisions."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    promise: dict | None = None
    key = uuid.uuid4().hex
    for _ in range(number):
        chance = random.random()
        row = dict(random.choice(rows), Duration=random.randint(4, 72))
        body: object = {"applicants": [{"row": row, "subject": "soak"}]}
        method, path = "POST", "/v1/decisions"
        if chance < _ODD:
            # Hangs up in the middle of a request.
            writer.write(b"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n")
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        if chance < 2 * _ODD:
            body = "no applicants"
        elif chance < 3 * _ODD and promise is not None:
            method, path, body = "GET", f"/v1/recourses/{promise['id']}", None
        elif chance < 4 * _ODD and promise is not None:
            path, body = "/v1/redemptions", {"id": promise["id"], "row": promise["row"]}
        elif chance < 4.1 * _ODD:
            method, path, body = "GET", "/metrics", None
        elif chance > _ODD * 10:
            key = uuid.uuid4().hex
        status, answer = await _ask(reader, writer, method, path, body, key)
        statuses[status] += 1
        if status == 200 and path == "/v1/decisions":
            recourse = json.loads(answer)["decisions"][0]["recourse"]
            promise = recourse if recourse and recourse["id"] else promise
    writer.close()


async def _ask(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    method: str,
    path: str,
    body: object,
    key: str,
) -> tuple[int, bytes]:
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nIdempotency-Key: {key}\r\n"
    writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
    received = await reader.readuntil(b"\r\n\r\n")
    length = int(received.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return int(received.split()[1]), await reader.readexactly(length)


def look(pid: int) -> tuple[float, Counter[str], int]:
    """Resident MiB, open handles by what they stand for, and threads of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    lines = dict(line.split(":", 1) for line in status.splitlines())
    targets = (os.readlink(handle) for handle in Path(f"/proc/{pid}/fd").iterdir())
    handles = Counter(Path(target).name.split(":")[0] for target in targets)
    return int(lines["VmRSS"].split()[0]) / 1024, handles, int(lines["Threads"])


if __name__ == "__main__":
    main()
