"""The predictor: an encoder and a prediction head."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.linalg import block_diag

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


def join(predictors: Sequence[Predictor]) -> Predictor:
    """One network that gives the mean of the logits of several of one shape.

    Their units lie side by side; the weights between units of different networks are zero.
    """
    first, n = predictors[0], len(predictors)
    if n == 1:
        return first
    stacks = list(zip(*(predictor.layers for predictor in predictors), strict=True))
    weights = [jnp.concatenate([layer.weight for layer in stacks[0]])]
    weights += [block_diag(*(layer.weight for layer in layers)) for layers in stacks[1:-1]]
    weights.append(jnp.concatenate([layer.weight for layer in stacks[-1]], axis=1) / n)
    biases = [jnp.concatenate([layer.bias for layer in layers]) for layers in stacks[:-1]]
    biases.append(sum(layer.bias for layer in stacks[-1]) / n)
    empty = Predictor(
        weights[0].shape[1],
        first.n_classes,
        encoder=tuple(n * width for width in first.encoder.widths),
        head=tuple(n * width for width in first.head.widths),
        key=jax.random.key(0),
    )
    joint: Predictor = eqx.tree_at(
        lambda network: [part for layer in network.layers for part in (layer.weight, layer.bias)],
        empty,
        [part for pair in zip(weights, biases, strict=True) for part in pair],
    )
    return joint
