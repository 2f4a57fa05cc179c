"""Hidden layers with leaky rectifiers and dropout."""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

# The slope of the rectifiers below zero.
LEAK = 0.01


class Linear(eqx.Module):
    """W x + b, for one row `[in_width]` or for many as columns `[in_width, n]`.

    With rows as columns the batch is the axis that lies together in memory, whatever the widths:
    the products of the unrolled retraining run a third faster than with `vmap`, which puts the
    batch first (docs/performance.md).
    """

    weight: Array
    bias: Array

    def __call__(self, x: Array) -> Array:
        """Applies the layer."""
        return self.weight @ x + self.bias.reshape(-1, *(1,) * (x.ndim - 1))


def linear_layers(widths: tuple[int, ...], *, key: Array) -> tuple[Linear, ...]:
    """Untrained layers from each width to the next, drawn from U(-1, 1)/√(inputs).

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
        layers.append(Linear(drawn[:, 1:], drawn[:, 0]))
        start = stop
    return tuple(layers)


class HiddenStack(eqx.Module):
    """Linear layers, each followed by a leaky rectifier and, in training, dropout."""

    layers: tuple[Linear, ...]
    width: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    """All hidden units together: the length of a dropout mask."""

    def __init__(self, in_width: int, widths: tuple[int, ...], *, key: Array) -> None:
        self.layers = linear_layers((in_width, *widths), key=key)
        self.width = widths[-1]
        self.units = sum(widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """The width of each layer."""
        return tuple(len(layer.bias) for layer in self.layers)

    def __call__(self, x: Array, kept: Array | None = None) -> Array:
        """Maps one row `[in_width]` to `[width]`, or many, as columns, `[in_width, n]`.

        Args:
            x: The row or rows.
            kept: What each hidden unit is multiplied by, `[units]` or `[units, n]` (see
                `dropout_factors`); None drops nothing.
        """
        start = 0
        for layer in self.layers:
            x = jax.nn.leaky_relu(layer(x), LEAK)
            if kept is not None:
                stop = start + x.shape[0]
                x = x * kept[start:stop]
                start = stop
        return x


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
