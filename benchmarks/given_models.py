"""Advice for models that a lender already has, judged by refits of the same kind on other rows.

    python benchmarks/given_models.py [--data loan acs heart] [--family xgboost …] [--seeds 0]
    python benchmarks/given_models.py --show docs/results/given-models.jsonl

A model of each family decides, refused applicants among its test rows are advised under the
constraints that sensible advice has to respect, and models of the same family judge: loan 2004 by
those of 2005 to 2009, each subset of ACS (states) and heart (hospitals) by those of the others.
Common judges (a network, gradient boosting, logistic regression of the same other rows) stand
beside. DiCE runs in an environment of its own, which the first run makes. Slow methods are asked
about the first of the rows. Times are those of the processor, a recourse in a batch.
"""

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np
import pandas as pd
from _dice_run import dice_recourses
from _given_families import families
from _relax_env import CannotRunError

from rocourse import METHODS, Schema, datasets
from rocourse.evaluation import common_judges, split
from rocourse.models import PlainTrainer
from rocourse.models.adapters import adapt
from rocourse.schema import one_hot

# Where a data set's models decide, and by whom they are judged: None for all others.
DECIDERS: Mapping[str, tuple[str, ...]] = {
    "loan": ("2004",),
    "acs": ("MA", "MS", "PR"),
    "heart": ("cleveland", "hungary", "va"),
}
LATER = tuple(str(year) for year in range(2005, 2010))
# What sensible advice on tables without a schema of their own may not change.
LIMITS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "acs": {
        "immutable": ("age", "sex", "race", "born", "marital", "relation"),
        "increase_only": ("schooling",),
    },
    "heart": {"immutable": ("age", "sex", "cp", "restecg")},
}
TARGET, GOOD = "y", "good"
KEPT = (0.5, 0.8, 0.95, 0.99)
OTHERS = ("vanillacf", "roar", "rbr")
SHARED = ("kept", "common", "cost")
BATCH = 1000
# Of the refused, those that slow methods are asked about.
SLOW = {"vanillacf": 50, "dice": 20}


class Data(NamedTuple):
    """A table in parts."""

    schema: Schema
    target: str
    favourable: Any
    subsets: Mapping[str, pd.DataFrame]


class Judged(NamedTuple):
    """Who asks and who judges."""

    rows: pd.DataFrame
    own: list[Any]
    common: dict[str, list[Any]]


