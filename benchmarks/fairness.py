"""What recourse is like for groups of people: ACS income by sex and race, German Credit by age.

    python benchmarks/fairness.py

RoCourse is fitted on two thirds of Massachusetts (ACS) and of German Credit; the others are asked
about, and judged by a model of the same kind of Mississippi, and of German Credit's other version.
"""

import argparse

import numpy as np
import pandas as pd
from rich.console import Console

from rocourse import RoCourse, Schema, datasets
from rocourse.console import fairness_lines
from rocourse.evaluation import fairness


def table(
    title: str,
    rows: pd.DataFrame,
    later: pd.DataFrame,
    target: str,
    schema: Schema,
    by: dict[str, "pd.Series[str]"],
) -> None:
    """Prints the figures of the last third of the rows."""
    assert schema.target is not None
    favourable, cut = schema.target.wanted(), len(rows) * 2 // 3
    train, asked = rows.iloc[:cut], rows.iloc[cut:].drop(columns=target)
    model = RoCourse(schema, random_state=0).fit(train.drop(columns=target), train[target])
    judge = RoCourse(schema, random_state=1).fit(later.drop(columns=target), later[target])
    found = model.recourse(asked, desired=favourable)
    kept = judge.predict(found.attempted()) == favourable
    groups = fairness(found, {name: column.iloc[cut:] for name, column in by.items()}, kept=kept)
    console = Console(width=170)
    console.print(
        f"\n{title}: {len(asked)} people, {int((found.status != 'not_needed').sum())} refused"
    )
    console.print(*fairness_lines(groups), sep="\n")


def main() -> None:
    """Prints both tables."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    states = datasets.load_local("acs", ["MA", "MS"])
    both = pd.concat(states.values(), ignore_index=True)
    fixed = ["age", "sex", "race", "born", "marital", "relation"]
    schema = Schema.infer(
        both, target="y", favourable="good", immutable=fixed, increase_only=["schooling"]
    )
    rows = states["MA"]
    people = {"sex": rows["sex"], "race": rows["race"]}
    table("ACS income, Massachusetts", rows, states["MS"], "y", schema, people)
    data = datasets.load("german_credit")
    first, second = list(data.subsets.values())[:2]
    mixed = np.random.default_rng(0).permutation(len(first))
    first = first.iloc[mixed].reset_index(drop=True)
    ages = pd.cut(first["Age"], [0, 25, 40, 60, 120], labels=["to 25", "26-40", "41-60", "over 60"])
    people = {"age": ages.astype(str)}
    table("German Credit", first, second, data.target, data.actionable_schema, people)


if __name__ == "__main__":
    main()
