"""What a service says while something is wrong, how soon, and how soon it ends.

    python benchmarks/service_faults.py [--seconds 60] [--promises 1000000] [--rounds 5] [--only …]
        [--method counternet]

Faults, each with a service of its own, while `/healthz`, `/readyz` and a decision are asked for
again and again: `lock`, another process holds the lock of the ledger's file; `frozen`, a server of
PostgreSQL is stopped (SIGSTOP) with all its processes; `audits`, 60 audits are asked for at once;
`slow`, 200 clients send half a request and wait. SIGTERM comes while the fault lasts. Then
`overload`: capacity, then three times as much, of RoCourse's model (or `--method`'s). All of it on
this machine's loopback; what others take of its cores meanwhile is told.

Capacity is what 32 clients have answered a second who ask one after the other. Unloaded is a
quarter of it, at even distances; a tenth of it, where no request meets another, is told as well,
but its p99 rests on a few requests. Overload is three times capacity, whether or not earlier
requests have been answered. Each is measured once it has lasted; times count from when a request
was due. One sender asks for all of it, from the cores that the service has too.
"""

import argparse
import http.client
import json
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from _sender import Sender, Sent
from audit_million import make_promises
from service_load import busy_seconds, cpu_seconds, make_model, own_seconds

sys.path.append(str(Path(__file__).parent.parent))

from tests.ledger.postgres import PostgresServer, why_missing

from rocourse import datasets, load

FAULTS = ("lock", "frozen", "audits", "slow", "overload")
_AUDITS, _SLOW = 60, 200
# Clients that ask one after the other, and connections of a crowd: so many that they do not limit
# what comes.
_CLIENTS, _CROWD = 32, 2048
# Seconds until a crowd is an old story, and seconds that are measured.
_SETTLING, _STEADY = 2.0, 4.0
# Of capacity: what is little, and what is next to nothing. And the targets.
_CALM, _ALONE = 0.25, 0.1
_GOODPUT, _SLOWER = 0.8, 4.0
# Longer than anything should take.
_PATIENCE = 60


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long a fault lasts (60)")
    parser.add_argument("--promises", type=int, default=1_000_000, help="in the ledger (1000000)")
    parser.add_argument("--rounds", type=int, default=5, help="of overload (5)")
    parser.add_argument("--method", default="rocourse", help="whose model is overloaded (rocourse)")
    parser.add_argument("--only", nargs="+", choices=FAULTS, default=FAULTS, help="some of them")
    options = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place)
        if options.only != ["overload"]:
            make_promises(folder, options.promises if "audits" in options.only else 1000)
            data = datasets.load("german_credit", seed=0)
            rows = next(iter(data.subsets.values())).drop(columns=data.target)
            # Who is refused and helped takes longest, and is written down.
            helped = rows[load(folder / "model").recourse(rows, desired=1).status == "found"]
            body = bodies_of(helped)[0]
        for fault in options.only:
            if fault == "overload":
                overload(folder / fault, options)
            else:
                suffer(fault, folder, body, options.seconds)


def bodies_of(rows: pd.DataFrame) -> list[bytes]:
    """A request for each row."""
    records = json.loads(rows.to_json(orient="records"))
    return [json.dumps({"applicants": [{"row": row}]}).encode() for row in records]


