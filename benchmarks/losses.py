"""Kills, database kills and power losses under load: is anything forgotten or promised twice?

    python benchmarks/losses.py [--times 40]

A service answers eight senders, each of which repeats a request with its key until it is answered.
Meanwhile the service is killed, then the database (PostgreSQL) under it, and then what is on disk
is copied at random moments, as a machine that lost power would find it. At the end every
acknowledged promise is in the ledger once, nothing else is, and the chain verifies, in each copy as
well; else this stops with an error.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.service.test_crashes import kill_database, kill_service, lose_power, make_model


def main() -> None:
    """Prints what became of each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=40)
    times = parser.parse_args().times
    with TemporaryDirectory() as place:
        folder = Path(place)
        model = make_model(folder)
        for name, lose in (
            ("kills of the service", lambda: kill_service(model, _new(folder, "kills"), times)),
            ("kills of the database", lambda: kill_database(model, times)),
            ("power losses", lambda: lose_power(model, _new(folder, "losses"), times)),
        ):
            sent = lose()
            print(
                f"{times} {name}: {len(sent.acknowledged):,} promises acknowledged, {sent.again:,} "
                "requests repeated; none lost, none doubled, the chain verifies",
                flush=True,
            )


def _new(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


if __name__ == "__main__":
    main()
