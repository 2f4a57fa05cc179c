"""What a job about promises does: fits who promises and who judges, and measures what is told."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rocourse.datasets import load, load_local
from rocourse.estimators import METHODS, RoCoursePanel, VanillaCF, oracle
from rocourse.evaluation import (
    Asked,
    Plausibility,
    accuracy,
    ask,
    common_judges,
    fit_seed,
    score_asked,
    score_sense,
    split,
)
from rocourse.experiments._tuning import versions
from rocourse.experiments.reproduction._development_tables import (
    GOOD,
    TABLES,
    TARGET,
    DevelopmentTable,
    read_table,
)
from rocourse.experiments.reproduction._jobs import as_parameters
from rocourse.experiments.reproduction._rows import at_most
from rocourse.models import PlainTrainer, Trainer
from rocourse.recourse import PanelProposer
from rocourse.schema import Recourse, Schema

SAMPLED_LEVEL = 0.95
"""The level at which some recourses are kept to be read."""

# With the lender's refused test rows: more of them sharpen a share little.
_ASKED = 300
# Of each job; a data set has five jobs or more.
_SAMPLES = 4
# Methods that are compared on the same rows have these judges in common.
_JUDGES_AT_HAND = 8


class LocalTables(NamedTuple):
    """Tables of a folder, with what may not change."""

    subsets: tuple[str, ...]
    immutable: tuple[str, ...]
    increase_only: tuple[str, ...] = ()


LOCAL = {
    "acs": LocalTables(
        ("MA", "MS", "PR"),
        ("age", "sex", "race", "born", "marital", "relation"),
        ("schooling",),
    ),
    "heart": LocalTables(("cleveland", "hungary", "va"), ("age", "sex", "cp", "restecg")),
}


class _Data(NamedTuple):
    schema: Schema
    target: str
    subsets: Mapping[str, pd.DataFrame]


class _Rows(NamedTuple):
    """Which rows a model is trained on: hashable, so that models of the same can be found again."""

    dataset: str
    subsets: tuple[str, ...]
    most: int | None
    seed: int

    def parts(self) -> tuple[list[pd.DataFrame], list[pd.DataFrame]]:
        """Training and test rows of each subset."""
        data = _load(self.dataset)
        found = [
            split(
                at_most(data.subsets[name], self.most, self.seed),
                data.target,
                seed=self.seed,
            )
            for name in self.subsets
        ]
        return [train for train, _ in found], [test for _, test in found]

    def train(self) -> tuple[pd.DataFrame, "pd.Series[Any]"]:
        """All training rows, and their labels."""
        rows = pd.concat(self.parts()[0], ignore_index=True)
        target = _load(self.dataset).target
        return rows.drop(columns=target), rows[target]


def judge_promises(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What each level comes to; of methods that promise nothing, what they are worth as they are.

    The oracle, a plain network and samples stand beside methods that promise.
    """
    data, seed = _load(inputs["dataset"]), inputs["seed"]
    known = _Rows(inputs["dataset"], tuple(inputs["known"]), inputs.get("rows"), seed)
    X, y = known.train()
    parts, tests = known.parts()
    groups = np.repeat(np.arange(len(parts)), list(map(len, parts))) if len(parts) > 1 else None
    test = pd.concat(tests[-1:] if inputs["protocol"] == "rolling" else tests, ignore_index=True)
    rows = test.drop(columns=data.target)

    levels = inputs["levels"]
    options = as_parameters(inputs["options"]) | ({"kept": max(levels)} if levels else {})
    model: Any = METHODS[inputs["method"]](
        data.schema, random_state=fit_seed(seed, "promises"), **options
    )
    # Others than ours learn nothing from groups.
    model.fit(X, y, groups=groups)
    predicted = model.predict(rows)
    favourable = model.schema_.target.wanted()
    refused = at_most(rows[predicted != favourable], _ASKED, seed)
    record = {
        "protocol": inputs["protocol"],
        "seed": seed,
        "asked": len(refused),
        "accuracy": accuracy(test[data.target], predicted),
        "versions": versions(),
    }
    if levels:
        plain = _own(known, "plain", PlainTrainer())
        record["plain_accuracy"] = accuracy(test[data.target], plain.predict(rows))
        record["subset"] = inputs["subset"]
    if refused.empty:
        # A model that grants everybody something breaks no promise, and makes none.
        return {**record, "levels": {}, "oracle": None, "samples": []}
    judges = _all_judges(inputs, known, model.trainer_)
    accepted = X[y == favourable]
    reference = Plausibility.fit(data.schema, X, y)

    def told(asked: Asked) -> dict[str, Any]:
        """What people are told at one level, and what becomes of it."""
        return {
            **score_asked(asked, judges).to_dict(),
            "sense": {
                "promises": score_sense(asked.promises, reference, accepted).to_dict(),
                "advice": score_sense(asked.advice, reference, accepted).to_dict(),
            },
        }

    if not levels:
        return {**record, "levels": {"none": told(ask(model, refused))}}
    own = [judge for name, judge in judges.items() if name.startswith("own ")]
    foretold = ask(_oracle(data, X, y, model, own, seed), refused)
    by_level = {level: ask(model.promising(level), refused) for level in levels}
    return {
        **record,
        "levels": {
            f"{level:g}": {**told(asked), "beside_oracle": _beside(asked, foretold, own)}
            for level, asked in by_level.items()
        },
        "oracle": score_asked(foretold, judges).to_dict(),
        "samples": _samples(by_level[SAMPLED_LEVEL], seed),
    }


