"""Chooses the settings of RoCoursePanel without a look at the shifts that are reported.

German Credit and Student: a half of each subset's training rows trains the method, the other half
is shifted (two columns relabelled; one side of a cut by a feature) and trains the judges, four of
them, with the same settings. With `_quarter` three quarters train the method, a quarter asks, and
judges train on other three quarters, shifted in the same way; models of half the rows say little
of how accurate those of all are. Test rows and the other subset are not read. Loan: four of the
years up to 2001, each judged by the others' models. Seeds are others than the reported ones. What
the output folder has of a candidate with the same options is not tried again.

    python scripts/choose_panel.py german_credit_quarter student_quarter loan --jobs 2 \\
        --out docs/results/choices
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rocourse import RoCoursePanel, datasets
from rocourse.evaluation import Plausibility, run_subsets, split
from rocourse.schema import Schema

SEEDS = (20, 21, 22)
QUARTER_SEEDS = (20, 21, 22, 23, 24, 25)
LOAN_SEEDS = (20, 21)
LOAN_YEARS = ("1994", "1997", "1999", "2001")
JUDGES = 4
LEAST_ROWS, LEAST_OF_A_CLASS = 60, 8

# A network as the paper has it: of the rows themselves, alone, with its verdicts as trained.
_PAPERS = {"copies": 0, "committee": 1, "balance": 0.0}
# Half of the rows, twice the epochs: as many steps as with all of them.
_GERMAN = {"batch_size": 256, "epochs": 30, "copies": 4, "blur_noise": 0.0, "members": 6}
_THRIFTY = _GERMAN | {"worth": 0.02}
_SCRAMBLED = _THRIFTY | {"scramble": 1.0}
_USUAL = _THRIFTY | {"blur_flip": 0.5, "typicality": 0.9, "rarest": 0.1}
# Three quarters of the rows: the epochs that all of them have.
_QUARTER = _THRIFTY | {"epochs": 15, "typicality": 0.9}
_QUARTER_USUAL = _QUARTER | {"committee": 6, "rarest": 0.1}
_AS_TRAINED = _QUARTER_USUAL | {
    "epochs": 20,
    "blur_jitter": 0.1,
    "blur_flip": 0.2,
    "balance": 0.0,
}
_NEIGHBOURLY = _USUAL | {"blur_jitter": 0.2, "blur_flip": 0.2, "committee": 6, "balance": 0.7}
_STUDENT = {
    "encoder_widths": (50, 10),
    "head_widths": (10,),
    "learning_rate": 0.01,
    "epochs": 30,
    "copies": 4,
    "blur_noise": 0.0,
}
_TYPICAL = _STUDENT | {"blur_flip": 0.3, "typicality": 0.8, "members": 8, "flip": 0.2}
_SMOOTH = _TYPICAL | {"blur_jitter": 0.3, "blur_noise": 0.2}
_SMOOTH_SIX = _SMOOTH | {"committee": 6, "typicality": 0.9}
_QUARTER_SMOOTH = _SMOOTH_SIX | {"epochs": 15}
_LOAN = {"encoder_widths": (200, 10), "head_widths": (10,), "epochs": 8}
_STEADIER = _LOAN | {"evenness": 0.7, "committee": 6, "members": 4, "typicality": (0.9, 0.5)}
_EVEN = _LOAN | {"novelty": 1.0, "evenness": 1.0}
_ALONE = _EVEN | {"members": 1, "typicality": (0.9, 0.6), "worth": 0.03}
_DROPPED = _ALONE | {"committee": 6, "dropout": 0.5, "blur_flip": 0.05}
CANDIDATES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "german_credit": {
        "paper's model": _GERMAN | {"epochs": 100, **_PAPERS},
        "no blur": _SCRAMBLED | {"blur_flip": 0.0},
        "blur .3": _SCRAMBLED | {"blur_flip": 0.3},
        "blur .5": _SCRAMBLED | {"blur_flip": 0.5},
        "typical .9": _SCRAMBLED | {"blur_flip": 0.5, "typicality": 0.9},
        "no scramble": _THRIFTY | {"blur_flip": 0.5, "typicality": 0.9},
        "blur .3, no scramble": _THRIFTY | {"blur_flip": 0.3, "typicality": 0.9},
        "blur .3, typical .95": _THRIFTY | {"blur_flip": 0.3, "typicality": 0.95},
        "rarest .05": _USUAL | {"rarest": 0.05},
        "rarest .1": _USUAL,
        "rarest .1, blur .4": _USUAL | {"blur_flip": 0.4},
        "rarest .1, committee 6": _USUAL | {"committee": 6},
        "rarest .1, committee 6, blur .3": _USUAL | {"committee": 6, "blur_flip": 0.3},
        "rarest .1, committee 6, blur .4": _USUAL | {"committee": 6, "blur_flip": 0.4},
        "jitter .2, blur .2": _NEIGHBOURLY | {"committee": 3, "rarest": 0.002, "balance": 1.0},
        "jitter .2, blur .2, the model alone": _NEIGHBOURLY | {"members": 1},
        "jitter .2, blur .2, committee 6, balance .7": _NEIGHBOURLY,
    },
    "german_credit_quarter": {
        "paper's model": _QUARTER | {"epochs": 50, **_PAPERS, "members": 1},
        "blur .5": _QUARTER | {"blur_flip": 0.5},
        "blur .5, committee 6, rarest .1, balance .5": _QUARTER_USUAL
        | {"blur_flip": 0.5, "balance": 0.5},
        "blur .6, committee 6, rarest .1, balance .5, 10 epochs": _QUARTER_USUAL
        | {"blur_flip": 0.6, "balance": 0.5, "epochs": 10},
        "blur .4, committee 6, rarest .1, balance .6, 10 epochs": _QUARTER_USUAL
        | {"blur_flip": 0.4, "balance": 0.6, "epochs": 10},
        "jitter .2, blur .2, committee 6, rarest .1, balance .7": _QUARTER_USUAL
        | {"blur_jitter": 0.2, "blur_flip": 0.2, "balance": 0.7},
        "jitter .1, blur .2, committee 6, rarest .1, as trained, 20 epochs": _AS_TRAINED,
        "jitter .1, blur .3, committee 6, rarest .1, as trained, 20 epochs": _AS_TRAINED
        | {"blur_flip": 0.3},
        "jitter .1, blur .2, committee 12, rarest .1, as trained, 20 epochs": _AS_TRAINED
        | {"committee": 12},
    },
    "student": {
        "paper's model": _STUDENT | {"epochs": 100, **_PAPERS},
        "blur .3": _STUDENT | {"blur_flip": 0.3},
        "typical .7": _STUDENT | {"blur_flip": 0.3, "typicality": 0.7, "members": 8, "flip": 0.2},
        "typical .8": _TYPICAL,
        "noise .2": _TYPICAL | {"blur_noise": 0.2},
        "novelty": _TYPICAL | {"blur_noise": 0.2, "novelty": 1.0},
        "jitter .15": _TYPICAL | {"blur_jitter": 0.15},
        "jitter .15, noise .2": _SMOOTH | {"blur_jitter": 0.15},
        "jitter .3": _TYPICAL | {"blur_jitter": 0.3},
        "jitter .3, noise .2": _SMOOTH,
        "jitter .3, noise .2, typical .9": _SMOOTH | {"typicality": 0.9},
        "jitter .3, noise .2, committee 6": _SMOOTH | {"committee": 6},
        "jitter .3, noise .2, committee 6, typical .9": _SMOOTH_SIX,
        "jitter .3, noise .2, committee 6, typical .95": _SMOOTH_SIX | {"typicality": 0.95},
        "jitter .3, noise .2, committee 6, typical .9, rarest .05": _SMOOTH_SIX | {"rarest": 0.05},
        "jitter .3, noise .2, committee 6, typical .9, rarest .1": _SMOOTH_SIX | {"rarest": 0.1},
        "jitter .3, noise .2, committee 12, typical .9": _SMOOTH_SIX | {"committee": 12},
        "jitter .3, noise .2, blur .5, committee 6, typical .9": _SMOOTH_SIX | {"blur_flip": 0.5},
        "jitter .3, noise .2, dropout .5, committee 6, typical .9": _SMOOTH_SIX | {"dropout": 0.5},
    },
    "student_quarter": {
        "committee 6, typical .9": _QUARTER_SMOOTH,
        "committee 6, typical .95": _QUARTER_SMOOTH | {"typicality": 0.95},
        "committee 6, typical .9, worth .006": _QUARTER_SMOOTH | {"worth": 0.006},
        "committee 6, typical .9, worth .005": _QUARTER_SMOOTH | {"worth": 0.005},
        "committee 6, typical .8": _QUARTER_SMOOTH | {"typicality": 0.8},
        "committee 6, typical .9, rarest .05": _QUARTER_SMOOTH | {"rarest": 0.05},
        "committee 6, typical .9, rarest .1": _QUARTER_SMOOTH | {"rarest": 0.1},
        "committee 6, typical .8, rarest .08": _QUARTER_SMOOTH
        | {"typicality": 0.8, "rarest": 0.08},
        "committee 6, typical .85, rarest .08": _QUARTER_SMOOTH
        | {"typicality": 0.85, "rarest": 0.08},
        "committee 6, typical .8, rarest .1": _QUARTER_SMOOTH | {"typicality": 0.8, "rarest": 0.1},
        "paper's model": _QUARTER_SMOOTH | {"epochs": 50, **_PAPERS},
    },
    "loan": {
        "paper's model": _LOAN | {"epochs": 50, **_PAPERS},
        "blur .2": _LOAN,
        "refusals typical .9": _LOAN | {"typicality": (0.9, 0.6)},
        "even .7, blur .4": _STEADIER | {"blur_flip": 0.4},
        "even .7, blur .5": _STEADIER | {"blur_flip": 0.5},
        "refusals typical .95": _STEADIER | {"blur_flip": 0.5, "typicality": (0.95, 0.5)},
        "novelty": _LOAN | {"novelty": 1.0},
        "even novelty": _EVEN,
        "even novelty, jitter .14": _EVEN
        | {"jitter": 0.14, "typicality": (0.8, 0.6), "worth": 0.03},
        "the model alone": _ALONE,
        "dropout .5": _DROPPED,
        "dropout .5, noise .2": _DROPPED | {"blur_noise": 0.2},
        "dropout .5, balance .7": _DROPPED | {"balance": 0.7},
        "dropout .5, noise .2, balance .7": _DROPPED | {"blur_noise": 0.2, "balance": 0.7},
        "dropout .5, balance .6, committee 10": _DROPPED | {"balance": 0.6, "committee": 10},
    },
}


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


def parts(
    name: str,
) -> Iterator[tuple[int, datasets.Dataset, pd.DataFrame, pd.DataFrame, list[pd.DataFrame]]]:
    """For each seed and subset: rows to train with, rows to ask for, and the judges' rows."""
    quarter, base = name.endswith("_quarter"), name.removesuffix("_quarter")
    for seed in _seeds(name):
        data, rng = datasets.load(base, seed=seed), np.random.default_rng(seed)
        for frame in data.subsets.values():
            train, _ = split(frame, data.target, seed=seed)
            share = 0.25 if quarter else 0.5
            mine, other = split(train, data.target, seed=seed + 1, test_size=share)
            shifts = []
            for i in range(JUDGES):
                theirs = other
                if quarter:
                    theirs, _ = split(train, data.target, seed=seed + 10 + i, test_size=share)
                shifts.append(
                    cut(theirs, data.schema, data.target, rng)
                    if base == "student"
                    else relabelled(theirs, data.schema, rng)
                )
            yield seed, data, mine, other, shifts


