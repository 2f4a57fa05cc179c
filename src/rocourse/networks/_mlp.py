"""Hidden layers with leaky rectifiers and dropout."""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


class HiddenStack(eqx.Module):
    """Linear layers, each followed by a leaky rectifier and, in training, dropout."""

    layers: tuple[eqx.nn.Linear, ...]
    width: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    """All hidden units together: the length of a dropout mask."""

    def __init__(self, in_width: int, widths: tuple[int, ...], *, key: Array) -> None:
        self.layers = _linear_layers((in_width, *widths), key=key)
        self.width = widths[-1]
        self.units = sum(widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """The width of each layer."""
        return tuple(int(layer.out_features) for layer in self.layers)

    def __call__(self, x: Array, kept: Array | None = None) -> Array:
        """Maps one row `[in_width]` to `[width]`, or many, as columns, `[in_width, n]`.

        Args:
            x: The row or rows.
            kept: What each hidden unit is multiplied by, `[units]` or `[units, n]` (see
                `dropout_factors`); None drops nothing.
        """
        start = 0
        for layer in self.layers:
            x = jax.nn.leaky_relu(affine(layer, x))
            if kept is not None:
                stop = start + x.shape[0]
                x = x * kept[start:stop]
                start = stop
        return x


def _linear_layers(widths: tuple[int, ...], *, key: Array) -> tuple[eqx.nn.Linear, ...]:
    """Layers from each width to the next, started as Equinox does: from U(-1, 1)/√(inputs).

    All weights come from one draw, because random numbers are slow to compile.
    """
    pairs = list(pairwise(widths))
    numbers = jax.random.uniform(
        key, (sum((before + 1) * after for before, after in pairs),), minval=-1.0, maxval=1.0
    )
    layers, start = [], 0
    for before, after in pairs:
        stop = start + (before + 1) * after
        drawn = numbers[start:stop].reshape(after, before + 1) / np.sqrt(before, dtype=np.float32)
        empty = eqx.filter_eval_shape(eqx.nn.Linear, before, after, key=key)
        layers.append(
            eqx.tree_at(
                lambda layer: (layer.weight, layer.bias), empty, (drawn[:, 1:], drawn[:, 0])
            )
        )
        start = stop
    return tuple(layers)


def affine(layer: eqx.nn.Linear, x: Array) -> Array:
    """Applies a linear layer to one row `[in_width]`, or to many as columns `[in_width, n]`.

    With rows as columns the batch is the axis that lies together in memory, whatever the widths:
    the products of the unrolled retraining run a quarter faster than with `vmap`, which puts the
    batch first (docs/performance.md).
    """
    assert layer.bias is not None
    return layer.weight @ x + layer.bias.reshape(-1, *(1,) * (x.ndim - 1))


def dropout_factors(random: Array | None, rate: float) -> Array | None:
    """What hidden units are multiplied by: 0 where dropped, 1/(1 − rate) where kept.

    Args:
        random: Numbers from U(0, 1), one a unit, of any shape; None drops nothing.
        rate: The share of units to drop.
    """
    if random is None or rate == 0.0:
        return None
    return (random < 1.0 - rate).astype(jnp.float32) / (1.0 - rate)


def draw_dropout_factors(shape: tuple[int, int], rate: float, *, key: Array) -> Array:
    """Fresh dropout factors, `[units, n]`.

    Two units share the 32 random bits that one draw makes, since drawing is what dropout costs;
    16 bits tell the rate to 1/65,536.
    """
    units, n = shape
    bits = jax.random.bits(key, ((units + 1) // 2, n), jnp.uint32)
    halves = jnp.concatenate([bits & 0xFFFF, bits >> 16])[:units]
    return (halves < round((1.0 - rate) * 2**16)).astype(jnp.float32) / (1.0 - rate)
