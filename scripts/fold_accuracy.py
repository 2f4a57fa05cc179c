"""How accurate German Credit's candidates are, by folds of the training rows.

Four folds of each subset and seed: what `choose_panel.py` tries once a seed is tried four times,
and what remains of chance is small enough to tell candidates apart. Test rows are not read; seeds
are others than the reported ones.

    python scripts/fold_accuracy.py --out docs/results/choices/accuracy-german_credit.json
"""

import argparse
import json
from pathlib import Path

import numpy as np
from choose_panel import CANDIDATES, QUARTER_SEEDS, fit
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from rocourse import datasets
from rocourse.evaluation import split

FOLDS = 4
PAPERS = "paper's model"


def measured() -> dict[str, np.ndarray]:
    """Accuracy and AUC of each candidate, `[folds, 2]`."""
    found: dict[str, list[tuple[float, float]]] = {PAPERS: []}
    for seed in QUARTER_SEEDS:
        data = datasets.load("german_credit", seed=seed)
        for frame in data.subsets.values():
            train, _ = split(frame, data.target, seed=seed)
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
            for learnt, asked in folds.split(train, train[data.target]):
                rows = train.iloc[asked].drop(columns=data.target)
                labels = train[data.target].to_numpy()[asked]
                for title, options in CANDIDATES["german_credit_quarter"].items():
                    model = fit(data, train.iloc[learnt], seed, {**options, "members": 1})
                    right = float(np.mean(model.predict(rows) == labels))
                    scores = np.asarray(model.predict_proba(rows))[:, 1]
                    auc = float(roc_auc_score(labels == model.classes_[1], scores))
                    found.setdefault(title, []).append((right, auc))
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
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
