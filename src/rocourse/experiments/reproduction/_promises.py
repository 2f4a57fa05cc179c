"""Promises judged by what comes next: jobs, work, and what is shown of them.

Three protocols. `rolling`: a model of all periods up to one promises to the refused of that period;
the model retrained with the next period judges. `groups`: a model of all subsets but one promises
to their refused; the model retrained with the last one judges. `subset`: a model of one subset,
without a look at any other, promises; models of each other subset judge.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rocourse.datasets import list_datasets, load, load_local
from rocourse.estimators import METHODS, RoCoursePanel, VanillaCF, oracle
from rocourse.evaluation import accuracy, common_judges, fit_seed, score_promises, split
from rocourse.experiments._tuning import versions
from rocourse.experiments.reproduction._jobs import Job, as_parameters
from rocourse.experiments.reproduction._results import Results
from rocourse.experiments.reproduction._rows import at_most
from rocourse.experiments.reproduction._scales import Scale
from rocourse.models import PlainTrainer
from rocourse.recourse import PanelProposer
from rocourse.reports import Part, PromiseLine, judge_table, promise_parts
from rocourse.schema import Schema

LEVELS = (0.8, 0.9, 0.95, 0.99)
# With the lender's refused test rows: more of them sharpen a share little.
_ASKED = 300
_GOOD = "good"


class _Local(NamedTuple):
    """Tables of a folder, with what may not change."""

    subsets: tuple[str, ...]
    immutable: tuple[str, ...]
    increase_only: tuple[str, ...] = ()


_LOCAL = {
    "acs": _Local(
        ("MA", "MS", "PR"),
        ("age", "sex", "race", "born", "marital", "relation"),
        ("schooling",),
    ),
    "heart": _Local(("cleveland", "hungary", "va"), ("age", "sex", "cp", "restecg")),
}
_LOAN = tuple(next(info.subsets for info in list_datasets() if info.name == "loan"))
_YEARS = ("1999", "2004", "2009")


class _Data(NamedTuple):
    schema: Schema
    target: str
    subsets: Mapping[str, pd.DataFrame]


def promise_jobs(scale: Scale) -> list[Job]:
    """Our own method at all levels, in all protocols."""
    jobs = [job for _, jobs in _lines(scale) for job in jobs]
    return sorted(jobs, key=lambda job: int(job.inputs["seed"]))


def show_promises(scale: Scale, results: Results) -> list[Part]:
    """Stated against kept."""
    lines = [
        PromiseLine(*title, [results[job] for job in jobs if job in results])
        for title, jobs in _lines(scale)
    ]
    return promise_parts(lines, LEVELS)


def judge_jobs(scale: Scale) -> list[Job]:
    """Our own method and others with their defaults, on the same rows and judges."""
    return [job for *_, jobs in _compared(scale) for job in jobs]


def show_judges(scale: Scale, results: Results) -> list[Part]:
    """What judges of three kinds keep."""
    return [
        judge_table(
            [
                PromiseLine(method, dataset, [results[job] for job in jobs if job in results])
                for method, dataset, jobs in _compared(scale)
            ],
            LEVELS,
        )
    ]


def _compared(scale: Scale) -> list[tuple[str, str, list[Job]]]:
    return [
        (
            method,
            dataset,
            [
                _job("subset", dataset, (name,), others, seed, method, rows)
                for seed in range(seeds)
                for name, others in _each(subsets)
            ],
        )
        for dataset, subsets, rows, seeds in _singles(scale)
        for method in ("counternet", "rocoursenet", "roar", "rbr", "rocourse")
    ]


def _lines(scale: Scale) -> list[tuple[tuple[str, str], list[Job]]]:
    small = scale.name == "quick"
    seeds, loan_seeds, loan_rows = (1, 1, 1500) if small else (5, 3, 1500)
    years = _LOAN[:3] if small else _LOAN
    lines = [
        (
            ("rolling", "loan"),
            [
                _job(
                    "rolling",
                    "loan",
                    years[: place + 1],
                    (years[place + 1],),
                    seed,
                    "rocourse",
                    loan_rows,
                )
                for seed in range(loan_seeds)
                for place in range(len(years) - 1)
            ],
        )
    ]
    for dataset, known in _LOCAL.items():
        jobs = [
            _job("groups", dataset, others, (name,), seed, "rocourse", None)
            for seed in range(seeds)
            for name, others in _each(known.subsets)
        ]
        lines.append((("groups", dataset), jobs))
    for dataset, subsets, rows, count in _singles(scale):
        jobs = [
            _job("subset", dataset, (name,), others, seed, "rocourse", rows)
            for seed in range(count)
            for name, others in _each(subsets)
        ]
        lines.append((("subset", dataset), jobs))
    return lines


def _singles(scale: Scale) -> list[tuple[str, tuple[str, ...], int | None, int]]:
    """Data set, subsets, most rows of each, and seeds."""
    small = scale.name == "quick"
    seeds, loan_seeds = (1, 1) if small else (5, 3)
    return [
        ("german_credit", ("org", "upt"), None, seeds),
        ("student", ("gp", "ms"), None, seeds),
        ("loan", _YEARS, 1500 if small else 3000, loan_seeds),
        *((name, known.subsets, None, seeds) for name, known in _LOCAL.items()),
    ]


def _each(names: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    return [(name, tuple(other for other in names if other != name)) for name in names]


def _job(
    protocol: str,
    dataset: str,
    known: Sequence[str],
    new: Sequence[str],
    seed: int,
    method: str,
    rows: int | None,
) -> Job:
    inputs = {
        "protocol": protocol,
        "dataset": dataset,
        "subset": f"{known[-1]} → {'+'.join(new)}" if protocol != "subset" else known[0],
        "known": tuple(known),
        "new": tuple(new),
        "seed": seed,
        "method": method,
        "options": {},
        "levels": LEVELS if method == "rocourse" else (),
    }
    return Job("promises", inputs if rows is None else {**inputs, "rows": rows})


def judge_promises(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Fits who promises and who judges, and what each level comes to."""
    data = _load(inputs["dataset"])
    seed, protocol = inputs["seed"], inputs["protocol"]
    parts = {
        name: split(at_most(data.subsets[name], inputs.get("rows"), seed), data.target, seed=seed)
        for name in (*inputs["known"], *inputs["new"])
    }
    known = [parts[name][0] for name in inputs["known"]]
    train = pd.concat(known, ignore_index=True)
    asked = inputs["known"][-1:] if protocol == "rolling" else inputs["known"]
    tests = pd.concat([parts[name][1] for name in asked], ignore_index=True)
    groups = np.repeat(np.arange(len(known)), list(map(len, known))) if len(known) > 1 else None

    levels = inputs["levels"] or (None,)
    options = as_parameters(inputs["options"])
    if levels[-1] is not None:
        options["kept"] = levels[-1]
    model: Any = METHODS[inputs["method"]](
        data.schema, random_state=fit_seed(seed, "promises"), **options
    )
    # Others than ours learn nothing from groups.
    model.fit(train.drop(columns=data.target), train[data.target], groups=groups)
    models = {level: model if level is None else model.promising(level) for level in levels}
    first = models[levels[0]]
    rows = tests.drop(columns=data.target)
    refused = rows[first.predict(rows) != first.schema_.target.favourable]
    asked_rows = at_most(refused, _ASKED, seed)
    judges: dict[str, Any] = {}
    for name in inputs["new"]:
        new = parts[name][0]
        if protocol == "subset":
            judges |= _judges(data, new, seed, name, first.trainer_)
        else:
            both = pd.concat([train, new], ignore_index=True)
            judges |= _judges(data, both, seed, "retrained", first.trainer_)
            judges["alone"] = _own(data, new, seed, "alone", first.trainer_)
    own = [judge for name, judge in judges.items() if name.startswith("own ")]
    told = score_promises(_told(data, train, first, own, seed), asked_rows, judges)
    plain = _own(data, train, seed, "plain", PlainTrainer())
    return {
        "protocol": protocol,
        "seed": seed,
        "asked": len(asked_rows),
        "accuracy": accuracy(tests[data.target], first.predict(rows)),
        "plain_accuracy": accuracy(tests[data.target], plain.predict(rows)),
        "levels": {
            "none" if level is None else f"{level:g}": score_promises(
                model, asked_rows, judges
            ).to_dict()
            for level, model in models.items()
        },
        "oracle": told.to_dict(),
        "versions": versions(),
    }


