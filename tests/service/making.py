"""A table with every kind of feature, models of it, and services that are asked for decisions."""

import shutil
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd

from rocourse.estimators import CounterNet
from rocourse.schema import Schema
from rocourse.service import Settings, create_app

with warnings.catch_warnings():
    # It asks for a successor of httpx, and does as well with httpx.
    warnings.filterwarnings("ignore", message="Using `httpx`")
    from fastapi.testclient import TestClient

TARGET = "loan"
FAVOURABLE = "granted"
SMALL = {
    "trainer__encoder_widths": (16, 8),
    "trainer__head_widths": (8,),
    "trainer__batch_size": 64,
    "trainer__epochs": 12,
    "trainer__learning_rate": 0.01,
    "proposer__widths": (16,),
    "witnesses": 3,
}
# One of each kind that the wire must keep apart: floats and whole numbers, categories of text, of
# numbers and of flags, and a name that is no identifier.
ROW = {
    "income": 31.25,
    "years employed": 4,
    "age": 44,
    "job": "part",
    "children": 1,
    "owner": False,
    "region": "north",
}
# What a service that keeps its word to nobody would say: the table's classes the other way round.
CONTRARY = {"denied": "granted", "granted": "denied"}


def make_table(n=400, *, seed=0):
    """Applicants whose class depends on income, work and property, with a margin of noise."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "income": rng.uniform(10.0, 90.0, n).round(2),
            "years employed": rng.integers(0, 30, n),
            "age": rng.integers(18, 70, n),
            "job": rng.choice(["none", "part", "full"], n),
            "children": rng.integers(0, 3, n),
            "owner": rng.random(n) < 0.4,
            "region": rng.choice(["north", "south"], n),
        }
    )
    score = (
        table["income"] / 30
        + table["years employed"] / 15
        + table["job"].map({"none": -0.8, "part": 0.0, "full": 0.8})
        + 0.4 * table["owner"]
        + rng.normal(0, 0.2, n)
    )
    table[TARGET] = np.where(score > score.median(), "granted", "denied")
    return table


def make_schema(table, **options):
    return Schema.infer(
        table,
        target=TARGET,
        immutable=["region", "children"],
        increase_only=["age"],
        **{"categorical": ["children"], "favourable": FAVOURABLE, **options},
    )


def train(table, *, contrary=False, **options):
    """A model; a contrary one refuses whom the other approves."""
    schema = make_schema(table, **options)
    model = CounterNet(schema=schema, random_state=0, **SMALL)
    classes = table[TARGET].map(CONTRARY) if contrary else table[TARGET]
    return model.fit(table.drop(columns=TARGET), classes)


def replace_model(path, by):
    """Puts a copy of a stored model, or of a damaged one, where another was."""
    shutil.rmtree(path)
    shutil.copytree(by, path)


def plain_rows(table):
    """The rows of a table as callers send them."""
    return table.drop(columns=TARGET, errors="ignore").astype(object).to_dict("records")


# A busy machine must not decide what a test sees: tests of limits and deadlines state their own.
PATIENT = {"rate": 1e6, "deadline": 60.0}


@contextmanager
def serving(folder, model, *, ledger=True, address=None, headers=None, **options):
    """A service of a copy of a model, with a ledger of its own, and a client of it."""
    shutil.copytree(model, folder / "model")
    settings = Settings(
        model=folder / "model",
        ledger=(address or str(folder / "ledger.db")) if ledger else None,
        **(PATIENT | options),
    )
    app = create_app(settings)
    with client_of(app, headers=headers) as client:
        yield client


def client_of(app, *, headers=None):
    """A client that names the service by its own name, and sees failures as other clients do."""
    return TestClient(
        app, base_url="http://localhost", raise_server_exceptions=False, headers=headers
    )


def decide(client, *rows, subject=None, **options):
    """Asks for decisions on rows, and gives the answer."""
    applicants = [{"row": row} | ({"subject": subject} if subject else {}) for row in rows]
    response = client.post("/v1/decisions", json={"applicants": applicants}, **options)
    assert response.status_code == 200, response.text
    return response.json()


def audit(client, **options):
    """Asks for an audit, and gives its document when it is done or has failed."""
    response = client.post("/v1/audits", **options)
    assert response.status_code == 202, response.text
    return finished_audit(client, response.headers["location"], **options)


def finished_audit(client, place, **options):
    """The document of an audit that was begun, when it is done or has failed."""
    until = time.monotonic() + 60
    while True:
        response = client.get(place, **options)
        assert response.status_code == 200, response.text
        if (found := response.json())["status"] not in ("waiting", "running"):
            return found
        assert time.monotonic() < until
        time.sleep(0.01)


def promise_for(client, rows):
    """The first of the rows that is refused and can be helped, with its recourse."""
    for row, decision in zip(rows, decide(client, *rows)["decisions"], strict=True):
        if decision["recourse"] and decision["recourse"]["status"] == "found":
            return row, decision["recourse"]
    raise AssertionError("none of the rows has a recourse")


def ledger_of(client):
    return client.app.state.backend.ledger


def detail(response, status):
    """What a refusal says: one sentence, and nothing else."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    content = response.json()
    assert list(content) == ["detail"]
    assert isinstance(content["detail"], str)
    assert content["detail"] and "\n" not in content["detail"]
    assert "Traceback" not in response.text
    return content["detail"]
