"""Certificates: how many a second, how far exact radii go, what bounds are worth; and the alarm.

    python benchmarks/certificates.py [--rows 1000] [--exact 40] [--streams 1000]
        [--experiments 200] [--data german_credit student loan]

RoCourse and RoCourseNet with their defaults on up to 1,500 rows of each data set; processor time.
ACS is left out where its table is not at hand (`ROCOURSE_DATA`).
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from rocourse import RoCourse, RoCourseNet, Schema, Shift, VanillaCF, adapt, datasets
from rocourse.certificates import last_layers, lower_bound
from rocourse.certificates._ellipsoid import _PENALTY, hidden_units, loss, near_optimal
from rocourse.errors import RocourseError
from rocourse.evaluation import promise_evidence
from rocourse.models import TrainingRows
from rocourse.models.jurors import refit_shifted
from rocourse.schema import one_hot

# Rows that are certified one at a time.
_ALONE = 20


def radii(name: str, rows: int, exact: int, experiments: int) -> None:
    """Interval and exact radii of the advice for refused applicants."""
    print(f"Largest δ of advice, {name}")
    data = datasets.load(name)
    frame, schema = next(iter(data.subsets.values())), data.actionable_schema
    frame = frame.iloc[np.random.default_rng(0).permutation(len(frame))[:1500]]
    X, y = frame.drop(columns=data.target), frame[data.target]
    assert schema.target is not None
    for method in (RoCourseNet, RoCourse):
        model = method(schema, random_state=0).fit(X, y)
        if method is RoCourseNet and name == "german_credit":
            ellipsoid(model, X, y, 200)
            coverage(X, y, schema, experiments)
        advice = model.recourse(X, desired=schema.target.wanted())
        known = np.flatnonzero(advice.advised)
        advice = advice[np.resize(known, rows)]
        start = time.process_time()
        level = model.certify(advice).level
        spent = time.process_time() - start
        print(
            f"  {method.__name__}: {len(level) / spent:,.0f} interval radii a second, median "
            f"{np.median(level):.4f}"
        )
        few = advice[np.arange(min(exact, len(known)))]
        start = time.process_time()
        further = model.certify(few, exact=True).level
        each = (time.process_time() - start) / len(few)
        times = []
        for k in range(min(len(few), _ALONE)):
            start = time.process_time()
            model.certify(few[[k]], exact=True)
            times.append(time.process_time() - start)
        sure = level[: len(few)] > 0
        gains = further[sure] / level[: len(few)][sure]
        print(
            f"    exact, {len(few)} together: {1e3 * each:.0f} ms each; alone: median "
            f"{1e3 * np.median(times):.0f} ms, slowest {1e3 * max(times):.0f} ms; "
            f"{np.median(gains):.2f} times as far"
        )


def acs() -> None:
    """The ellipsoid for income in Massachusetts."""
    rows = datasets.load_local("acs", ["MA"])["MA"]
    fixed = ["age", "sex", "race", "born", "marital", "relation"]
    schema = Schema.infer(
        rows, target="y", favourable="good", immutable=fixed, increase_only=["schooling"]
    )
    X, y = rows.drop(columns="y"), rows["y"]
    ellipsoid(RoCourseNet(schema, random_state=0).fit(X, y), X, y, 200)


def ellipsoid(model: RoCourseNet, X: pd.DataFrame, y: pd.Series, refits: int) -> None:
    """What each recourse allows a refit of the last layer to lose, and what breaks it.

    Measured is the least loss, not its quadratic function, of all last layers that give the
    changed row no more than the cut-off. Refits are of rows drawn anew: as many, and ever fewer.
    """
    context, rng = model._advisor.context, np.random.default_rng(0)
    wanted = context.schema.target.wanted()
    codes = np.searchsorted(model.classes_, np.asarray(y)).astype(np.int32)
    last = last_layers(context, TrainingRows(context.schema.encode(X), codes, 2, context.schema))
    sign = 1.0 if model.classes_[1] == wanted else -1.0
    advice = model.recourse(X, desired=wanted)
    advice = advice[advice.advised]
    told = model.certify(advice, "ellipsoid", X=X, y=y).level
    layout = context.schema.layout
    hidden, changed = (
        hidden_units(last.layers, one_hot(part, layout).astype(float))
        for part in (context.schema.encode(X), advice.attempts)
    )
    labels, centre = codes.astype(float), last.found
    some = np.flatnonzero(told > 0)[:_ALONE]
    measured = np.array(
        [least_loss(hidden, labels, centre.centre, h, last.cut) for h in changed[some]]
    )
    ratio = (measured - centre.least) / told[some]
    print(
        f"Ellipsoid, {len(labels)} rows: ε* median {np.median(told):.4f}; what really breaks "
        f"{len(some)} recourses is {np.median(ratio):.2f} times that in the median "
        f"({np.quantile(ratio, 0.05):.2f} to {np.quantile(ratio, 0.95):.2f} of nine in ten)"
    )
    for part in (1, 4, 16):
        losses, honoured = [], []
        for _ in range(refits):
            drawn = rng.integers(0, len(labels), len(labels) // part)
            other = near_optimal(hidden[drawn], labels[drawn]).centre
            losses.append(loss(other, hidden, labels) - centre.least)
            honoured.append(sign * (changed @ other - last.cut) > 0)
        kept, within = np.array(honoured), told > np.array(losses)[:, None]
        print(
            f"  refits on 1/{part} as many rows lose {np.median(losses):.4f}: honoured "
            f"{kept[within].mean() if within.any() else np.nan:.2%} of {within.sum()} pairs within "
            f"ε*, {kept[~within].mean() if (~within).any() else np.nan:.2%} of {(~within).sum()} "
            "beyond"
        )


def least_loss(
    hidden: np.ndarray, labels: np.ndarray, theta: np.ndarray, row: np.ndarray, score: float
) -> float:
    """The least loss of last layers that give a row one score, by Newton's method on these."""
    theta = theta + row * (score - row @ theta) / (row @ row)
    free = np.linalg.svd(row[None])[2][1:].T
    for _ in range(50):
        likely = expit(hidden @ theta)
        slope = hidden.T @ (likely - labels) / len(labels) + _PENALTY * theta
        bend = (hidden * (likely * (1 - likely))[:, None]).T @ hidden / len(labels)
        bend += _PENALTY * np.eye(len(theta))
        step = free @ np.linalg.solve(free.T @ bend @ free, free.T @ slope)
        share, before = 1.0, loss(theta, hidden, labels)
        while loss(theta - share * step, hidden, labels) > before and share > 1e-6:
            share *= 0.5
        theta = theta - share * step
        if slope @ step < 1e-12:
            break
    return loss(theta, hidden, labels)