def _judges(data: _Data, rows: pd.DataFrame, seed: int, name: str, trainer: Any) -> dict[str, Any]:
    """The method's own kind of model, and the common judges, trained on rows."""
    X, y = rows.drop(columns=data.target), rows[data.target]
    others = {
        f"{kind} {name}": fit(X, y, fit_seed(seed, name))
        for kind, fit in common_judges(data.schema).items()
    }
    return {
        f"own {name}": _own(data, rows, seed, name, trainer),
        f"network {name}": _own(data, rows, seed, f"network {name}", PlainTrainer()),
        **others,
    }


def _own(data: _Data, rows: pd.DataFrame, seed: int, name: str, trainer: Any) -> VanillaCF:
    """A model as a trainer makes it; its recourses are of no use here."""
    model = VanillaCF(data.schema, trainer=trainer, random_state=fit_seed(seed, f"judge {name}"))
    return model.fit(rows.drop(columns=data.target), rows[data.target])


def _told(data: _Data, train: pd.DataFrame, model: Any, judges: Sequence[Any], seed: int) -> Any:
    """The oracle: who promises what the judges of its own kind are known to keep."""
    panel = RoCoursePanel(
        data.schema, model=model, proposer=PanelProposer(members=1), random_state=seed
    )
    panel.fit(train.drop(columns=data.target), train[data.target])
    return oracle(panel, judges)


@lru_cache(maxsize=2)
def _load(name: str) -> _Data:
    if name in _LOCAL:
        known = _LOCAL[name]
        subsets = load_local(name, known.subsets)
        union = pd.concat(subsets.values(), ignore_index=True)
        schema = Schema.infer(
            union,
            target="y",
            favourable=_GOOD,
            immutable=known.immutable,
            increase_only=known.increase_only,
        )
        return _Data(schema, "y", subsets)
    dataset = load(name)
    return _Data(dataset.actionable_schema, dataset.target, dataset.subsets)
