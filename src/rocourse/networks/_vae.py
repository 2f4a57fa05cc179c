"""VAE-CF's generator: a conditional variational auto-encoder (Mahajan et al., 2019)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import Array

from rocourse.networks._mlp import HiddenStack, Linear, linear_layers
from rocourse.networks._proposal import (
    GeneratorKind,
    GeneratorShape,
    Proposal,
    Request,
    output_layer,
    propose,
)
from rocourse.schema import Layout


def normal_divergence(mean: Array, variance: Array) -> Array:
    """KL(N(mean, variance) ‖ N(0, 1)), summed over independent dimensions, the first axis."""
    return 0.5 * jnp.sum(jnp.square(mean) + variance - jnp.log(variance) - 1.0, axis=0)


class VAEGenerator(eqx.Module):
    """Encoder on [x, y'] to a normal distribution of codes, decoder on [code, y'] to a recourse."""

    encoder: HiddenStack
    moments: Linear
    decoder: HiddenStack
    output: Linear
    layout: Layout = eqx.field(static=True)
    kind: GeneratorKind = eqx.field(static=True)
    kl_weight: float = eqx.field(static=True)
    n_random: int = eqx.field(static=True)
    """One number a dimension of the code."""

    def __init__(
        self,
        shape: GeneratorShape,
        *,
        widths: tuple[int, ...],
        latent: int,
        kind: GeneratorKind,
        kl_weight: float,
        key: Array,
    ) -> None:
        encoder_key, moments_key, decoder_key, output_key = jax.random.split(key, 4)
        in_width = shape.layout.width + shape.n_classes
        self.encoder = HiddenStack(in_width, widths, key=encoder_key)
        (self.moments,) = linear_layers((self.encoder.width, 2 * latent), key=moments_key)
        self.decoder = HiddenStack(latent + shape.n_classes, widths[::-1], key=decoder_key)
        self.output = output_layer(self.decoder.width, shape.layout, kind, key=output_key)
        self.layout = shape.layout
        self.kind = kind
        self.kl_weight = kl_weight
        self.n_random = latent

    @property
    def takes_columns(self) -> bool:
        """Many rows at once, as columns."""
        return True

    def __call__(self, request: Request, random: Array | None = None) -> Proposal:
        """Proposes a recourse for one row, or for many as columns; None takes the mean codes."""
        mean, variance = self.code(request)
        code = mean
        if random is not None:
            # The normal quantile of a uniform draw; its ends would be infinite.
            noise = jax.scipy.special.ndtri(jnp.clip(random, 1e-6, 1.0 - 1e-6))
            code = mean + jnp.sqrt(variance) * noise
        raw = self.output(self.decoder(jnp.concatenate([code, request.target])))
        penalty = self.kl_weight * normal_divergence(mean, variance)
        return propose(raw, request, self.layout, kind=self.kind, penalty=penalty)

    def code(self, request: Request) -> tuple[Array, Array]:
        """Mean and variance (between 0.5 and 1.5) of a row's code."""
        hidden = self.encoder(jnp.concatenate([request.x, request.target]))
        mean, spread = jnp.split(self.moments(hidden), 2)
        return mean, 0.5 + jax.nn.sigmoid(spread)
