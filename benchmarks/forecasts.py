"""Forecasts of open promises, year after year, beside what the next year's model honours.

    python benchmarks/forecasts.py [--rows 400] [--window 4] [--asked 100] [--witnesses 59]
        [--drift 0.6]

SBA loans, a lender's logistic regression explained by RoCoursePanel. For each of 15 transitions a
model of the last years promises something to people whom it refuses; models retrained on made-up
shifts (the panel's own; with --drift those of RoCourse, drifting so far) say what share the next
one will honour at least; then the model retrained with the next year's rows does or does not.
"""

import argparse
import time
from datetime import UTC, datetime

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rocourse import RoCoursePanel, Schema, adapt, datasets
from rocourse.evaluation import Forecast, forecast
from rocourse.ledger import PromisedRows
from rocourse.recourse import JuryProposer
from rocourse.schema import Recourse

NOW = datetime(2026, 1, 1, tzinfo=UTC)
# Granted are those who will pay with this probability: else hardly anyone is refused before 2000.
_GRANTED = 0.8


def page(advice: Recourse) -> PromisedRows:
    """Promises as an audit reads them from the ledger."""
    rows = advice.frame().to_dict("records")
    same = len(rows) * [None]
    return PromisedRows(
        ids=list(map(str, range(len(rows)))),
        subjects=same,
        models=len(rows) * ["m"],
        statuses=len(rows) * ["open"],
        issued=len(rows) * [NOW],
        desired=advice.desired.tolist(),
        probabilities=advice.probability.tolist(),
        rows=rows,
    )


def lender(schema: Schema, train: pd.DataFrame, target: str, seed: int) -> RoCoursePanel:
    """A logistic regression, and what finds recourses for it."""
    X, y = train.drop(columns=target), train[target]
    words = [feature.name for feature in schema.categorical]
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), remainder=StandardScaler()
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=2000)).fit(X, y)
    panel = RoCoursePanel(schema, model=adapt(model, schema), threshold=_GRANTED, random_state=seed)
    return panel.fit(X, y)


def told(
    model: RoCoursePanel,
    train: pd.DataFrame,
    target: str,
    advice: Recourse,
    n: int,
    drift: float | None,
) -> Forecast:
    """The forecast of advice by models that are retrained on the model's own rows."""
    shift = None if drift is None else JuryProposer().shift(drift=drift)
    following = model.successors(train.drop(columns=target), train[target], count=n, shift=shift)
    return forecast([page(advice)], model, following, digest="m", at=NOW)


def main() -> None:
    """Prints a line a transition, and how many forecasts held."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=400, help="to learn from, of each year")
    parser.add_argument("--window", type=int, default=4, help="years to learn from")
    parser.add_argument("--asked", type=int, default=100, help="the most promises a year")
    parser.add_argument("--witnesses", type=int, default=59)
    parser.add_argument("--drift", type=float, default=None)
    args = parser.parse_args()
    data = datasets.load("loan")
    target, schema = data.target, data.actionable_schema
    rng = np.random.default_rng(0)
    years = list(data.subsets)
    drawn = {
        year: rows.iloc[rng.permutation(len(rows))[: args.rows + 20 * args.asked]]
        for year, rows in data.subsets.items()
    }

    def fitted(last: int) -> tuple[RoCoursePanel, pd.DataFrame]:
        known = years[max(0, last + 1 - args.window) : last + 1]
        train = pd.concat([drawn[year].head(args.rows) for year in known], ignore_index=True)
        return lender(schema, train, target, last), train

    print("from → to      promises  expected  at least  honoured")
    held = 0
    model, train = fitted(0)
    for place, (year, following) in enumerate(zip(years, years[1:], strict=False)):
        start = time.process_time()
        people = drawn[year].iloc[args.rows :].drop(columns=target)
        refused = people[model.predict(people) == 0].head(args.asked)
        advice = model.recourse(refused, desired=1)
        # A panel promises all that it advises.
        advice = advice[np.flatnonzero(advice.advised)]
        made = told(model, train, target, advice, args.witnesses, args.drift).total
        model, train = fitted(place + 1)
        honoured = float((model.predict(advice.frame()) == 1).mean())
        assert made is not None
        right = honoured >= made.low
        held += right
        print(
            f"{year} → {following}   {made.promises:6d}   {made.expected:7.1%}   {made.low:7.1%}   "
            f"{honoured:7.1%}{'' if right else '  not held'}   "
            f"({time.process_time() - start:.0f} s)",
            flush=True,
        )
    print(f"{held} of {len(years) - 1} forecasts held")


if __name__ == "__main__":
    main()
