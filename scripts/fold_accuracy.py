"""How accurate German Credit's candidates are, by folds of the training rows.

Four folds of each subset and seed: what `choose_panel.py` tries once a seed is tried four times,
and what remains of chance is small enough to tell candidates apart. Test rows are not read; seeds
are others than the reported ones.

    python scripts/fold_accuracy.py --out docs/results/choices/accuracy-german_credit.json
"""

import argparse
from pathlib import Path

import numpy as np
from choose_panel import CANDIDATES, QUARTER_SEEDS, fit, write_record
from sklearn.model_selection import StratifiedKFold

from rocourse import datasets
from rocourse.evaluation import accuracy, auc, split

FOLDS = 4
PAPERS = "paper's model"


def measured() -> dict[str, np.ndarray]:
    """Accuracy and AUC of each candidate, `[folds, 2]`."""
    candidates = CANDIDATES["german_credit_quarter"]
    found: dict[str, list[tuple[float | None, float | None]]] = {title: [] for title in candidates}
    for seed in QUARTER_SEEDS:
        data = datasets.load("german_credit", seed=seed)
        for frame in data.subsets.values():
            train, _ = split(frame, data.target, seed=seed)
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
            for learnt, asked in folds.split(train, train[data.target]):
                rows = train.iloc[asked].drop(columns=data.target)
                labels = train[data.target].iloc[asked]
                for title, options in candidates.items():
                    model = fit(data, train.iloc[learnt], seed, {**options, "members": 1})
                    area = auc(labels, model.predict_proba(rows), model.classes_)
                    found[title].append((accuracy(labels, model.predict(rows)), area))
    return {title: np.asarray(values) for title, values in found.items()}


def main() -> None:
    """Prints and stores means, and by how much each candidate is better than the paper's model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    found = measured()
    trials = []
    for title, values in found.items():
        gains = values[:, 0] - found[PAPERS][:, 0]
        trials.append(
            {
                "name": title,
                "accuracy": round(float(values[:, 0].mean()), 4),
                "auc": round(float(values[:, 1].mean()), 4),
                "gain": round(float(gains.mean()), 4),
                "standard_error": round(float(gains.std(ddof=1) / len(gains) ** 0.5), 4),
            }
        )
        print(trials[-1], flush=True)
    record = {"data": "german_credit", "seeds": QUARTER_SEEDS, "folds": FOLDS, "trials": trials}
    write_record(arguments.out, record)


if __name__ == "__main__":
    main()
