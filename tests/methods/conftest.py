"""Small tables and small models shared by the tests of the methods."""

import numpy as np
import pandas as pd
import pytest
from rocourse.methods import METHODS, RoCourseNet

from rocourse.schema import Schema

# One shape of network and batch everywhere: the compiled steps are shared by all tests.
SMALL = {
    "encoder_widths": (16, 8),
    "head_widths": (8,),
    "generator_widths": (16,),
    "batch_size": 64,
    "epochs": 12,
    "learning_rate": 0.01,
}
POST_HOC = {"generator_epochs": 12}
PANEL = {"members": 4}


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
    return Schema.infer(frame, target="grade", immutable=["region"], increase_only=["age"])


@pytest.fixture(scope="session")
def loans():
    return make_loans(400, seed=0)


@pytest.fixture(scope="session")
def graded_loans():
    return make_loans(400, seed=0, n_classes=3)


def small(cls, **params):
    """The small settings that a method has, with others set besides."""
    known, settings = cls().get_params(), SMALL | POST_HOC | PANEL
    return {name: value for name, value in settings.items() if name in known} | params


def fit(cls, frame, **params):
    schema = make_schema(frame)
    model = cls(schema=schema, random_state=0, **small(cls, **params))
    return model.fit(frame.drop(columns="grade"), frame["grade"])


@pytest.fixture(scope="session")
def fitted(loans):
    """Fitted models of all methods by name, each made when it is first asked for."""
    models = {}

    def get(name):
        if name not in models:
            models[name] = fit(METHODS[name], loans)
        return models[name]

    return get


@pytest.fixture(scope="session")
def counternet(fitted):
    return fitted("counternet")


@pytest.fixture(scope="session")
def rocoursenet(fitted):
    return fitted("rocoursenet")


@pytest.fixture(scope="session")
def graded_rocoursenet(graded_loans):
    return fit(RoCourseNet, graded_loans, epochs=20)
