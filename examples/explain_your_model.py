"""Recourse for models that are there already: a random forest and a PyTorch network.

Both are trained on German Credit without any thought of recourse. Three methods then say what
refused applicants would have to change, within the constraints of the schema.

    pip install 'rocourse[torch]'
    python examples/explain_your_model.py
"""

from typing import Any

import pandas as pd
import torch
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from rocourse import RBR, ROAR, VanillaCF, datasets
from rocourse.schema import Schema, one_hot


def train_forest(schema: Schema, X: pd.DataFrame, y: pd.Series) -> Pipeline:
    """A pipeline on raw rows, as one would train it anywhere."""
    categories = [feature.name for feature in schema.categorical]
    columns = make_column_transformer((OneHotEncoder(), categories), remainder="passthrough")
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    return make_pipeline(columns, forest).fit(X, y)


def train_network(schema: Schema, X: pd.DataFrame, y: pd.Series) -> torch.nn.Module:
    """A network on the schema's encoded vectors, with one logit for the second class."""
    torch.manual_seed(0)
    x = torch.tensor(one_hot(schema.encode(X), schema.layout))
    wanted = torch.tensor(y.to_numpy(), dtype=torch.float32)
    network = torch.nn.Sequential(
        torch.nn.Linear(schema.layout.width, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(200):
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(network(x)[:, 0], wanted)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return network


def main(applicants: int = 10) -> pd.DataFrame:
    """Explains both models by three methods; one line of figures for each pair."""
    data = datasets.load("german_credit")
    schema = data.actionable_schema
    rows = data.subsets["org"]
    X, y = rows[list(schema.names)], rows[data.target]
    models: dict[str, Any] = {
        "random forest": train_forest(schema, X, y),
        "PyTorch network": train_network(schema, X, y),
    }
    lines = []
    for name, model in models.items():
        for method in (VanillaCF, ROAR, RBR):
            explainer = method(schema, model=model, random_state=0).fit(X, y)
            refused = X[explainer.predict(X) == 0].head(applicants)
            recourse = explainer.recourse(refused)
            lines.append(
                {
                    "model": name,
                    "method": method.__name__,
                    "valid": recourse.valid.mean(),
                    "proximity": recourse.proximity.mean(),
                    "features changed": recourse.features_changed.mean(),
                    "first advice": "; ".join(recourse.describe(0)) or "none found",
                }
            )
    return pd.DataFrame(lines)


if __name__ == "__main__":
    for line in main().to_dict("records"):
        print(
            f"{line['model']}, {line['method']}: {line['valid']:.0%} valid, proximity "
            f"{line['proximity']:.2f}, {line['features changed']:.1f} features changed"
        )
        print(f"    {line['first advice']}")
