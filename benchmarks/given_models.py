"""Advice for models that a lender already has, judged by refits of the same kind on later rows.

    python benchmarks/given_models.py [--family boosting …] [--method rocourse …] [--asked 300]

Loan 2004: a model of each family decides; refused applicants of the test rows are advised under
the constraints that sensible advice has to respect; models of the same family, fitted on each of
2005 to 2009, judge. XGBoost is asked for if it is installed. Times are those of the processor.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from rocourse import METHODS, Schema, datasets
from rocourse.evaluation import split
from rocourse.models.adapters import adapt

YEAR, LATER = "2004", [str(year) for year in range(2005, 2010)]
# What is to be shown of RoCourse: the share kept on average and in the worst year, and the cost:
# so many times that of the nearest valid point, and a category.
TARGET_MEAN, TARGET_WORST, TARGET_TIMES, CATEGORY = 0.97, 0.95, 1.5, 2.0
ASKED = ("rocourse .95", "rocourse .99", "vanillacf", "roar", "rbr")


def families(schema: Schema) -> dict[str, Callable[[], Any]]:
    """How models of each family are made, of labels 0 and 1."""
    groups = [feature.name for feature in schema.categorical]
    numbers = [feature.name for feature in schema.continuous]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = OneHotEncoder(handle_unknown="ignore", sparse_output=False)

    def prepared(encoder: Any, model: Any) -> Any:
        steps = make_column_transformer((encoder, groups), (StandardScaler(), numbers))
        return make_pipeline(steps, model)

    made: dict[str, Callable[[], Any]] = {
        "boosting": lambda: prepared(codes, HistGradientBoostingClassifier(random_state=0)),
        "forest": lambda: prepared(
            codes, RandomForestClassifier(200, min_samples_leaf=3, random_state=0)
        ),
        "logistic": lambda: prepared(columns, LogisticRegression(max_iter=2000)),
    }
    try:
        from xgboost import XGBClassifier
    except ImportError:
        return made
    trees = {"n_estimators": 200, "random_state": 0, "n_jobs": 1}
    return {"xgboost": lambda: prepared(columns, XGBClassifier(**trees))} | made


def main() -> None:
    """Prints the figures."""
    data = datasets.load("loan", subsets=[YEAR, *LATER])
    made = families(data.actionable_schema)
    parser = argparse.ArgumentParser(description="Advice for models that are given.")
    parser.add_argument("--family", nargs="+", default=list(made), choices=made)
    parser.add_argument("--method", nargs="+", default=list(ASKED), choices=ASKED)
    parser.add_argument("--asked", type=int, default=300, help="refused applicants (300)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    print("| family | method | advised | promised | kept | worst year | cost | features | ms |")
    print("|---|---|---|---|---|---|---|---|---|")
    for family in asked.family:
        for line in measure(data, family, made[family], asked.method, asked.asked):
            results.append(line)
            shown = [
                f"{value:.3f}" if isinstance(value, float) else value for value in line.values()
            ]
            print("| " + " | ".join(map(str, shown)) + " |", flush=True)
    if asked.json is not None:
        asked.json.write_text(json.dumps(results, indent=2) + "\n")


def measure(
    data: Any, family: str, make: Callable[[], Any], methods: list[str], most: int
) -> list[dict[str, Any]]:
    """The figures of one family."""
    schema, target = data.actionable_schema, data.target
    favourable = schema.target.favourable
    (other,) = (label for label in schema.target.classes if label != favourable)

    def fitted(rows: pd.DataFrame) -> Any:
        return make().fit(rows.drop(columns=target), (rows[target] == favourable).astype(int))

    train, test = split(data.subsets[YEAR], target, seed=0)
    model = fitted(train)
    judges = [fitted(split(data.subsets[year], target, seed=0)[0]) for year in LATER]
    rows = test.drop(columns=target)
    refused = rows[model.predict(rows) == 0]
    refused = refused.sample(min(len(refused), most), random_state=0)
    given = adapt(model, schema, classes=[other, favourable])
    lines = []
    for asked in methods:
        name, _, kept = asked.partition(" ")
        options: dict[str, Any] = {"kept": float(kept)} if kept else {}
        advisor = METHODS[name](schema, model=given, random_state=0).set_params(**options)
        advisor.fit(train.drop(columns=target), train[target])
        advisor.recourse(refused[:2], desired=favourable)
        start = time.process_time()
        recourse = advisor.recourse(refused, desired=favourable)
        seconds = time.process_time() - start
        advised = np.flatnonzero(recourse.advised)
        attempts = recourse.attempted().iloc[advised]
        shares = [judge.predict(attempts).mean() for judge in judges]
        lines.append(
            {
                "family": family,
                "method": asked,
                "advised": len(advised) / len(recourse),
                "promised": float((recourse.status == "found").mean()) if kept else None,
                "kept": float(np.mean(shares)),
                "worst": float(np.min(shares)),
                "cost": float(recourse.proximity[advised].mean()),
                "features": float(recourse.features_changed[advised].mean()),
                "ms": 1e3 * seconds / len(refused),
            }
        )
    return lines


if __name__ == "__main__":
    main()
