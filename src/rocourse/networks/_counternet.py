"""CounterNet's networks: a shared encoder, a prediction head, and a generator fed by both."""

from typing import Literal, NamedTuple, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.networks._mlp import HiddenStack
from rocourse.schema import Layout
from rocourse.schema.constraints import Limits

GeneratorKind = Literal["rebuild", "edit"]
GENERATORS: tuple[GeneratorKind, ...] = get_args(GeneratorKind)

# The probability that an untrained `edit` generator leaves a category as it is. High enough for
# "no change" to be the default, low enough for a gradient to reach the other categories.
_KEEP_CATEGORY_LOGIT = 3.0


def probabilities(logits: Array) -> Array:
    """Class probabilities `[n_classes]` of one row: sigmoid for one logit, softmax for several."""
    if logits.shape[-1] == 1:
        favourable = jax.nn.sigmoid(logits)
        return jnp.concatenate([1.0 - favourable, favourable], axis=-1)
    return jax.nn.softmax(logits)


class Predictor(eqx.Module):
    """f(x; θ): an encoder h and a head m (one logit for two classes, k for k > 2)."""

    encoder: HiddenStack
    head: HiddenStack
    output: eqx.nn.Linear
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
        self.output = eqx.nn.Linear(self.head.width, n_logits, key=output_key)

    @property
    def units(self) -> int:
        """Hidden units of encoder and head together: the length of a dropout mask."""
        return self.encoder.units + self.head.units

    def __call__(self, x: Array, kept: Array | None = None) -> Array:
        """The logits of one encoded row; `kept` holds its dropout factors, if any."""
        _, hidden = self.embed(x, kept)
        return self.output(hidden)

    def embed(self, x: Array, kept: Array | None = None) -> tuple[Array, Array]:
        """The encoder's output z and the head's last hidden layer p of one encoded row."""
        cut = self.encoder.units
        z = self.encoder(x, None if kept is None else kept[:cut])
        return z, self.head(z, None if kept is None else kept[cut:])


class Proposal(NamedTuple):
    """What a generator asks for, before categories are made soft or hard."""

    continuous: Array
    """Values in the encoded space, `[n_continuous]`, within the row's limits."""
    logits: Array
    """One logit a category, `[width - n_continuous]`; forbidden ones are hugely negative."""


class Generator(eqx.Module):
    """g(x; θ_g): from z and p to a recourse.

    `rebuild` is the paper's: every feature is made anew from the bottleneck. `edit` adds a path
    from the row itself, so that the untrained generator proposes no change.

    With `target_input` (always, for more than two classes) the generator also sees the desired
    class. Which way to go turns round at the decision boundary, and a network that must guess it
    from z and p goes neither way for rows close by.
    """

    hidden: HiddenStack
    output: eqx.nn.Linear
    kind: GeneratorKind = eqx.field(static=True)
    sees_target: bool = eqx.field(static=True)

    def __init__(
        self,
        predictor: Predictor,
        layout: Layout,
        *,
        widths: tuple[int, ...],
        kind: GeneratorKind,
        target_input: bool,
        key: Array,
    ) -> None:
        hidden_key, output_key = jax.random.split(key)
        self.sees_target = target_input or predictor.n_classes > 2
        context = predictor.encoder.width + predictor.head.width
        context += predictor.n_classes if self.sees_target else 0
        self.hidden = HiddenStack(context, widths, key=hidden_key)
        output = eqx.nn.Linear(self.hidden.width, layout.width, key=output_key)
        if kind == "edit":
            output = jax.tree.map(jnp.zeros_like, output)
        self.output = output
        self.kind = kind

    def __call__(
        self,
        x: Array,
        context: Array,
        limits: Limits,
        *,
        layout: Layout,
        kept: Array | None = None,
    ) -> Proposal:
        """Proposes a recourse for one encoded row `x` within its `limits`."""
        raw = self.output(self.hidden(context, kept))
        cut = layout.n_continuous
        moves, logits = raw[:cut], raw[cut:]
        here = x[:cut]
        if self.kind == "rebuild":
            share = jax.nn.sigmoid(moves)
            continuous = limits.low + share * (limits.high - limits.low)
        else:
            # A move is a share of the way to the upper or to the lower limit: it never leaves the
            # limits, is zero by default, and has a gradient at both ends.
            share = jnp.tanh(moves)
            up = jnp.maximum(share, 0.0) * (limits.high - here)
            down = jnp.maximum(-share, 0.0) * (here - limits.low)
            continuous = here + up - down
            logits = logits + _keep_bonus(layout) * x[cut:]
        return Proposal(continuous, jnp.where(limits.allowed, logits, _FORBIDDEN))


_FORBIDDEN = -1e9


def _keep_bonus(layout: Layout) -> np.ndarray:
    """What the current category's logit gets, so that every group starts equally reluctant."""
    sizes = np.asarray(layout.group_sizes, dtype=int)
    bonus = _KEEP_CATEGORY_LOGIT + np.log(np.maximum(sizes - 1, 1))
    return np.repeat(bonus, sizes).astype(np.float32)
