"""Feed-forward generators: CounterNet's, fed by the predictor, and CF Model's, fed by the row."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from rocourse.networks._mlp import HiddenStack, Linear, dropout_factors
from rocourse.networks._proposal import (
    GeneratorKind,
    GeneratorShape,
    Proposal,
    Request,
    output_layer,
    propose,
)
from rocourse.schema import Layout

GeneratorInput = Literal["x", "z", "p", "target"]


class Generator(eqx.Module):
    """g(x; θ_g): hidden layers from parts of the request to a recourse.

    CounterNet's generator sees z and p; CF Model's sees x and has an encoder of its own. Both do
    better with the desired class as a further input: which way to go turns round at the decision
    boundary, and a network that must guess it goes neither way for rows close by.
    """

    hidden: HiddenStack
    output: Linear
    inputs: tuple[GeneratorInput, ...] = eqx.field(static=True)
    layout: Layout = eqx.field(static=True)
    kind: GeneratorKind = eqx.field(static=True)
    dropout: float = eqx.field(static=True)

    def __init__(
        self,
        shape: GeneratorShape,
        *,
        inputs: tuple[GeneratorInput, ...],
        widths: tuple[int, ...],
        kind: GeneratorKind,
        dropout: float,
        key: Array,
    ) -> None:
        hidden_key, output_key = jax.random.split(key)
        self.inputs = inputs
        sizes = {
            "x": shape.layout.width,
            "z": shape.z_width,
            "p": shape.p_width,
            "target": shape.n_classes,
        }
        self.hidden = HiddenStack(sum(sizes[part] for part in inputs), widths, key=hidden_key)
        self.output = output_layer(self.hidden.width, shape.layout, kind, key=output_key)
        self.layout = shape.layout
        self.kind = kind
        self.dropout = dropout

    @property
    def takes_columns(self) -> bool:
        """Many rows at once, as columns."""
        return True

    @property
    def n_random(self) -> int:
        """One number a hidden unit, for dropout."""
        return self.hidden.units

    def __call__(self, request: Request, random: Array | None = None) -> Proposal:
        """Proposes a recourse for one row, or for many as columns."""
        seen = jnp.concatenate([getattr(request, part) for part in self.inputs])
        raw = self.output(self.hidden(seen, dropout_factors(random, self.dropout)))
        return propose(raw, request, self.layout, kind=self.kind)
