"""A small table and tiny models that the tests of artifacts and command line share.

There is one shape of network and batch, so that whatever is trained is compiled once per process.
"""

from functools import cache

import jax
import numpy as np
import pandas as pd

from rocourse.methods import METHODS, RoCourseNet
from rocourse.methods._state import build_networks, network_tensors
from rocourse.schema import Schema

TARGET = "loan"
TINY = {
    "encoder_widths": (8, 4),
    "head_widths": (4,),
    "generator_widths": (8,),
    "batch_size": 32,
    "epochs": 40,
    "learning_rate": 0.03,
    "attack_steps": 1,
    "unroll_steps": 1,
}
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
    return Schema.infer(frame, target=TARGET, **CONSTRAINTS)


@cache
def trained_model():
    """The one model that the tests train, as the command line would by default seed."""
    frame = make_applicants()
    model = RoCourseNet(schema=make_schema(frame), random_state=0, **TINY)
    return model.fit(frame.drop(columns=TARGET), frame[TARGET])


def untrained_model(method="rocoursenet", *, frame=None, schema=None, seed=0):
    """A model with random weights, which costs no training."""
    schema = schema or make_schema(make_applicants() if frame is None else frame)
    parameters = {name: TINY[name] for name in METHODS[method]().get_params() if name in TINY}
    blank = METHODS[method](schema=schema, random_state=seed, **parameters)
    networks = build_networks(
        schema.layout,
        len(schema.target.classes),
        blank.training_config().network,
        key=jax.random.key(seed),
    )
    header = {
        "schema": schema.to_dict(),
        "params": {**parameters, "random_state": seed},
        "named_columns": True,
        "seed": seed,
        "best_epoch": 1,
        "history": [{"epoch": 1, "accuracy": 0.5, "validity": 0.0, "robust_validity": 0.0}],
    }
    return METHODS[method].from_state(header, network_tensors(*networks))