def coverage(X: pd.DataFrame, y: pd.Series, schema: Schema, experiments: int) -> None:
    """How often bounds by 29 witnesses are right, where many more models tell the truth.

    Logistic regressions, refitted on rows that are shifted as witnesses' rows are.
    """
    fitted = LogisticRegression().fit(one_hot(schema.encode(X), schema.layout), y)
    model = adapt(fitted, schema, inputs="encoded")
    explainer = VanillaCF(schema, model=model, random_state=0).fit(X, y)
    advice = explainer.recourse(X[:200], desired=1)
    advice = advice[advice.advised]
    context, labels = explainer._advisor.context, y.to_numpy(np.int32)
    data = TrainingRows(context.schema.encode(X), labels, 2, context.schema)
    x = one_hot(advice.attempts, context.schema.layout)

    def honoured(count: int, seed: int) -> np.ndarray:
        refits = refit_shifted(context.trained, data, Shift(), count=count, seed=seed)
        return np.sum([refit.probabilities(x).argmax(axis=1) == 1 for refit in refits], axis=0)

    truth = honoured(1000, 1) / 1000
    bounds = [lower_bound(honoured(29, 2 + k), 29, 0.95) for k in range(experiments)]
    right = (np.stack(bounds) <= truth).mean(axis=0)
    open_ones = truth < 1.0
    print(
        f"Witnesses: {experiments} experiments of 29, {len(advice)} recourses, of which "
        f"{open_ones.sum()} are not honoured by all of 1,000: bounds right in "
        f"{right[open_ones].mean():.1%}, least often for one recourse {right.min():.1%}"
    )


def alarm(streams: int) -> None:
    """False alarms of promises kept as stated, and the delay of a fall from .97 to .90."""
    rng = np.random.default_rng(2)
    print(f"Alarm at 5%, {streams} streams of 2,000 promises each")
    for kept in (0.8, 0.95, 0.97):
        told = promise_evidence(rng.random((streams, 2000)) < kept, kept=kept)
        print(f"  {kept} stated and kept: {(told.max(axis=1) >= 20.0).mean():.1%} false alarms")
    for kept in (0.95, 0.97):
        for before in (0, 200, 1000):
            parts = rng.random((streams, before)) < 0.97, rng.random((streams, 3000)) < 0.9
            told = promise_evidence(np.concatenate(parts, axis=1), kept=kept)
            late = (told[:, before:] >= 20.0).argmax(axis=1) + 1
            print(
                f"  {kept} stated, fall from .97 to .90 after {before}: median "
                f"{np.median(late):.0f} promises, 90% within {np.quantile(late, 0.9):.0f}"
            )


def main() -> None:
    """Runs all parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--exact", type=int, default=40)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--experiments", type=int, default=200)
    parser.add_argument("--data", nargs="*", default=["german_credit", "student", "loan"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    alarm(options.streams)
    for name in options.data:
        radii(name, options.rows, options.exact, options.experiments)
    try:
        acs()
    except RocourseError as error:
        print(f"ACS: {error}")


if __name__ == "__main__":
    main()
