"""Certificates: how many a second, how far beyond intervals exact radii go, and the alarm's delay.

    python benchmarks/certificates.py [--rows 1000] [--exact 20] [--streams 1000]
        [--experiments 200]

German Credit, RoCourse and RoCourseNet with their defaults; processor time.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from rocourse import RoCourse, RoCourseNet, Schema, Shift, VanillaCF, adapt, datasets
from rocourse.certificates import lower_bound
from rocourse.certificates._ellipsoid import hidden_units, loss, near_optimal
from rocourse.certificates._intervals import layers_of
from rocourse.evaluation import promise_evidence
from rocourse.models import TrainingRows
from rocourse.models.jurors import refit_shifted
from rocourse.recourse.proof import margins_of
from rocourse.schema import one_hot


def radii(rows: int, exact: int, experiments: int) -> None:
    """Interval and exact radii of the advice for refused applicants."""
    print("Largest δ of advice, German Credit")
    data = datasets.load("german_credit")
    frame, schema = next(iter(data.subsets.values())), data.actionable_schema
    X, y = frame.drop(columns=data.target), frame[data.target]
    for method in (RoCourseNet, RoCourse):
        model = method(schema, random_state=0).fit(X, y)
        if method is RoCourseNet:
            ellipsoid(model, X, y, 200)
            coverage(X, y, schema, experiments)
        advice = model.recourse(X, desired=1)
        advice = advice[np.resize(np.flatnonzero(advice.advised), rows)]
        start = time.process_time()
        level = model.certify(advice).level
        spent = time.process_time() - start
        print(
            f"  {method.__name__}: {len(level) / spent:,.0f} interval radii a second, median "
            f"{np.median(level):.4f}"
        )
        times, gains = [], []
        for k in range(exact):
            start = time.process_time()
            (further,) = model.certify(advice[[k]], exact=True).level
            times.append(time.process_time() - start)
            gains.append(further / level[k])
        print(
            f"    exact: median {1e3 * np.median(times):.0f} ms, slowest "
            f"{1e3 * max(times):.0f} ms; {np.median(gains):.2f} times as far"
        )


def ellipsoid(model: RoCourseNet, X: pd.DataFrame, y: pd.Series, refits: int) -> None:
    """Refits of the last layer on rows drawn anew, beside the loss that each recourse allows."""
    context, rng = model._advisor.context, np.random.default_rng(0)
    advice = model.recourse(X, desired=1)
    advice = advice[advice.advised]
    told = model.certify(advice, "ellipsoid", X=X, y=y)
    layout = context.schema.layout
    layers = layers_of(margins_of(context.trained, 1, None, layout))
    rows = context.schema.encode(X)
    hidden, changed = (
        hidden_units(layers, one_hot(part, layout).astype(float))
        for part in (rows, advice.attempts)
    )
    labels = y.to_numpy(float)
    centre = near_optimal(hidden, labels)
    granted = int((model.predict(X) == 1).sum())
    cut = np.sort(hidden @ centre.centre)[::-1][granted - 1 : granted + 1].mean()
    within = kept = beyond = kept_beyond = 0
    losses = []
    for _ in range(refits):
        drawn = rng.integers(0, len(labels), len(labels))
        other = near_optimal(hidden[drawn], labels[drawn]).centre
        losses.append(loss(other, hidden, labels) - centre.least)
        honoured, sure = changed @ other > cut, told.level > losses[-1]
        within, kept = within + sure.sum(), kept + (sure & honoured).sum()
        beyond, kept_beyond = beyond + (~sure).sum(), kept_beyond + (~sure & honoured).sum()
    print(
        f"Ellipsoid: ε* median {np.median(told.level):.4f}, refits on rows drawn anew lose "
        f"{np.median(losses):.4f}; honoured {kept / max(within, 1):.2%} of {within} pairs within "
        f"ε*, {kept_beyond / max(beyond, 1):.2%} of {beyond} beyond"
    )


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
    """Runs both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--exact", type=int, default=20)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--experiments", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    alarm(options.streams)
    radii(options.rows, options.exact, options.experiments)


if __name__ == "__main__":
    main()
