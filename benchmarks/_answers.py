"""What six methods tell German Credit's applicants by default; started by `beside_commit.py`.

Nothing but names that all commits have in common: it runs with the package of any of them.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import rocourse
from rocourse import datasets

METHODS = ("CounterNet", "RoCourseNet", "RoCoursePanel", "ROAR", "RBR", "VanillaCF")
SEEDS = (0, 1)


def main() -> None:
    """Writes statuses and decoded rows as JSON, by method, seed and subset."""
    # One row in four of each subset is asked about, the others train.
    warnings.simplefilter("ignore")
    data = datasets.load("german_credit")
    answers = {}
    for name in METHODS:
        for seed in SEEDS:
            for subset, frame in data.subsets.items():
                rows, labels = frame.drop(columns=data.target), frame[data.target]
                asked = np.arange(len(rows)) % 4 == 0
                model = getattr(rocourse, name)(schema=data.schema, random_state=seed)
                recourse = model.fit(rows[~asked], labels[~asked]).recourse(rows[asked])
                decoded = data.schema.decode(recourse.attempts).astype(object)
                answers[f"{name}, seed {seed}, {subset}"] = {
                    "status": recourse.status.tolist(),
                    "rows": decoded.to_numpy().tolist(),
                }
    Path(sys.argv[1]).write_text(json.dumps(answers, default=lambda value: value.item()))


if __name__ == "__main__":
    main()
