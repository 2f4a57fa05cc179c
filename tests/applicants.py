"""A small table and tiny models that the tests of artifacts and command line share.

There is one shape of network and batch, so that whatever is trained is compiled once per process.
"""

from functools import cache

import numpy as np
import pandas as pd
from tests.untrained import untrained

from rocourse.estimators import METHODS, RoCourseNet
from rocourse.schema import Schema

TARGET = "loan"
TINY = {
    "trainer__encoder_widths": (8, 4),
    "trainer__head_widths": (4,),
    "trainer__batch_size": 32,
    "trainer__epochs": 40,
    "trainer__learning_rate": 0.03,
    "proposer__widths": (8,),
    "attack__steps": 1,
    "attack__unroll": 1,
}
# What methods other than RoCourseNet have besides.
TINY_BESIDES = {
    "proposer__members": 3,
    "proposer__epochs": 20,
    "proposer__latent": 3,
    "proposer__neighbours": 40,
    "proposer__samples": 20,
}
# A jury that is enough where what it says is of no concern. Trained models keep the default one.
SMALL_JURY = {"proposer__jurors": 2, "proposer__witnesses": 4, "proposer__kept": 0.7}
CONSTRAINTS = {"immutable": ["region"], "increase_only": ["age"]}


def make_applicants(n=80, *, classes=("denied", "granted"), seed=0):
    """Applicants whose class depends on income and job."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.uniform(10.0, 90.0, n).round(2),
            "age": rng.integers(18, 70, n),
            "job": rng.choice(["full", "none", "part"], n),
            "region": rng.choice(["north", "south"], n),
        }
    )
    score = frame["income"] / 30 + frame["job"].map({"none": -0.8, "part": 0.0, "full": 0.8})
    edges = np.quantile(score, np.linspace(0, 1, len(classes) + 1)[1:-1])
    frame[TARGET] = [classes[k] for k in np.digitize(score, edges)]
    return frame


def make_schema(frame):
    """The schema; the class that people want is the last one of those that the rows have."""
    wanted = max(frame[TARGET].unique())
    return Schema.infer(frame, target=TARGET, favourable=wanted, **CONSTRAINTS)


@cache
def trained_model():
    """The one model that the tests train, as the command line would by default seed."""
    frame = make_applicants()
    model = RoCourseNet(schema=make_schema(frame), random_state=0, **TINY)
    return model.fit(frame.drop(columns=TARGET), frame[TARGET])


def tiny(method):
    """The tiny parameters that a method has."""
    known, settings = METHODS[method]().get_params(), TINY | TINY_BESIDES
    return {name: value for name, value in settings.items() if name in known}


def untrained_model(method="rocoursenet", *, frame=None, schema=None, seed=0):
    """A model with random weights, which costs no training."""
    frame = make_applicants() if frame is None else frame
    schema = schema or make_schema(frame)
    blank = METHODS[method](schema=schema, random_state=seed, **tiny(method))
    if not blank.proposer.takes_attack:
        # A search explains what is there already: fitting it trains at most a panel or a jury
        # beside it.
        if blank.proposer.promises:
            blank.set_params(**SMALL_JURY)
        blank.set_params(model=untrained_model("counternet", frame=frame, schema=schema, seed=seed))
        return blank.fit(frame[list(schema.names)], frame[TARGET])
    return untrained(blank, seed=seed)
