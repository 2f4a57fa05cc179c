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

    def __call__(self, x: Array, kept: Array | None = None) -> Array:
        """Maps one row `[in_width]` to `[width]`.

        Args:
            x: The row.
            kept: What each hidden unit is multiplied by, `[units]` (see `draw_dropout`); None drops
                nothing.
        """
        start = 0
        for layer in self.layers:
            x = jax.nn.leaky_relu(layer(x))
            if kept is not None:
                stop = start + x.shape[0]
                x = x * kept[start:stop]
                start = stop
        return x


def draw_dropout(rate: float, rows: int, units: int, *, key: Array) -> Array | None:
    """Factors for the hidden units of a batch: 0 where dropped, 1/(1 − rate) where kept.

    All of a batch's masks come from one draw: random bits are slow to compile and to make.
    """
    if rate == 0.0:
        return None
    kept = jax.random.bernoulli(key, 1.0 - rate, (rows, units))
    return kept.astype(jnp.float32) / (1.0 - rate)
