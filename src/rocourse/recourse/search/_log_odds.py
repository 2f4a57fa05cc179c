"""The log-odds that all searches work on, from networks and from probabilities."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from rocourse.networks import probabilities

Network = Callable[[Array], Array]
"""One encoded row to logits (one for two classes), traceable by JAX: an Equinox module."""

# Probabilities from outside are trusted no closer to 0 and 1 than float32 can tell 1 − p from 1.
LEAST_PROBABILITY = 1e-7
# Slopes of log-odds are taken at probabilities no nearer to 0 and 1 than this: where a forest is
# sure they would be so steep that an optimiser with a memory feels nothing else for a long time.
_LEAST_SLOPE_PROBABILITY = 1e-2


def log_odds(logits: Array, target: Array) -> Array:
    """The log-odds of one class against all others, from the logits of one row.

    Taken from the logits, not from the probability: where a network is sure of another class, the
    probability rounds to zero and its gradient vanishes.
    """
    if logits.shape[-1] == 1:
        return jnp.where(target == 1, logits[0], -logits[0])
    is_target = jnp.arange(logits.shape[-1]) == target
    others = jax.nn.logsumexp(jnp.where(is_target, -jnp.inf, logits))
    return logits[target] - others


def judge(network: Network, x: Array, target: Array) -> tuple[Array, Array]:
    """The log-odds of the target class of one row, and whether it is the most probable class."""
    logits = network(x)
    return log_odds(logits, target), jnp.argmax(probabilities(logits)) == target


def log_odds_of(probability: Array) -> Array:
    """The log-odds of probabilities that come from outside; finite for 0 and 1."""
    p = jnp.clip(probability, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    return jnp.log(p) - jnp.log1p(-p)


def log_odds_slope(probability: Array, slope: Array) -> Array:
    """The gradient of the log-odds of one row, given that of the probability."""
    p = jnp.clip(probability, _LEAST_SLOPE_PROBABILITY, 1.0 - _LEAST_SLOPE_PROBABILITY)
    return slope / (p * (1.0 - p))


def judged(probabilities_: Array, target: Array) -> tuple[Array, Array]:
    """As `judge`, of the class probabilities `[n_classes]` that a model gave one row."""
    return log_odds_of(probabilities_[target]), jnp.argmax(probabilities_) == target
