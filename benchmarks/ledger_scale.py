"""Promises in PostgreSQL by the million: how fast they are written and audited, and their sizes.

    python benchmarks/ledger_scale.py [--promises 200000] [--jobs 2]

Starts a server of its own, in a temporary directory; PostgreSQL must be installed.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ["JAX_PLATFORMS"] = "cpu"
sys.path.append(str(Path(__file__).parent.parent))

import psycopg
from audit_million import make_promises
from tests.ledger.postgres import PostgresServer, why_missing

_SIZES = """
SELECT relname, relkind, pg_relation_size(oid), pg_total_relation_size(oid) FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i') AND pg_relation_size(oid) > 0
ORDER BY pg_relation_size(oid) DESC
"""


def main() -> None:
    """Prints rates and sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--promises", type=int, default=200_000)
    parser.add_argument("--jobs", type=int, default=2, help="processes of the second audit (2)")
    options = parser.parse_args()
    if missing := why_missing():
        sys.exit(missing)
    server = PostgresServer(max_wal_size="4GB")
    try:
        server.start()
        address = server.create_database()
        with TemporaryDirectory() as place:
            folder = Path(place)
            make_promises(folder, options.promises, address)
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
            for jobs in (1, options.jobs):
                start = time.perf_counter()
                command = ("audit", address, "--model", str(folder / "model"), f"--jobs={jobs}")
                told = subprocess.run(
                    [sys.executable, "-m", "rocourse.cli", *command, "--quiet"], check=False
                )
                seconds = time.perf_counter() - start
                if told.returncode:
                    sys.exit("The audit failed.")
                rate = options.promises / seconds
                print(f"audited with {jobs} in {seconds:.1f} s, {rate:,.0f} a second", flush=True)
        with psycopg.connect(address) as connection:
            for name, kind, own, _ in connection.execute(_SIZES).fetchall():
                what = "table" if kind == "r" else "index"
                each = own / options.promises
                print(f"{what} {name:36s} {own / 2**20:9.1f} MiB, {each:7.1f} bytes a promise")
    finally:
        server.remove()


if __name__ == "__main__":
    main()
