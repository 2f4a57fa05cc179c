"""How settings of RoCoursePanel are tried without a look at the shifts that are reported.

German Credit and Student (`shifted_choice`): a part of each subset's training rows trains the
method, other rows are shifted (two columns relabelled; one side of a cut by a feature) and train
the judges, four of them, with the same settings. Test rows and the other subset are not read. Loan
(`judged_choice`): some early years, each judged by the others' models.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from rocourse.datasets import Dataset, load
from rocourse.estimators import RoCoursePanel
from rocourse.evaluation import Plausibility, accuracy, auc, run_subsets, split
from rocourse.experiments.reproduction._jobs import as_parameters
from rocourse.experiments.reproduction._rows import at_most
from rocourse.schema import Schema

JUDGES = 4
LEAST_ROWS, LEAST_OF_A_CLASS = 60, 8

Inputs = Mapping[str, Any]


def relabelled(rows: pd.DataFrame, schema: Schema, rng: np.random.Generator) -> pd.DataFrame:
    """The rows with the codes of two categorical columns exchanged."""
    rows = rows.copy()
    for chosen in rng.choice(len(schema.categorical), 2, replace=False):
        feature = schema.categorical[chosen]
        exchanged = dict(zip(feature.categories, rng.permutation(feature.categories), strict=True))
        rows[feature.name] = rows[feature.name].map(exchanged)
    return rows


def cut(rows: pd.DataFrame, schema: Schema, target: str, rng: np.random.Generator) -> pd.DataFrame:
    """The rows on one side of a categorical feature, with enough of both classes."""
    while True:
        column = rows[rng.choice([feature.name for feature in schema.categorical])]
        usual = column == column.value_counts().index[0]
        side: pd.DataFrame = rows[usual if rng.random() < 0.5 else ~usual]
        counts = side[target].value_counts()
        if len(side) >= LEAST_ROWS and len(counts) == 2 and counts.min() >= LEAST_OF_A_CLASS:
            return side


def shifted_choice(inputs: Inputs) -> dict[str, Any]:
    """Robust validity, cost, accuracy and inliers by judges of shifted rows: means and a spread.

    With `share` a half, one half trains the method and the other one, shifted, the judges. With a
    quarter, three quarters train the method, a quarter asks, and judges train on other three
    quarters, shifted in the same way: models of half the rows say little of how accurate those of
    all are.
    """
    options, found = as_parameters(inputs["options"]), []
    for seed, data, mine, asked, shifts in _parts(inputs):
        model = _fit(data, mine, seed, options)
        judges = [_fit(data, rows, seed, {**options, "proposer__members": 1}) for rows in shifts]
        rows = asked.drop(columns=data.target)
        recourse, told = model.recourse(rows), model.predict(rows)
        honoured = [
            judge.predict(recourse.attempted()) == recourse.desired
            for judge in judges
            # As in the protocol: who calls all rows by one name judges nothing.
            if len(np.unique(judge.predict(rows))) > 1
        ]
        usual = Plausibility.fit(data.schema, mine.drop(columns=data.target), mine[data.target])
        found.append(
            {
                "robust_validity": float(np.mean(honoured)),
                "proximity": float(recourse.proximity.mean()),
                "accuracy": float(np.mean(told == asked[data.target].to_numpy())),
                "inliers": float(np.nanmean(usual.inliers(recourse))),
            }
        )
    return _means(found)


def judged_choice(inputs: Inputs) -> dict[str, Any]:
    """Robust validity, cost and accuracy by the models of the other subsets: means and a spread."""
    options, found = as_parameters(inputs["options"]), []
    for seed in inputs["seeds"]:
        data = load(inputs["dataset"], subsets=inputs["subsets"], seed=seed)
        subsets = {
            name: at_most(frame, inputs.get("rows"), seed) for name, frame in data.subsets.items()
        }

        def fit(
            _: str, rows: pd.DataFrame, labels: "pd.Series[Any]", seed: int, data: Dataset = data
        ) -> RoCoursePanel:
            return RoCoursePanel(schema=data.schema, random_state=seed, **options).fit(rows, labels)

        run = run_subsets(subsets, data.target, fit, seed=seed)
        summary = run.summary(exclude_constant=True)
        scores, adverse = summary.protocols["all"], summary.protocols["adverse"]
        found.append(
            {
                "robust_validity": scores["robust_validity"].mean,
                "proximity": scores["proximity"].mean,
                "accuracy": summary.model["accuracy"].mean,
                "adverse_robust_validity": adverse["robust_validity"].mean,
                "adverse_proximity": adverse["proximity"].mean,
            }
        )
    return _means(found)


def fold_accuracies(inputs: Inputs) -> dict[str, Any]:
    """How accurate candidates are by folds of the training rows, and how much more than the first.

    What a choice tries once a seed is tried four times: what remains of chance is small enough to
    tell candidates apart.
    """
    found: dict[str, list[tuple[float | None, float | None]]] = {
        title: [] for title in inputs["candidates"]
    }
    for seed in inputs["seeds"]:
        data = load(inputs["dataset"], seed=seed)
        for frame in data.subsets.values():
            train, _ = split(frame, data.target, seed=seed)
            folds = StratifiedKFold(inputs["folds"], shuffle=True, random_state=seed)
            for learnt, asked in folds.split(train, train[data.target]):
                rows = train.iloc[asked].drop(columns=data.target)
                labels = train[data.target].iloc[asked]
                for title, options in inputs["candidates"].items():
                    alone = {**as_parameters(options), "proposer__members": 1}
                    model = _fit(data, train.iloc[learnt], seed, alone)
                    area = auc(labels, model.predict_proba(rows), model.classes_)
                    found[title].append((accuracy(labels, model.predict(rows)), area))
    measured = {title: np.asarray(values, float) for title, values in found.items()}
    first = next(iter(measured.values()))[:, 0]
    trials = []
    for title, values in measured.items():
        gains = values[:, 0] - first
        trials.append(
            {
                "name": title,
                "accuracy": round(float(values[:, 0].mean()), 4),
                "auc": round(float(values[:, 1].mean()), 4),
                "gain": round(float(gains.mean()), 4),
                "standard_error": round(float(gains.std(ddof=1) / len(gains) ** 0.5), 4),
            }
        )
    return {"trials": trials}


def inlier_shares(inputs: Inputs) -> dict[str, Any]:
    """How many recourses, and test rows, are inliers, by where the threshold lies.

    Test rows beside their own class are as plausible as rows can be.
    """
    found = []
    for seed in inputs["seeds"]:
        data = load(inputs["dataset"], seed=seed)
        for frame in data.subsets.values():
            (train, y_train), (test, y_test) = (
                (part.drop(columns=data.target), part[data.target])
                for part in split(frame, data.target, seed=seed)
            )
            options = as_parameters(inputs["options"])
            model = RoCoursePanel(schema=data.schema, random_state=seed, **options)
            recourse = model.fit(train, y_train).recourse(test)
            for threshold in inputs["thresholds"]:
                reference = Plausibility.fit(data.schema, train, y_train, outlying=threshold)
                found.append(
                    {
                        "threshold": str(threshold),
                        "recourses": float(reference.inliers(recourse).mean()),
                        "test_rows": float(reference.inlying_rows(test, y_test).mean()),
                    }
                )
    table = pd.DataFrame(found).groupby("threshold", sort=False).mean().round(4)
    return {"shares": table.reset_index().to_dict("records")}


def _parts(
    inputs: Inputs,
) -> Iterator[tuple[int, Dataset, pd.DataFrame, pd.DataFrame, list[pd.DataFrame]]]:
    """For each seed and subset: rows to train with, rows to ask for, and the judges' rows."""
    share, shift = inputs["share"], inputs["shift"]
    for seed in inputs["seeds"]:
        data, rng = load(inputs["dataset"], seed=seed), np.random.default_rng(seed)
        for frame in data.subsets.values():
            train, _ = split(frame, data.target, seed=seed)
            mine, asked = split(train, data.target, seed=seed + 1, test_size=share)
            shifts = []
            for i in range(JUDGES):
                theirs = asked
                if share < 0.5:
                    theirs, _ = split(train, data.target, seed=seed + 10 + i, test_size=share)
                shifts.append(
                    cut(theirs, data.schema, data.target, rng)
                    if shift == "cut"
                    else relabelled(theirs, data.schema, rng)
                )
            yield seed, data, mine, asked, shifts


def _fit(data: Dataset, rows: pd.DataFrame, seed: int, options: Mapping[str, Any]) -> RoCoursePanel:
    model = RoCoursePanel(schema=data.schema, random_state=seed, **options)
    return model.fit(rows.drop(columns=data.target), rows[data.target])


def _means(found: list[dict[str, Any]]) -> dict[str, Any]:
    table = pd.DataFrame(found)
    means = {str(name): round(float(mean), 4) for name, mean in table.mean().items()}
    return {**means, "spread": round(float(table["robust_validity"].std(ddof=0)), 4)}
