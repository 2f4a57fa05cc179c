"""Promises for the models that you have: XGBoost, a pipeline, a PyTorch module, one behind HTTP.

Each is given to RoCourse, which fits it again on shifted rows, and is stored and read again without
training rows. What is made of arrays needs nothing else. Of a PyTorch module the weights of refits
are stored, and the module is given again. The model behind HTTP stays where it is, and refits of it
are models that its owner has.

    pip install 'rocourse[torch,trees,xgboost]'
    rocourse data fetch loan
    python examples/your_model.py --out runs/your-model
"""

import argparse
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import rocourse
from rocourse import RoCourse, adapt, datasets
from rocourse.schema import Schema, one_hot


def pipeline(schema: Schema, last: Any, encoder: Any, numbers: Any = "passthrough") -> Pipeline:
    """A pipeline on raw rows, as one would train it anywhere."""
    categories = [feature.name for feature in schema.categorical]
    return make_pipeline(make_column_transformer((encoder, categories), remainder=numbers), last)


def xgboost_on(schema: Schema, trees: int) -> Pipeline:
    """The usual scorecard of a lender."""
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=trees, max_depth=4, learning_rate=0.1, random_state=0)
    return pipeline(schema, model, OneHotEncoder(handle_unknown="ignore"))


def boosting_on(schema: Schema) -> Pipeline:
    """A pipeline of scikit-learn alone."""
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    return pipeline(schema, model, OrdinalEncoder())


def network_on(x: np.ndarray, y: np.ndarray, seed: int) -> Any:
    """A PyTorch module on encoded rows, with one logit for the second class."""
    import torch

    torch.manual_seed(seed % 2**31)
    module = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
    )
    optimizer = torch.optim.Adam(module.parameters(), lr=0.01, weight_decay=1e-3)
    rows, wanted = torch.tensor(x), torch.tensor(y, dtype=torch.float32)
    for _ in range(150):
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(module(rows)[:, 0], wanted)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return module


@contextmanager
def served(model: Pipeline) -> Iterator[str]:
    """The address of a model that answers over HTTP."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            likely = model.predict_proba(pd.DataFrame(json.loads(content)))[:, 1]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(likely.tolist()).encode())

        def log_message(self, *_: Any) -> None:
            """Says nothing of each request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def ask(address: str, rows: pd.DataFrame) -> np.ndarray:
    """What the model at an address says: the probability of class 1."""
    asked = Request(address, data=rows.to_json(orient="records").encode())
    with urlopen(asked) as answer:
        return np.asarray(json.load(answer))


def promised(
    schema: Schema, model: Any, X: pd.DataFrame, y: pd.Series, path: Path, **options: Any
) -> dict[str, Any]:
    """Fits, stores and reads recourses for a model; figures of its refused rows."""
    explainer = RoCourse(schema, model=model, random_state=0, **options).fit(X, y)
    explainer.save(path, force=True)
    stored = json.loads((path / "model.json").read_text())["given"]["stored"] is not None
    loaded = rocourse.load(path) if stored else rocourse.load(path, model=model)
    recourse = loaded.recourse(X[loaded.predict(X) == 0].head(50), desired=1)
    return {
        "stored whole": stored,
        "valid": float(recourse.valid.mean()),
        "promised": float((recourse.status == "found").mean()),
        "cost": float(recourse.proximity.mean()),
        "first advice": "; ".join(recourse.describe(0)),
    }


def main(out: Path, *, loans: bool = True, **options: Any) -> dict[str, dict[str, Any]]:
    """The figures of each model by its name."""
    found = {}
    # A thousand rows of credits make models that differ too much to promise .95, the default.
    fewer = {"proposer__kept": 0.8} | options
    if loans:
        data = datasets.load("loan", subsets=("2004",))
        rows = data.subsets["2004"]
        X, y = rows.drop(columns=data.target), rows[data.target]
        scorecard = xgboost_on(data.schema, 200).fit(X, y)
        schema = data.actionable_schema
        found["XGBoost on loan"] = promised(schema, scorecard, X, y, out / "loan", **options)
    data = datasets.load("german_credit")
    schema, rows = data.actionable_schema, data.subsets["org"]
    X, y = rows[list(schema.names)], rows[data.target]
    boosted = boosting_on(schema).fit(X, y)
    found["pipeline on German Credit"] = promised(schema, boosted, X, y, out / "credit", **fewer)
    module = network_on(one_hot(schema.encode(X), schema.layout), y.to_numpy(), 0)
    # A module cannot be cloned and fitted, so that it is said how.
    network = adapt(module, schema, refit=network_on)
    found["PyTorch"] = promised(schema, network, X, y, out / "torch", **fewer)

    def line() -> Pipeline:
        return pipeline(schema, LogisticRegression(), OneHotEncoder(), StandardScaler())

    # Models of the past, which its owner has kept: each learned from other rows.
    drawn = [rows.sample(frac=0.7, random_state=seed) for seed in range(4)]
    past = [line().fit(part[list(schema.names)], part[data.target]) for part in drawn]
    with served(line().fit(X, y)) as address:
        remote = adapt(lambda frame: ask(address, frame), schema, members=past)
        found["HTTP"] = promised(schema, remote, X, y, out / "http", **fewer)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="directory of the stored models")
    parser.add_argument("--no-loans", dest="loans", action="store_false", help="without loan")
    asked = parser.parse_args()
    for name, figures in main(asked.out, loans=asked.loans).items():
        print(
            f"{name}: {figures['valid']:.0%} valid, {figures['promised']:.0%} promised, cost "
            f"{figures['cost']:.2f}"
        )
        print(f"    {figures['first advice']}")
