"""How many recourses the local outlier factor calls inliers, by where its threshold lies.

The reproduction's tables call the 5% of the training rows outliers that lie loneliest among their
class, and a recourse one that lies lonelier. scikit-learn's own threshold ("auto") is a factor of
1.5. Beside the recourses stand test rows and their own class: as plausible as rows can be.

    python scripts/inliers.py --out docs/results/inliers/german_credit.json
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.neighbors import LocalOutlierFactor

from rocourse import RoCoursePanel, datasets
from rocourse.evaluation import split
from rocourse.experiments.reproduction import find_scale
from rocourse.schema import one_hot

DATA = "german_credit"
SEEDS = range(5)
THRESHOLDS = ("auto", 0.05, 0.1)


def shares(
    train: np.ndarray, labels: np.ndarray, asked: dict[str, tuple[np.ndarray, np.ndarray]]
) -> list[dict[str, float | str]]:
    """For each threshold the share of rows that are inliers among training rows of their class."""
    found: list[dict[str, float | str]] = []
    for threshold in THRESHOLDS:
        inside: dict[str, list[np.ndarray]] = {name: [] for name in asked}
        for label in np.unique(labels):
            factor = LocalOutlierFactor(
                metric="manhattan", algorithm="brute", contamination=threshold, novelty=True
            ).fit(np.unique(train[labels == label], axis=0))
            for name, (rows, classes) in asked.items():
                inside[name].append(factor.predict(rows[classes == label]) == 1)
        means = {name: float(np.concatenate(parts).mean()) for name, parts in inside.items()}
        found.append({"threshold": str(threshold), **means})
    return found


def of_seed(seed: int) -> list[dict[str, float | str]]:
    """The shares in each subset."""
    data = datasets.load(DATA, seed=seed)
    setting = find_scale("paper").settings[DATA]
    layout, found = data.schema.layout, []
    for frame in data.subsets.values():
        parts = split(frame, data.target, seed=seed)
        (train, y_train), (test, y_test) = (
            (part.drop(columns=data.target), part[data.target].to_numpy()) for part in parts
        )
        model = RoCoursePanel(
            schema=data.schema, random_state=seed, **setting.cell("rocourse-panel").options
        ).fit(train, y_train)
        recourse = model.recourse(test)
        asked = {
            "recourses": (one_hot(recourse.attempts, layout), np.asarray(recourse.desired)),
            "test_rows": (one_hot(data.schema.encode(test), layout), y_test),
        }
        found += shares(one_hot(data.schema.encode(train), layout), y_train, asked)
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
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
