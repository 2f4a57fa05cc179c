"""Asks DiCE for recourses in an environment of its own.

Started by `given_models.py` with a folder that holds `task.json`, `train.parquet` and
`rows.parquet`. Fits the model of the task as the other environment does, and writes for each method
the rows that DiCE proposes, the processor time of each, and what the model says of the rows.
"""

import json
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dice_ml
import numpy as np
import pandas as pd
from _given_families import families
from raiutils.exceptions import UserConfigValidationException


class Typed:
    """A model that is shown categories as it knows them: DiCE makes text of them."""

    def __init__(self, model: Any, kinds: "pd.Series[Any]") -> None:
        self.model, self.kinds = model, kinds

    def predict_proba(self, rows: pd.DataFrame) -> Any:
        """Of each class."""
        return self.model.predict_proba(rows[list(self.kinds.index)].astype(self.kinds))

    def predict(self, rows: pd.DataFrame) -> Any:
        """The more probable class."""
        return self.predict_proba(rows).argmax(axis=1)


def main() -> None:
    """Runs the task."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    task = json.loads((folder / "task.json").read_text())
    train, rows = (pd.read_parquet(folder / f"{name}.parquet") for name in ("train", "rows"))
    label, groups, numbers = task["label"], task["groups"], task["numbers"]
    kinds = train.drop(columns=label).dtypes
    fitted = families(groups, numbers)[task["family"]]().fit(
        train.drop(columns=label), train[label]
    )
    shown = train.astype(dict.fromkeys(groups, str))
    data = dice_ml.Data(dataframe=shown, continuous_features=numbers, outcome_name=label)
    model = dice_ml.Model(model=Typed(fitted, kinds), backend="sklearn", model_type="classifier")
    result: dict[str, Any] = {
        "said": fitted.predict_proba(rows)[:, 1].tolist(),
        "version": version("dice-ml"),
    }
    for method in task["methods"]:
        explainer = dice_ml.Dice(data, model, method=method)
        found, seconds = [], []
        for i in range(len(rows)):
            row = rows.iloc[[i]].astype(dict.fromkeys(groups, str))
            ranges = {
                name: [float(rows[name].iloc[i]) if up else low, high]
                for name, (low, high, up) in task["ranges"].items()
            }
            np.random.seed(0)
            start = time.process_time()
            try:
                answer = explainer.generate_counterfactuals(
                    row,
                    total_CFs=1,
                    desired_class=1,
                    features_to_vary=task["mutable"],
                    permitted_range=ranges,
                    verbose=False,
                )
                proposed = answer.cf_examples_list[0].final_cfs_df
            except UserConfigValidationException:
                # How DiCE says that it found nothing.
                proposed = None
            seconds.append(time.process_time() - start)
            if proposed is not None and len(proposed):
                settled = proposed[list(kinds.index)].astype(kinds).iloc[:1]
                found.append(settled.assign(place=i))
        empty = rows.iloc[:0].assign(place=pd.Series(dtype=int))
        pd.concat([empty, *found]).to_parquet(folder / f"{method}.parquet")
        result[method] = seconds
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main()
