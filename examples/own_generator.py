"""Robust training of a generator of your own.

Any Equinox module with the signature of `rocourse.networks.RecourseGenerator` can be trained: post
hoc by `CFModel`, against the worst-case data shift by `RobustCFModel`, or together with the
predictor by `CounterNet` and `RoCourseNet`. This one learns one direction per class and, for each
row, which features to move along it.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from rocourse import CFModel, RobustCFModel, datasets
from rocourse.attack import Attack
from rocourse.networks import GeneratorShape, Proposal, Request, propose
from rocourse.schema import Layout


class DirectionGenerator(eqx.Module):
    """Moves the features that a gate opens for along the desired class's direction."""

    gate: eqx.nn.Linear
    directions: Array
    layout: Layout = eqx.field(static=True)

    def __init__(self, shape: GeneratorShape, *, key: Array) -> None:
        gate_key, direction_key = jax.random.split(key)
        width = shape.layout.width
        self.gate = eqx.nn.Linear(width + shape.n_classes, width, key=gate_key)
        self.directions = 0.1 * jax.random.normal(direction_key, (shape.n_classes, width))
        self.layout = shape.layout

    def __call__(self, request: Request, random: Array | None = None) -> Proposal:
        """Proposes a recourse for one row; `propose` keeps it within the row's limits."""
        opened = jax.nn.sigmoid(self.gate(jnp.concatenate([request.x, request.target])))
        return propose(
            opened * (request.target @ self.directions), request, self.layout, kind="edit"
        )


def main() -> dict[str, float]:
    """Trains it with and without the attacker; gives the share of valid recourses of each."""
    data = datasets.load("german_credit")
    rows = next(iter(data.subsets.values()))
    X, y = rows.drop(columns=data.target), rows[data.target]
    shares = {}
    for cls in (CFModel, RobustCFModel):
        model = cls(
            data.actionable_schema,
            proposer__network=DirectionGenerator,
            proposer__proximity_weight=0.2,
            proposer__learning_rate=0.03,
            proposer__measured_attack=Attack(),
            random_state=0,
        )
        recourse = model.fit(X, y).recourse(X.head(200))
        shares[model.method] = float(recourse.valid.mean())
        print(
            f"{model.method}: {shares[model.method]:.0%} valid, mean cost "
            f"{recourse.proximity.mean():.2f}, under attack "
            f"{model.history_[-1]['robust_validity']:.0%}"
        )
    return shares


if __name__ == "__main__":
    main()