def _all_judges(inputs: Mapping[str, Any], known: _Rows, trainer: Trainer) -> dict[str, Any]:
    """Models of what comes next: of the method's own kind, and common ones."""
    judges: dict[str, Any] = {}
    for name in inputs["new"]:
        alone = known._replace(subsets=(name,))
        if inputs["protocol"] == "subset":
            judges |= {f"own {name}": _own(alone, name, trainer), **_common(alone, name)}
        else:
            both = known._replace(subsets=(*known.subsets, name))
            judges |= {
                "own retrained": _own(both, "retrained", trainer),
                **_common(both, "retrained"),
                "alone": _own(alone, "alone", trainer),
            }
    return judges


@lru_cache(maxsize=_JUDGES_AT_HAND)
def _common(rows: _Rows, name: str) -> dict[str, Any]:
    """A plain network, boosted trees and a logistic regression."""
    X, y = rows.train()
    others = {
        f"{kind} {name}": fit(X, y, fit_seed(rows.seed, name))
        for kind, fit in common_judges(_load(rows.dataset).schema).items()
    }
    return {f"network {name}": _own(rows, f"network {name}", PlainTrainer()), **others}


def _own(rows: _Rows, name: str, trainer: Trainer) -> VanillaCF:
    """A model as a trainer makes it; its recourses are of no use here."""
    seed = fit_seed(rows.seed, f"judge {name}")
    model = VanillaCF(_load(rows.dataset).schema, trainer=trainer, random_state=seed)
    return model.fit(*rows.train())


def _oracle(
    data: _Data,
    X: pd.DataFrame,
    y: "pd.Series[Any]",
    model: Any,
    judges: Sequence[VanillaCF],
    seed: int,
) -> Any:
    """Who promises what the judges of the model's own kind are known to keep."""
    panel = RoCoursePanel(
        data.schema, model=model, proposer=PanelProposer(members=1), random_state=seed
    )
    return oracle(panel.fit(X, y), judges)


def _beside(asked: Asked, foretold: Asked, judges: Sequence[VanillaCF]) -> dict[str, Any]:
    """Promises to those for whom the oracle finds what all judges keep, and what both ask."""
    attempts = foretold.promises.attempted()
    kept = np.ones(len(attempts), dtype=bool)
    for judge in judges if len(attempts) else ():
        kept &= judge.predict(attempts) == foretold.promises.desired
    reached = foretold.promises[np.flatnonzero(kept)]
    both = reached.original.index.intersection(asked.promises.original.index)
    ours, theirs = (_of(recourse, both) for recourse in (asked.promises, reached))
    return {
        "reached": len(reached),
        "promised": len(both),
        "proximity": _mean_cost(ours),
        "oracle_proximity": _mean_cost(theirs),
    }


def _of(recourse: Recourse, rows: "pd.Index[Any]") -> Recourse:
    return recourse[np.flatnonzero(recourse.original.index.isin(rows))]


def _mean_cost(recourse: Recourse) -> float | None:
    return float(recourse.proximity.mean()) if len(recourse) else None


def _samples(asked: Asked, seed: int) -> list[dict[str, Any]]:
    """Some of the promises to be read; where there are none, of the rest."""
    shown = asked.promises if len(asked.promises) else asked.advice
    count = min(_SAMPLES, len(shown))
    drawn = shown[np.random.default_rng(seed).permutation(len(shown))[:count]]
    return [
        {"changes": changes, "proximity": float(cost), "promised": bool(status == "found")}
        for changes, cost, status in zip(
            drawn.descriptions(), drawn.proximity, drawn.status, strict=True
        )
    ]


@lru_cache(maxsize=2)
def _load(name: str) -> _Data:
    if name in LOCAL:
        return _inferred(LOCAL[name], load_local(name, LOCAL[name].subsets))
    if name in TABLES:
        return _inferred(TABLES[name], read_table(name))
    dataset = load(name)
    return _Data(dataset.actionable_schema, dataset.target, dataset.subsets)


def _inferred(known: LocalTables | DevelopmentTable, subsets: Mapping[str, pd.DataFrame]) -> _Data:
    """Tables of which nothing is known but what may change."""
    schema = Schema.infer(
        pd.concat(subsets.values(), ignore_index=True),
        target=TARGET,
        favourable=GOOD,
        immutable=known.immutable,
        increase_only=known.increase_only,
    )
    return _Data(schema, TARGET, subsets)
