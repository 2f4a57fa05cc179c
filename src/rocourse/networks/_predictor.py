"""The predictor: an encoder and a prediction head."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from rocourse.networks._mlp import HiddenStack, Linear, linear_layers


def probabilities(logits: Array) -> Array:
    """Class probabilities `[n_classes]` of one row: sigmoid for one logit, softmax for several.

    Many rows are columns, `[n_classes, n]`.
    """
    if logits.shape[0] == 1:
        favourable = jax.nn.sigmoid(logits)
        return jnp.concatenate([1.0 - favourable, favourable], axis=0)
    return jax.nn.softmax(logits, axis=0)


class Predictor(eqx.Module):
    """f(x; θ): an encoder h and a head m (one logit for two classes, k for k > 2)."""

    encoder: HiddenStack
    head: HiddenStack
    output: Linear
    n_classes: int = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        n_classes: int,
        *,
        encoder: tuple[int, ...],
        head: tuple[int, ...],
        key: Array,
    ) -> None:
        encoder_key, head_key, output_key = jax.random.split(key, 3)
        self.encoder = HiddenStack(width, encoder, key=encoder_key)
        self.head = HiddenStack(self.encoder.width, head, key=head_key)
        self.n_classes = n_classes
        n_logits = 1 if n_classes == 2 else n_classes
        (self.output,) = linear_layers((self.head.width, n_logits), key=output_key)

    @property
    def layers(self) -> tuple[Linear, ...]:
        """All layers from the first to the logits; all but the last have rectifiers."""
        return (*self.encoder.layers, *self.head.layers, self.output)

    @property
    def units(self) -> int:
        """Hidden units of encoder and head together: the length of a dropout mask."""
        return self.encoder.units + self.head.units

    def __call__(self, x: Array, kept: Array | None = None) -> Array:
        """The logits of one encoded row, or of many as columns `[width, n]`.

        `kept` holds the dropout factors, if any, of the same form.
        """
        _, hidden = self.embed(x, kept)
        return self.output(hidden)

    def embed(self, x: Array, kept: Array | None = None) -> tuple[Array, Array]:
        """The encoder's output z and the head's last hidden layer p, of one row or of columns."""
        cut = self.encoder.units
        z = self.encoder(x, None if kept is None else kept[:cut])
        return z, self.head(z, None if kept is None else kept[cut:])