class Service:
    """A service in a process of its own."""

    def __init__(self, folder: Path, ledger: str) -> None:
        command = [sys.executable, "-m", "rocourse.cli", "serve", str(folder / "model")]
        command += ["--ledger", ledger, "--port", "0", "--rate", "1e9"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def ask(self, method: str, path: str, body: bytes | None = None) -> int:
        """The status of an answer; 0 if there was none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            headers = {"Content-Type": "application/json"} if body else {}
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            response.read()
            return response.status
        except OSError:
            return 0
        finally:
            connection.close()

    def end(self) -> float:
        """Seconds from SIGTERM to its end."""
        began = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(_PATIENCE)
        return time.perf_counter() - began


def suffer(fault: str, folder: Path, body: bytes, seconds: float) -> None:
    """Has one thing go wrong, and says what became of the rest."""
    with ExitStack() as stack:
        server = None
        ledger = str(folder / "ledger.db")
        if fault == "frozen":
            if reason := why_missing():
                print(f"{fault}: not tried, for {reason}")
                return
            server = PostgresServer()
            stack.callback(server.remove)
            server.start()
            ledger = server.create_database()
        service = Service(folder, ledger)
        stack.callback(service.process.kill)
        ask = {
            "/healthz": lambda: service.ask("GET", "/healthz"),
            "/readyz": lambda: service.ask("GET", "/readyz"),
            "a decision": lambda: service.ask("POST", "/v1/decisions", body),
        }
        for one in ask.values():
            one()
        print(f"{fault}, for {seconds:g} s:")
        with wrong(fault, service, folder, server):
            probes = [Probe(name, one, seconds) for name, one in ask.items()]
            for probe in probes:
                probe.join()
                print(f"  {probe}")
            print(f"  SIGTERM: ended after {service.end():.1f} s", flush=True)


@contextmanager
def wrong(
    fault: str, service: Service, folder: Path, server: PostgresServer | None
) -> Iterator[None]:
    """Something is wrong meanwhile."""
    with ExitStack() as stack:
        if fault == "lock":
            other = sqlite3.connect(folder / "ledger.db")
            stack.callback(other.close)
            other.execute("BEGIN IMMEDIATE")
            stack.callback(other.rollback)
        elif fault == "frozen":
            assert server is not None
            stack.enter_context(server.frozen())
        elif fault == "audits":
            statuses = Counter(service.ask("POST", "/v1/audits") for _ in range(_AUDITS))
            print(f"  {_AUDITS} audits asked for: {dict(statuses)}")
        else:
            for _ in range(_SLOW):
                slow = stack.enter_context(socket.create_connection(("127.0.0.1", service.port)))
                slow.sendall(
                    b"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                    b"application/json\r\nContent-Length: 99\r\n\r\n{"
                )
        yield


class Probe(threading.Thread):
    """Asks for one thing again and again."""

    def __init__(self, name: str, ask: Callable[[], int], seconds: float) -> None:
        super().__init__()
        self.name, self._ask, self._seconds = name, ask, seconds
        self.times: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.start()

    def run(self) -> None:
        until = time.perf_counter() + self._seconds
        while (began := time.perf_counter()) < until:
            self.statuses[self._ask()] += 1
            self.times.append(time.perf_counter() - began)
            time.sleep(0.1)

    def __str__(self) -> str:
        times = 1000 * np.array(self.times)
        told = ", ".join(f"{number} × {status}" for status, number in sorted(self.statuses.items()))
        return (
            f"{self.name}: {told}; p50 {np.quantile(times, 0.5):.0f} ms, "
            f"p99 {np.quantile(times, 0.99):.0f}, at most {times.max():.0f}"
        )


def overload(folder: Path, options: argparse.Namespace) -> None:
    """Three times as much as can be done; what can be done is measured beside it each time."""
    bodies = bodies_of(make_model(folder / "model", options))
    service = Service(folder, str(folder / "ledger.db"))
    sender = Sender(service.port, bodies, _CROWD)
    try:
        print(f"overload, {options.method}:")
        met = 0
        for _ in range(options.rounds):
            # What comes of it when it lasts, and the crowd of the round before has gone.
            sender.in_turn(_CLIENTS, _SETTLING)
            able, cores = _measured(service, partial(sender.in_turn, _CLIENTS, _STEADY))
            capacity = len(able.accepted) / able.seconds
            print(f"  capacity {capacity:.0f} a second; {cores}")
            calm, cores = _measured(service, partial(sender.at_rate, _CALM * capacity, _STEADY))
            alone = sender.at_rate(_ALONE * capacity, _STEADY)
            print(
                f"    p99 {_p99(calm):.1f} ms at {_CALM:.0%} of it, {_p99(alone):.1f} ms at "
                f"{_ALONE:.0%}; {cores}"
            )
            sender.at_rate(3 * capacity, _SETTLING)
            crowd, cores = _measured(service, partial(sender.at_rate, 3 * capacity, _STEADY))
            good = len(crowd.accepted) / crowd.seconds
            print(
                f"    of three times as many {good:.0f} answered a second ({good / capacity:.0%}), "
                f"p99 {_p99(crowd):.1f} ms ({_p99(crowd) / _p99(calm):.1f} and "
                f"{_p99(crowd) / _p99(alone):.1f} times), "
                f"{len(crowd.refused) / crowd.seconds:.0f} refused, {crowd.failed} failed; {cores}",
                flush=True,
            )
            quick = _p99(crowd) <= _SLOWER * _p99(calm)
            met += good >= _GOODPUT * capacity and quick and not crowd.failed
        print(
            f"target: {_GOODPUT:.0%} answered, within {_SLOWER:.0f} times the p99 at "
            f"{_CALM:.0%}; met in {met} of {options.rounds} rounds"
        )
    finally:
        sender.close()
        service.end()


def _measured(service: Service, send: Callable[[], Sent]) -> tuple[Sent, str]:
    """What came of some requests, and the cores that were used, or waited for, meanwhile."""
    pid = service.process.pid

    def spent() -> tuple[float, ...]:
        service, sender = cpu_seconds(pid), own_seconds()
        return service, waited_seconds(pid), sender, busy_seconds() - service - sender

    before = spent()
    sent = send()
    used = [(late - early) / sent.seconds for early, late in zip(before, spent(), strict=True)]
    told = "cores: service {:.2f}, and {:.2f} waited for; sender {:.2f}, all others {:.2f}"
    return sent, told.format(*used)


def waited_seconds(pid: int) -> float:
    """How long the threads of a process have waited for a core that others had."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[1]) for task in tasks) / 1e9


def _p99(sent: Sent) -> float:
    """Milliseconds."""
    return float(np.quantile(sent.accepted, 0.99)) * 1000


if __name__ == "__main__":
    main()