def main() -> int:
    """Prints a line a method, and what there is of them together."""
    parser = argparse.ArgumentParser(description="Advice for models that are given.")
    parser.add_argument("--data", nargs="+", default=list(DECIDERS), help="loan, acs:MA, …")
    parser.add_argument(
        "--family", nargs="+", default=["xgboost", "boosting", "forest", "logistic"]
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--asked", type=int, default=200, help="refused applicants (200)")
    parser.add_argument("--no-dice", action="store_true", help="leave DiCE out")
    parser.add_argument("--json", type=Path, help="also write the figures there, a line each")
    parser.add_argument("--show", type=Path, help="print the figures of such a file, and no more")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.show is not None:
        _, *stored = map(json.loads, asked.show.read_text().splitlines())
        print_table(stored)
        return 0
    header = {
        "format": "rocourse-benchmarks",
        "version": 1,
        "command": "python benchmarks/given_models.py " + " ".join(sys.argv[1:]),
        "versions": {name: version(name) for name in ("rocourse", "scikit-learn", "numpy")},
    }
    lines = []
    print_table([])
    for where in asked.data:
        name, _, part = where.partition(":")
        data = load(name)
        for decider in [part] if part else DECIDERS[name]:
            for seed in asked.seeds:
                for family in asked.family:
                    for line in measure(data, name, decider, family, seed, asked):
                        lines.append(line)
                        print(shown(line), flush=True)
                        if asked.json is not None:
                            text = "\n".join(map(json.dumps, [header, *lines]))
                            asked.json.write_text(text + "\n")
    print_sentences(lines)
    return 0


def print_table(lines: list[dict[str, Any]]) -> None:
    """The head of the table, and lines that are known."""
    print("| data | family | method | n | valid | kept | worst | common | worst | cost | ms |")
    print("|" + "---|" * 11)
    for line in lines:
        print(shown(line))
    print_sentences(lines)


def print_sentences(lines: list[dict[str, Any]]) -> None:
    """What the lines say together."""
    for sentence in (*compared(lines), *fast(lines)):
        print(sentence)


def load(name: str) -> Data:
    """The table, with realistic constraints."""
    if name == "loan":
        table = datasets.load(name, subsets=[*DECIDERS[name], *LATER])
        schema = table.actionable_schema
        return Data(schema, table.target, schema.target.favourable, table.subsets)
    subsets = datasets.load_local(name, DECIDERS[name])
    rows = pd.concat(subsets.values(), ignore_index=True)
    schema = Schema.infer(rows, target=TARGET, favourable=GOOD, **LIMITS[name])
    return Data(schema, TARGET, GOOD, subsets)


def measure(
    data: Data, name: str, decider: str, family: str, seed: int, asked: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """The figures of one model."""
    schema, target = data.schema, data.target
    groups = [feature.name for feature in schema.categorical]
    numbers = [feature.name for feature in schema.continuous]
    make = families(groups, numbers)[family]

    def fitted(rows: pd.DataFrame) -> Any:
        return make().fit(rows.drop(columns=target), granted(rows))

    def granted(rows: pd.DataFrame) -> Any:
        return (rows[target] == data.favourable).astype(int)

    parts = {subset: split(rows, target, seed=seed) for subset, rows in data.subsets.items()}
    train, test = parts[decider]
    others = [parts[subset][0] for subset in parts if subset != decider]
    model, rows = fitted(train), test.drop(columns=target)
    refused = rows[model.predict(rows) == 0]
    refused = refused.sample(min(len(refused), asked.asked), random_state=seed)
    fits = {"network": fit_network(schema), **common_judges(schema)}
    common = {
        kind: [fit(part.drop(columns=target), part[target], seed) for part in others]
        for kind, fit in fits.items()
    }
    judges = Judged(refused, [fitted(part) for part in others], common)
    said = {"data": f"{name} {decider}", "family": family, "seed": seed}
    (other,) = (label for label in schema.target.classes if label != data.favourable)
    given = adapt(model, schema, classes=[other, data.favourable])
    labelled = train.drop(columns=target), train[target]

    advisor = METHODS["rocourse"](schema, model=given, random_state=seed, proposer__kept=max(KEPT))
    advisor.fit(*labelled)
    ours = []
    for kept in KEPT:
        promising = advisor.promising(kept)
        line, each = asked_about(promising, f"rocourse {kept}", judges, model, data)
        ours.append(each)
        yield said | line
    for method in OTHERS:
        explainer = METHODS[method](schema, model=given, random_state=seed).fit(*labelled)
        few = judges._replace(rows=refused[: SLOW.get(method)])
        line, each = asked_about(explainer, method, few, model, data)
        yield said | line | same_applicants(each, ours)
    if asked.no_dice:
        return
    few = judges._replace(rows=refused[: SLOW["dice"]])
    label = "granted"
    shown = train.drop(columns=target).assign(**{label: granted(train)})
    probable = model.predict_proba(few.rows)[:, 1]
    try:
        found, release = dice_recourses(schema, shown, few.rows, family, label, probable)
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return
    for method, (proposed, seconds) in found.items():
        starts, attempts = (
            few.rows.iloc[proposed.index],
            proposed.set_index(few.rows.index[proposed.index]),
        )
        line, each = judged(starts, attempts, few, model, schema)
        yield (
            said
            | {"method": f"dice {method}", "version": release}
            | line
            | same_applicants(each, ours)
            | {"ms": 1e3 * float(seconds.mean())}
        )


def fit_network(schema: Schema) -> Callable[[pd.DataFrame, Any, int], Any]:
    """How a plain network is trained that judges."""

    def fit(X: pd.DataFrame, y: Any, seed: int) -> Any:
        return METHODS["vanillacf"](schema, trainer=PlainTrainer(), random_state=seed).fit(X, y)

    return fit


def asked_about(
    advisor: Any, method: str, judges: Judged, model: Any, data: Data
) -> tuple[dict[str, Any], pd.DataFrame]:
    """What a method of ours comes to; the first call, which compiles, is not timed."""
    advisor.recourse(judges.rows[:2], desired=data.favourable)
    start = time.process_time()
    recourse = advisor.recourse(judges.rows, desired=data.favourable)
    seconds = time.process_time() - start
    advised = np.flatnonzero(recourse.advised)
    attempts = recourse.attempted().iloc[advised]
    line, each = judged(judges.rows.iloc[advised], attempts, judges, model, data.schema)
    line |= {"method": method, "ms": 1e3 * seconds / len(judges.rows)}
    if advisor.proposer_.promises:
        line["promised"] = float((recourse.status == "found").mean())
        line |= speed(advisor, judges.rows, data.favourable)
    return line, each


def speed(advisor: Any, rows: pd.DataFrame, wanted: Any) -> dict[str, float]:
    """Milliseconds of the processor: a recourse of a batch of 1,000, and one applicant."""
    batch = rows.sample(BATCH, replace=True, random_state=0)
    start = time.process_time()
    advisor.recourse(batch, desired=wanted)
    whole = time.process_time() - start
    single = []
    for row in rows[:20].to_dict("records"):
        start = time.process_time()
        advisor.recourse_one(row, desired=wanted)
        single.append(time.process_time() - start)
    return {"batch_ms": 1e3 * whole / BATCH, "one_ms": 1e3 * float(np.median(single))}


def judged(
    starts: pd.DataFrame, attempts: pd.DataFrame, judges: Judged, model: Any, schema: Schema
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Shares of the valid attempts that judges keep, on average and of the worst judge; cost.

    And the same of each applicant whose attempt is valid.
    """
    valid = model.predict(attempts) == 1 if len(attempts) else np.zeros(0, bool)
    starts, attempts = starts[valid], attempts[valid]
    line: dict[str, Any] = {"n": len(judges.rows), "valid": len(attempts) / len(judges.rows)}
    if not len(attempts):
        return line, pd.DataFrame(columns=list(SHARED))
    good = schema.target.favourable
    own = np.array([judge.predict(attempts) for judge in judges.own])
    unchanged = [float(judge.predict(starts).mean()) for judge in judges.own]
    common = np.array(
        [judge.predict(attempts) == good for kind in judges.common.values() for judge in kind]
    )
    encoded = [one_hot(schema.encode(rows), schema.layout) for rows in (starts, attempts)]
    cost = np.abs(encoded[1] - encoded[0]).sum(axis=1)
    figures = (own.mean(axis=0), common.mean(axis=0), cost)
    each = pd.DataFrame(dict(zip(SHARED, figures, strict=True)), index=starts.index)
    return line | {
        "kept": float(own.mean()),
        "worst": float(own.mean(axis=1).min()),
        "common": float(common.mean()),
        "common_worst": float(common.mean(axis=1).min()),
        "unchanged": float(np.mean(unchanged)),
        "cost": float(cost.mean()),
    }, each


def same_applicants(theirs: pd.DataFrame, ours: list[pd.DataFrame]) -> dict[str, Any]:
    """A method and RoCourse at each share, of applicants who have valid advice from all."""
    both = theirs.index
    for each in ours:
        both = both.intersection(each.index)
    if not len(both):
        return {}
    means = [each.loc[both].mean().to_dict() for each in (theirs, *ours)]
    return {"same": {"n": len(both), "theirs": means[0], "ours": means[1:]}}


def shown(line: Mapping[str, Any]) -> str:
    """A line of the table."""
    names = ("kept", "worst", "common", "common_worst")
    figures = [f"{line[name]:.3f}" if name in line else "–" for name in names]
    cost = f"{line['cost']:.2f}" if "cost" in line else "–"
    head = (line["data"], line["family"], line["method"], line["n"], f"{line['valid']:.0%}")
    return "| " + " | ".join(map(str, [*head, *figures, cost, f"{line['ms']:.1f}"])) + " |"


def compared(lines: list[dict[str, Any]]) -> Iterator[str]:
    """Each other method beside RoCourse at equal cost, between the shares that were asked for.

    Of the same applicants, where that is known: who is hard to advise has no advice from methods
    that find little.
    """
    rocourse: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    found: dict[str, dict[str, list[float]]] = {}
    for line in lines:
        key = (line["data"], line["family"], line["seed"])
        if line["method"].startswith("rocourse"):
            rocourse.setdefault(key, []).append(line)
            continue
        leads = found.setdefault(line["method"], {"kept": [], "common": [], "cheaper": []})
        same = line.get("same", {"theirs": line, "ours": rocourse[key]})
        theirs, ours = same["theirs"], sorted(same["ours"], key=lambda one: one["cost"])
        if "cost" not in theirs:
            continue
        costs = [one["cost"] for one in ours]
        if theirs["cost"] < costs[0]:
            leads["cheaper"].append(ours[0]["kept"] - theirs["kept"])
            continue
        for what in ("kept", "common"):
            told = np.interp(theirs["cost"], costs, [one[what] for one in ours])
            leads[what].append(float(told) - theirs[what])
    for method, leads in found.items():
        parts = [
            f"{sum(lead >= 0.0 for lead in leads[what])} of {len(leads[what])} {words}"
            for what, words in (
                ("kept", "at equal cost by the same family"),
                ("common", "by common judges"),
                ("cheaper", "where it is cheaper than any RoCourse, beside RoCourse's cheapest"),
            )
        ]
        yield f"RoCourse keeps as much as {method} or more in {', '.join(parts)}."


def fast(lines: list[dict[str, Any]]) -> Iterator[str]:
    """How long RoCourse takes, beside DiCE's genetic method for the same model."""
    genetic = {
        (line["data"], line["family"], line["seed"]): line["ms"]
        for line in lines
        if line["method"] == "dice genetic"
    }
    for line in lines:
        if "one_ms" in line:
            theirs = genetic.get((line["data"], line["family"], line["seed"]))
            times = (
                "" if theirs is None else f", {theirs / line['batch_ms']:.0f} times DiCE's speed"
            )
            yield (
                f"{line['data']} {line['family']} {line['method']}: {line['batch_ms']:.1f} ms a "
                f"recourse of {BATCH}{times}; {line['one_ms']:.1f} ms for one applicant."
            )


if __name__ == "__main__":
    sys.exit(main())
