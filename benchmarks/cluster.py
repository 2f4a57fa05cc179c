"""A cluster of Ray with two nodes on one machine, beside the same commands without one.

    python benchmarks/cluster.py [--rows 5000000] [--promises 1000000] [--names all]

`rocourse recourse` and `rocourse audit` run in this process alone, on the cluster, and on the
cluster while one of its nodes is killed; `rocourse reproduce --scale quick` in two processes and on
such a cluster. What they write must be the same, byte for byte, but for the seconds in results.
Processor time and memory are those of all processes together, Ray's own among them, the memory the
most that was seen in a second; of a node that is killed the processor time is lost.
"""

import argparse
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from _cores import limit_cores
from _loan_shapes import ENCODER, HEAD, TRAINING_ROWS, draw_rows, make_schema
from _processes import held, processor
from audit_million import make_promises
from ray.cluster_utils import Cluster
from stream_million import draw_batches

from rocourse import CounterNet, JointTrainer
from rocourse.cli import app
from rocourse.tables import new_table

_STORE = 200_000_000
# What compiles, and starts processes, before anything is measured.
_FEW = 131_072
WAYS = {
    "here": (),
    "cluster": ("--engine=ray",),
    "cluster, a node killed": ("--engine=ray",),
}
_SECONDS = re.compile(r'"(?:\w*_)?seconds(?:_\w+)?":[-+.e\d]+')


def main() -> None:
    """Runs each command in each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000, help="0 for none (5000000)")
    parser.add_argument("--promises", type=int, default=1_000_000, help="0 for none (1000000)")
    parser.add_argument("--names", nargs="*", default=(), help="what to reproduce, such as all")
    parser.add_argument("--kill-after", type=float, default=20.0, help="seconds (20)")
    options = parser.parse_args()
    limit_cores(2)
    with TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        folder = Path(place)
        cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": _STORE}
        )
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        kill_after, equal = options.kill_after, True
        if options.rows:
            equal &= compare_recourses(cluster, folder, options.rows, kill_after)
        if options.promises:
            equal &= compare_audits(cluster, folder, options.promises, kill_after)
        if options.names:
            equal &= compare_reproductions(cluster, folder, options.names, kill_after)
        ray.shutdown()
        cluster.shutdown()
    if not equal:
        sys.exit("The files differ.")


def compare_recourses(cluster: Cluster, folder: Path, rows: int, kill_after: float) -> bool:
    """Advice for rows of a Parquet file, as a Parquet file."""
    known, label = draw_rows(TRAINING_ROWS)
    trainer = JointTrainer(encoder_widths=ENCODER, head_widths=HEAD, epochs=5)
    model = CounterNet(schema=make_schema(), trainer=trainer, random_state=0)
    model.fit(known, label).save(folder / "model")
    files = {"few": min(_FEW, rows), "rows": rows}
    for name, count in files.items():
        with new_table(folder / f"{name}.parquet", force=False) as write:
            for batch in draw_batches(known, count):
                write(batch)

    def run(data: str, out: str, *engine: str) -> bytes:
        path = folder / f"advice-{out}.parquet"
        call("recourse", folder / "model", folder / f"{data}.parquet", "--out", path, *engine)
        return path.read_bytes()

    return compare("recourse", cluster, WAYS, rows, run, kill_after)


def compare_audits(cluster: Cluster, folder: Path, promises: int, kill_after: float) -> bool:
    """Audits of a ledger in SQLite: every promise that is broken, as CSV."""
    for name, count in {"few": min(_FEW, promises), "rows": promises}.items():
        (folder / f"audit-{name}").mkdir()
        make_promises(folder / f"audit-{name}", count)

    def run(data: str, out: str, *engine: str) -> bytes:
        place, path = folder / f"audit-{data}", folder / f"broken-{out}.csv"
        when = ("--at=2100-01-01", "--since=2000-01-01")
        told = ("--broken", path, *when, *engine)
        call("audit", place / "ledger.db", "--model", place / "model", *told)
        return path.read_bytes()

    return compare("audit", cluster, WAYS, promises, run, kill_after)


def compare_reproductions(
    cluster: Cluster, folder: Path, names: list[str], kill_after: float
) -> bool:
    """Packed results, all but their seconds; models are trained anew each time."""

    def run(_: str, out: str, *engine: str) -> bytes:
        place = folder / f"results-{out}"
        call("reproduce", *names, "--scale=quick", "--out", place, "--work", place, *engine)
        packs = sorted(place.glob("*.jsonl"))
        lines = sorted(line for path in packs for line in path.read_text().splitlines())
        count[0] = len(lines) - len(packs)
        return _SECONDS.sub("", "\n".join(lines)).encode()

    count = [0]
    ways = {"two processes": ("--jobs=2",), **WAYS}
    del ways["here"], ways["cluster"]
    return compare("reproduce", cluster, ways, count, run, kill_after, few=False)


def call(*command: object) -> None:
    """Runs a command of rocourse's in this process."""
    app([*map(str, command), "--quiet"], prog_name="rocourse", standalone_mode=False)


def compare(
    name: str,
    cluster: Cluster,
    ways: dict[str, tuple[str, ...]],
    count: int | list[int],
    run: Callable[..., bytes],
    kill_after: float,
    *,
    few: bool = True,
) -> bool:
    """Runs a command in each way, before that with little to do, and prints what it took."""
    node = cluster.add_node(num_cpus=1, object_store_memory=_STORE)
    cluster.wait_for_nodes()
    first, base, same = b"", 0.0, True
    for way, engine in ways.items():
        out, killed = way.replace(" ", "-"), way.endswith("killed")
        little = 0
        if few:
            with memory() as peak:
                run("few", f"{out}-few", *engine)
            little = peak[0]
        graceless = {"allow_graceful": False}
        timer = threading.Timer(kill_after, cluster.remove_node, (node,), graceless)
        with memory() as peak, ended(timer) if killed else nullcontext():
            start, before = time.perf_counter(), processor()
            written = run("rows", out, *engine)
            seconds, spent = time.perf_counter() - start, processor() - before
        first, base = first or written, base or spent
        same &= written == first
        done = count if isinstance(count, int) else count[0]
        ratio = "" if killed else f", {base / spent:.0%} as many a second of it"
        less = f" ({little / 2**20:,.0f} for {_FEW:,})" if few else ""
        print(
            f"{name:9s} {way:24s} {seconds:7.1f} s {done / seconds:10,.1f} a second; {spent:.1f} s "
            f"of the processor{ratio}; {peak[0] / 2**20:,.0f} MiB"
            f"{less}",
            flush=True,
        )
    print(f"{name}: the files are {'the same' if same else 'NOT the same'}", flush=True)
    return same


@contextmanager
def ended(timer: threading.Timer) -> Iterator[None]:
    """Starts a timer, and sees that it has done what it is for."""
    timer.start()
    yield
    if timer.is_alive():
        sys.exit("The work was done before a node was killed; choose a shorter --kill-after.")
    timer.join()


@contextmanager
def memory() -> Iterator[list[int]]:
    """The most bytes that this process and those below it held at a time, shared ones once."""
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(1.0):
            peak[0] = max(peak[0], held())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


if __name__ == "__main__":
    main()