def fit(
    data: datasets.Dataset, rows: pd.DataFrame, seed: int, options: Mapping[str, Any]
) -> RoCoursePanel:
    """A model of the rows."""
    model = RoCoursePanel(schema=data.schema, random_state=seed, **options)
    return model.fit(rows.drop(columns=data.target), rows[data.target])


def by_parts(name: str, options: Mapping[str, Any]) -> list[dict[str, float]]:
    """Robust validity, cost, accuracy and inliers for each seed and subset."""
    found = []
    for seed, data, mine, other, shifts in parts(name):
        model = fit(data, mine, seed, options)
        judges = [fit(data, rows, seed, {**options, "members": 1}) for rows in shifts]
        asked = other.drop(columns=data.target)
        recourse, told = model.recourse(asked), model.predict(asked)
        honoured = [
            judge.predict(recourse.attempted()) == recourse.desired
            for judge in judges
            # As in the protocol: who calls all rows by one name judges nothing.
            if len(np.unique(judge.predict(asked))) > 1
        ]
        usual = Plausibility.fit(data.schema, mine.drop(columns=data.target), mine[data.target])
        found.append(
            {
                "robust_validity": float(np.mean(honoured)),
                "proximity": float(recourse.proximity.mean()),
                "accuracy": float(np.mean(told == other[data.target].to_numpy())),
                "inliers": float(np.nanmean(usual.inliers(recourse))),
            }
        )
    return found


