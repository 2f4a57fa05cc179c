"""Small networks, many of them trained at once."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from rocourse.models._compilation import compiled, own_device

Numbers = Array | np.ndarray

_HIDDEN = 32
_STEPS = 400
_BATCH = 128
_LEARNING_RATE = 0.01
_WEIGHT_DECAY = 1e-3


class Networks(NamedTuple):
    """One hidden layer each; of all networks side by side."""

    hidden_weight: Numbers
    """`[networks, units, width]`."""
    hidden_bias: Numbers
    """`[networks, units]`."""
    weight: Numbers
    """`[networks, classes, units]`."""
    bias: Numbers
    """`[networks, classes]`."""


def train_networks(
    x: list[np.ndarray], labels: list[np.ndarray], n_classes: int, *, seed: int
) -> Networks:
    """A network for each set of rows.

    All take as many steps, whatever the number of rows: few rows are seen often enough to be
    learned, and many cost no more.

    Args:
        x: Encoded rows, `[n, width]`, of each network.
        labels: Class indices, `[n]`, of each.
        n_classes: How many classes there are.
        seed: Decides starts and batches.
    """
    rng = np.random.default_rng(seed)
    size = max(map(len, x))
    # Of one length, so that they can be trained side by side; what is drawn lies within each.
    rows = np.stack([part[np.resize(np.arange(len(part)), size)] for part in x])
    classes = np.stack([part[np.resize(np.arange(len(part)), size)] for part in labels])
    batch = min(_BATCH, size)
    drawn = rng.integers(size, size=(_STEPS, len(x), batch)).astype(np.int32)
    with jax.default_device(own_device()):
        start = _start(rng, len(x), rows.shape[2], n_classes)
        trained = _train(start, *map(jnp.asarray, (rows, classes, drawn)))
    return jax.tree.map(np.asarray, trained)  # type: ignore[no-any-return]


def network_scores(networks: Networks, x: Array) -> Array:
    """The score of each class for encoded rows as columns: `[networks, classes, n]`."""
    hidden = jnp.einsum("muw,wn->mun", networks.hidden_weight, x)
    return scores_of_hidden(networks, hidden)


def scores_of_hidden(networks: Networks, hidden: Array) -> Array:
    """As `network_scores`, of the hidden layer's products `[networks, units, n]`."""
    active = jnp.maximum(hidden + networks.hidden_bias[:, :, None], 0.0)
    return jnp.einsum("mcu,mun->mcn", networks.weight, active) + networks.bias[:, :, None]


Carry = tuple[Networks, Any]


def _start(rng: np.random.Generator, count: int, width: int, n_classes: int) -> Networks:
    def drawn(*shape: int) -> np.ndarray:
        scale = np.sqrt(2.0 / shape[-1])
        numbers: np.ndarray = (scale * rng.normal(size=shape)).astype(np.float32)
        return numbers

    return Networks(
        drawn(count, _HIDDEN, width),
        np.zeros((count, _HIDDEN), np.float32),
        drawn(count, n_classes, _HIDDEN),
        np.zeros((count, n_classes), np.float32),
    )


@compiled
def _train(networks: Networks, rows: Array, labels: Array, drawn: Array) -> Networks:
    optimizer = optax.adamw(
        optax.cosine_decay_schedule(_LEARNING_RATE, _STEPS), weight_decay=_WEIGHT_DECAY
    )

    def loss(networks: Networks, x: Array, y: Array) -> Array:
        hidden = jnp.einsum("muw,mbw->mub", networks.hidden_weight, x)
        scores = scores_of_hidden(networks, hidden)
        losses = optax.softmax_cross_entropy_with_integer_labels(jnp.moveaxis(scores, 1, 2), y)
        # Each network has a loss of its own.
        return jnp.sum(jnp.mean(losses, axis=1))

    def step(carry: Carry, places: Array) -> tuple[Carry, None]:
        networks, state = carry
        x = jnp.take_along_axis(rows, places[:, :, None], axis=1)
        y = jnp.take_along_axis(labels, places, axis=1)
        slopes = jax.grad(loss)(networks, x, y)
        updates, state = optimizer.update(slopes, state, networks)
        moved: Networks = optax.apply_updates(networks, updates)
        return (moved, state), None

    (networks, _), _ = jax.lax.scan(step, (networks, optimizer.init(networks)), drawn)
    return networks
