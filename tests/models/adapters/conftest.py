"""A small table with every kind of column, for models of every kind."""

import numpy as np
import pandas as pd
import pytest

from rocourse.schema import Schema, one_hot

TARGET = "grade"


def make_loans(n=300, *, labels=("denied", "granted"), seed=0):
    """Applicants with a blank in a column name, an integer code, text and a flag."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "monthly income": rng.uniform(10.0, 90.0, n).round(2),
            "debt": rng.integers(0, 40, n),
            "job": rng.choice(["none", "part", "full"], n),
            "branch": rng.choice([3, 5, 7], n),
            "owner": rng.choice([True, False], n),
        }
    )
    score = (
        frame["monthly income"] / 30
        - frame["debt"] / 15
        + frame["job"].map({"none": -0.8, "part": 0.0, "full": 0.8})
        + 0.5 * frame["owner"]
        + rng.normal(0, 0.3, n)
    )
    edges = np.quantile(score, np.linspace(0, 1, len(labels) + 1)[1:-1])
    frame[TARGET] = np.asarray(labels)[np.digitize(score, edges)]
    return frame


def make_schema(frame):
    return Schema.infer(frame, target=TARGET, categorical=["branch"], favourable=max(frame[TARGET]))


@pytest.fixture(scope="session")
def loans():
    return make_loans()


@pytest.fixture(scope="session")
def schema(loans):
    return make_schema(loans)


@pytest.fixture(scope="session")
def X(loans):
    return loans.drop(columns=TARGET)


@pytest.fixture(scope="session")
def y(loans):
    return loans[TARGET]


@pytest.fixture(scope="session")
def encoded(schema, X):
    return one_hot(schema.encode(X), schema.layout)


@pytest.fixture(scope="session")
def graded():
    """Three classes whose sorted order is not the order of merit."""
    return make_loans(labels=("low", "high", "middle"))


def soften(x, layout, *, seed=0):
    """The rows with shares instead of categories; the likeliest stays the likeliest."""
    rng = np.random.default_rng(seed)
    soft = x.copy()
    for group in layout.group_slices:
        noise = rng.dirichlet(np.ones(group.stop - group.start), len(x))
        soft[:, group] = 0.6 * x[:, group] + 0.4 * noise
    return soft
