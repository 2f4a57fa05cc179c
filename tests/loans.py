"""A small table, and small models of it, that the tests of models, recourse and estimators share.

There is one shape of network and batch, so that whatever is trained is compiled once per process.
"""

import numpy as np
import pandas as pd

from rocourse.schema import Schema

SMALL = {
    "trainer__encoder_widths": (16, 8),
    "trainer__head_widths": (8,),
    "trainer__batch_size": 64,
    "trainer__epochs": 12,
    "trainer__learning_rate": 0.01,
    "proposer__widths": (16,),
    "proposer__epochs": 12,
    "proposer__members": 4,
    "proposer__jurors": 3,
    "proposer__witnesses": 8,
    "proposer__kept": 0.8,
    "attack__steps": 2,
    "attack__unroll": 1,
}


def make_loans(n, *, seed, n_classes=2):
    """Applicants whose class depends on income, debt and job, with a margin of noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(10.0, 90.0, n).round(2),
            "debt": rng.integers(0, 40, n),
            "age": rng.integers(18, 70, n),
            "job": rng.choice(["none", "part", "full"], n),
            "region": rng.choice(["north", "south"], n),
        }
    )
    score = (
        frame["income"] / 30
        - frame["debt"] / 15
        + frame["job"].map({"none": -0.8, "part": 0.0, "full": 0.8})
        + rng.normal(0, 0.2, n)
    )
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    frame["grade"] = np.digitize(score, edges)
    return frame


def make_schema(frame):
    return Schema.infer(
        frame,
        target="grade",
        favourable=max(frame["grade"]),
        immutable=["region"],
        increase_only=["age"],
    )


def small(cls, **params):
    """The small settings that a method has, with others set besides."""
    known = cls().get_params()
    return {name: value for name, value in SMALL.items() if name in known} | params


def fit(cls, frame, **params):
    schema = make_schema(frame)
    model = cls(schema=schema, random_state=0, **small(cls, **params))
    return model.fit(frame.drop(columns="grade"), frame["grade"])
