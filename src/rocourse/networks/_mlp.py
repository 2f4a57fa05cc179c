"""Hidden layers with leaky rectifiers and dropout."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array


class HiddenStack(eqx.Module):
    """Linear layers, each followed by a leaky rectifier and, in training, dropout."""

    layers: tuple[eqx.nn.Linear, ...]
    width: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    """All hidden units together: the length of a dropout mask."""

    def __init__(self, in_width: int, widths: tuple[int, ...], *, key: Array) -> None:
        keys = jax.random.split(key, len(widths))
        self.layers = tuple(
            eqx.nn.Linear(before, after, key=layer_key)
            for before, after, layer_key in zip((in_width, *widths[:-1]), widths, keys, strict=True)
        )
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