def _fit_subset(
    fresh: Callable[..., RoCoursePanel], _: str, rows: pd.DataFrame, labels: pd.Series, seed: int
) -> RoCoursePanel:
    return fresh(random_state=seed).fit(rows, labels)


def by_years(options: Mapping[str, Any]) -> list[dict[str, float]]:
    """The same for loan's early years."""
    found = []
    for seed in LOAN_SEEDS:
        data = datasets.load("loan", subsets=LOAN_YEARS, seed=seed)
        fresh = partial(RoCoursePanel, schema=data.schema, **options)
        run = run_subsets(data.subsets, data.target, partial(_fit_subset, fresh), seed=seed)
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
    return found


def tried(name: str, options: Mapping[str, Any]) -> list[dict[str, float]]:
    """What a candidate achieves, for each seed (and subset)."""
    return by_years(options) if name == "loan" else by_parts(name, options)


def _seeds(name: str) -> tuple[int, ...]:
    if name == "loan":
        return LOAN_SEEDS
    return QUARTER_SEEDS if name.endswith("_quarter") else SEEDS


def _kept(stored: Path, name: str) -> dict[str, Any]:
    """The stored trials of candidates whose options are still the same."""
    record = json.loads(stored.read_text("utf-8")) if stored.exists() else {}
    if record.get("seeds") != list(_seeds(name)):
        return {}
    trials = {trial["name"]: trial for trial in record["trials"]}
    asked = json.loads(json.dumps(CANDIDATES[name]))
    return {
        title: trial
        for title, trial in trials.items()
        if title in asked and trial["options"] == asked[title]
    }


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Writes what was found as JSON, into a folder that need not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def _store(stored: Path, name: str, trials: Mapping[str, Any]) -> None:
    """Writes what there is so far, in the order of the candidates."""
    ordered = [trials[title] for title in CANDIDATES[name] if title in trials]
    record = {"data": name, "seeds": _seeds(name), "trials": ordered}
    write_record(stored, record)


def main() -> None:
    """Tries all candidates, prints a table and stores it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+", choices=list(CANDIDATES))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1, help="Candidates to try side by side.")
    arguments = parser.parse_args()
    for name in arguments.data:
        stored = arguments.out / f"panel-{name}.json"
        trials = _kept(stored, name)
        fresh = {title: opts for title, opts in CANDIDATES[name].items() if title not in trials}
        # Spawned: a forked process would share the threads of JAX.
        with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
            results = pool.map(tried, [name] * len(fresh), fresh.values())
            for (title, options), found in zip(fresh.items(), results, strict=True):
                table = pd.DataFrame(found)
                means = table.mean().round(4).to_dict()
                spread = round(float(table["robust_validity"].std(ddof=0)), 4)
                trials[title] = {"name": title, "options": options, **means, "spread": spread}
                print(name, title, means, f"± {spread:.3f}", flush=True)
                _store(stored, name, trials)


if __name__ == "__main__":
    main()
