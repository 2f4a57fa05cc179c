"""A cluster of Ray with two nodes on one machine, beside the same commands without one.

    python benchmarks/cluster.py [--rows 262144] [--promises 100000] [--kill-after 1]

`rocourse recourse` and `rocourse audit` run in this process alone, in two processes, on the
cluster, and on the cluster while one of its nodes is killed; what they write must be the same, byte
for byte.
"""

import argparse
import os
import sys
import threading
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from _cores import limit_cores
from _loan_shapes import ENCODER, HEAD, TRAINING_ROWS, draw_rows, make_schema
from audit_million import make_promises
from ray.cluster_utils import Cluster
from stream_million import draw_batches

from rocourse import CounterNet, JointTrainer
from rocourse.cli import app
from rocourse.tables import new_table

_STORE = 200_000_000
WAYS = {
    "here": (),
    "two processes": ("--jobs=2",),
    "cluster": ("--engine=ray",),
    "cluster, a node killed": ("--engine=ray",),
}


def main() -> None:
    """Runs each command in each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=262_144)
    parser.add_argument("--promises", type=int, default=100_000)
    parser.add_argument("--kill-after", type=float, default=1.0, help="seconds (1)")
    options = parser.parse_args()
    limit_cores(2)
    with TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        folder = Path(place)
        make_rows(folder, options.rows)
        (folder / "audit").mkdir()
        make_promises(folder / "audit", options.promises)
        cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": _STORE}
        )
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        recourse = ("recourse", folder / "model", folder / "rows.parquet", "--quiet")
        audit = ("audit", folder / "audit" / "ledger.db", "--model", folder / "audit" / "model")
        audit = (*audit, "--at=2100-01-01", "--since=2000-01-01", "--quiet")
        equal = compare(cluster, recourse, "--out", folder, ".parquet", options)
        equal &= compare(cluster, audit, "--broken", folder, ".csv", options)
        ray.shutdown()
        cluster.shutdown()
    if not equal:
        sys.exit("The files differ.")


def make_rows(folder: Path, rows: int) -> None:
    """A model, and rows of the same shapes."""
    known, label = draw_rows(TRAINING_ROWS)
    trainer = JointTrainer(encoder_widths=ENCODER, head_widths=HEAD, epochs=5)
    model = CounterNet(schema=make_schema(), trainer=trainer, random_state=0)
    model.fit(known, label).save(folder / "model")
    with new_table(folder / "rows.parquet", force=False) as write:
        for batch in draw_batches(known, rows):
            write(batch)


def compare(
    cluster: Cluster,
    command: tuple[object, ...],
    option: str,
    folder: Path,
    suffix: str,
    options: argparse.Namespace,
) -> bool:
    """Runs a command in each way, the first time to start processes and compile."""
    count = options.rows if command[0] == "recourse" else options.promises
    files, seconds = {}, {}
    node = cluster.add_node(num_cpus=1, object_store_memory=_STORE)
    cluster.wait_for_nodes()
    for way, engine in WAYS.items():
        for attempt in ("first", "second"):
            killed = way.endswith("killed")
            if killed and attempt == "first":
                continue
            files[way] = folder / f"{command[0]}-{way.replace(' ', '-')}-{attempt}{suffix}"
            timer = threading.Timer(
                options.kill_after, cluster.remove_node, (node,), {"allow_graceful": False}
            )
            if killed:
                timer.start()
            start = time.perf_counter()
            app(
                [*map(str, command), option, str(files[way]), *engine],
                prog_name="rocourse",
                standalone_mode=False,
            )
            seconds[way] = time.perf_counter() - start
            if killed:
                timer.join()
    same = all(path.read_bytes() == files["here"].read_bytes() for path in files.values())
    for way, taken in seconds.items():
        ratio = seconds["here"] / taken
        print(
            f"{command[0]:9s} {way:24s} {taken:7.1f} s {count / taken:10,.0f} a second, "
            f"{ratio:.0%} of here",
            flush=True,
        )
    print(f"{command[0]}: the files are {'the same' if same else 'NOT the same'}", flush=True)
    return same


if __name__ == "__main__":
    main()
