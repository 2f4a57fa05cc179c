"""What a generator is asked and what it answers, whatever its inside.

A generator is an Equinox module that is called as `generator(request, random)` and returns a
`Proposal`. Everything that trains, attacks and serves generators relies on that alone.
"""

from typing import Literal, NamedTuple, Protocol, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.networks._mlp import Linear, linear_layers
from rocourse.schema import Layout
from rocourse.schema.constraints import Limits

GeneratorKind = Literal["rebuild", "edit"]
GENERATORS: tuple[GeneratorKind, ...] = get_args(GeneratorKind)

# The probability that an untrained `edit` generator leaves a category as it is. High enough for
# "no change" to be the default, low enough for a gradient to reach the other categories.
_KEEP_CATEGORY_LOGIT = 3.0
_FORBIDDEN = -1e9


class GeneratorShape(NamedTuple):
    """What a generator is built for."""

    layout: Layout
    n_classes: int
    z_width: int
    p_width: int


class Request(NamedTuple):
    """One row that wants a recourse, and all that a generator may look at.

    A generator whose attribute `takes_columns` is true is asked about many rows at once: all arrays
    then have a further, last axis of rows. It runs faster than one that is asked row by row.
    """

    x: Array
    """The encoded row, `[width]`."""
    target: Array
    """The desired class, one-hot `[n_classes]`."""
    z: Array
    """The output of the predictor's encoder, `[z_width]`."""
    p: Array
    """The last hidden layer of the predictor's head, `[p_width]`."""
    limits: Limits
    """What the row may become."""


class Proposal(NamedTuple):
    """What a generator asks for, before categories are made soft or hard."""

    continuous: Array
    """Values in the encoded space, `[n_continuous]`, within the row's limits."""
    logits: Array
    """One logit a category, `[width - n_continuous]`; forbidden ones are hugely negative."""
    penalty: Array | float = 0.0
    """What the row adds to the generator's loss besides validity and proximity."""


class RecourseGenerator(Protocol):
    """g(x; θ_g): any Equinox module with this signature can be trained, robustly or not.

    `random` holds as many numbers from U(0, 1) as the attribute `n_random` says (0 if there is no
    such attribute), fresh for each row; None asks for the most likely proposal.
    """

    def __call__(self, request: Request, random: Array | None = None) -> Proposal:
        """Proposes a recourse for one row."""


class GeneratorBuilder(Protocol):
    """Makes an untrained generator."""

    def __call__(self, shape: GeneratorShape, *, key: Array) -> RecourseGenerator:
        """A generator for rows and a predictor of this shape."""


def random_count(generator: RecourseGenerator) -> int:
    """How many random numbers a generator wants for each row."""
    return int(getattr(generator, "n_random", 0))


def takes_columns(generator: RecourseGenerator) -> bool:
    """Whether a generator wants many rows at once, as columns."""
    return bool(getattr(generator, "takes_columns", False))


def output_layer(in_width: int, layout: Layout, kind: GeneratorKind, *, key: Array) -> Linear:
    """The last layer of a generator, for `propose`; an untrained `edit` proposes no change."""
    (layer,) = linear_layers((in_width, layout.width), key=key)
    return jax.tree.map(jnp.zeros_like, layer) if kind == "edit" else layer


def propose(
    raw: Array,
    request: Request,
    layout: Layout,
    *,
    kind: GeneratorKind,
    penalty: Array | float = 0.0,
) -> Proposal:
    """Turns the `[width]` raw outputs of a network into a proposal within the row's limits.

    `rebuild` makes every feature anew; `edit` adds a path from the row itself, so that zeros mean
    no change.
    """
    cut = layout.n_continuous
    moves, logits = raw[:cut], raw[cut:]
    here, limits = request.x[:cut], request.limits
    if kind == "rebuild":
        share = jax.nn.sigmoid(moves)
        continuous = limits.low + share * (limits.high - limits.low)
    else:
        # A move is a share of the way to the upper or to the lower limit: it never leaves the
        # limits, is zero by default, and has a gradient at both ends.
        share = jnp.tanh(moves)
        up = jnp.maximum(share, 0.0) * (limits.high - here)
        down = jnp.maximum(-share, 0.0) * (here - limits.low)
        continuous = here + up - down
        bonus = _keep_bonus(layout).reshape(-1, *(1,) * (raw.ndim - 1))
        logits = logits + bonus * request.x[cut:]
    return Proposal(continuous, jnp.where(limits.allowed, logits, _FORBIDDEN), penalty)


def _keep_bonus(layout: Layout) -> np.ndarray:
    """What the current category's logit gets, so that every group starts equally reluctant."""
    sizes = np.asarray(layout.group_sizes, dtype=int)
    bonus = _KEEP_CATEGORY_LOGIT + np.log(np.maximum(sizes - 1, 1))
    return np.repeat(bonus, sizes).astype(np.float32)
