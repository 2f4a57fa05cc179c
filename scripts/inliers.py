"""How many recourses the local outlier factor calls inliers, by where its threshold lies.

The reproduction's tables call the 5% of the training rows outliers that lie loneliest among their
class, and a recourse one that lies lonelier. scikit-learn's own threshold ("auto") is a factor of
1.5. Beside the recourses stand test rows and their own class: as plausible as rows can be.

    python scripts/inliers.py --out docs/results/inliers/german_credit.json
"""

import argparse
from pathlib import Path

import pandas as pd
from choose_panel import write_record

from rocourse import RoCoursePanel, datasets
from rocourse.evaluation import Plausibility, split
from rocourse.experiments.reproduction import find_scale

DATA = "german_credit"
SEEDS = range(5)
THRESHOLDS = ("auto", 0.05, 0.1)


def of_seed(seed: int) -> list[dict[str, float | str]]:
    """The shares in each subset, for each threshold."""
    data = datasets.load(DATA, seed=seed)
    setting = find_scale("paper").settings[DATA]
    found: list[dict[str, float | str]] = []
    for frame in data.subsets.values():
        parts = split(frame, data.target, seed=seed)
        (train, y_train), (test, y_test) = (
            (part.drop(columns=data.target), part[data.target]) for part in parts
        )
        model = RoCoursePanel(
            schema=data.schema, random_state=seed, **setting.cell("rocourse-panel").options
        ).fit(train, y_train)
        recourse = model.recourse(test)
        for threshold in THRESHOLDS:
            reference = Plausibility.fit(data.schema, train, y_train, outlying=threshold)
            found.append(
                {
                    "threshold": str(threshold),
                    "recourses": float(reference.inliers(recourse).mean()),
                    "test_rows": float(reference.inlying_rows(test, y_test).mean()),
                }
            )
    return found


def main() -> None:
    """Prints a table and stores it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found = pd.DataFrame([row for seed in SEEDS for row in of_seed(seed)])
    table = found.groupby("threshold", sort=False).mean().round(4)
    print(table.to_string())
    record = {"data": DATA, "seeds": list(SEEDS), "shares": table.reset_index().to_dict("records")}
    write_record(arguments.out, record)


if __name__ == "__main__":
    main()
