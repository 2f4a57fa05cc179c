"""All pictures that there are, of German Credit, as files: those of docs/pictures.md.

pip install 'rocourse[plots]'
python examples/pictures.py docs/images/plots
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from rocourse import ROAR, VanillaCF, datasets, plots
from rocourse.evaluation import fairness, robust_validity
from rocourse.reports import to_png


def main(folder: Path, applicants: int = 60) -> None:
    """Writes the pictures.

    Args:
        folder: Where to.
        applicants: How many people are advised.
    """
    data = datasets.load("german_credit")
    schema, rows = data.actionable_schema, data.subsets["org"]
    X, y = rows[list(schema.names)], rows[data.target]
    today = VanillaCF(schema, random_state=0).fit(X, y)
    # What might decide next: models of rows that were drawn anew.
    drawn = [X.sample(frac=1.0, replace=True, random_state=seed).index for seed in (1, 2, 3)]
    later = [
        VanillaCF(schema, random_state=seed).fit(X.loc[index], y.loc[index])
        for seed, index in enumerate(drawn, 1)
    ]
    granted = today.predict(X) == 1
    refused, accepted = X[~granted].head(applicants), X[granted]
    advice = {
        "VanillaCF": [today.recourse(refused)],
        "ROAR": [
            ROAR(schema, random_state=0, proposer__delta_max=delta).fit(X, y).recourse(refused)
            for delta in (0.02, 0.1, 0.3)
        ],
    }
    recourse = advice["VanillaCF"][0]
    busiest = int(np.argmax(np.where(recourse.advised, recourse.features_changed, 0)))
    judges = [model.predict for model in later]
    honoured = np.stack([judge(recourse.attempted()) == 1 for judge in judges])
    points = {
        name: [(float(r.cost.mean()), robust_validity(r, judges) or 0.0) for r in found]
        for name, found in advice.items()
    }
    everyone = today.recourse(X.head(400))
    ages = pd.cut(X["Age"].head(400), [0, 25, 35, 50, 99], labels=["–25", "26–35", "36–50", "51–"])
    figures = {
        "recourse": recourse.plot(busiest, accepted=accepted),
        "changes": recourse.plot_changes(),
        "validity": plots.plot_validity(
            {name: found[0] for name, found in advice.items()},
            {"today": today} | {f"drawn {k}": model for k, model in enumerate(later, 1)},
        ),
        "frontier": plots.plot_frontier(points),
        "calibration": plots.plot_calibration(
            today.predict_proba(X.loc[drawn[0]])[:, 1], np.asarray(y.loc[drawn[0]] == 1)
        ),
        "drift": plots.plot_drift(np.r_[np.ones(60), honoured.ravel()], kept=0.95),
        "fairness": plots.plot_fairness(
            fairness(everyone, {"Age": ages.astype(str)}, promises=False), "cost"
        ),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        (folder / f"{name}.png").write_bytes(to_png(figure))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
