"""Hard candidates, and which of two is the better recourse."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array


class Candidate(NamedTuple):
    """One encoded row with whole categories, as the model judged it."""

    x: Array
    """`[width]`."""
    cost: Array
    """L1 distance from the row to be changed; a changed category counts 2."""
    log_odds: Array
    """Of the target class."""
    valid: Array
    """Whether it will do: the target class is the most probable one, by the margin asked for."""


def no_candidate(x: Array) -> Candidate:
    """What any other candidate is better than: the row as it is."""
    never = jnp.asarray(-jnp.inf, x.dtype)
    return Candidate(x, cost=-never, log_odds=never, valid=jnp.array(False))


def better(one: Candidate, other: Candidate) -> Candidate:
    """The cheaper valid candidate; if none is valid, the one nearest to being so."""
    other_wins = jnp.where(
        one.valid == other.valid,
        jnp.where(one.valid, other.cost < one.cost, other.log_odds > one.log_odds),
        other.valid,
    )
    return Candidate(*(jnp.where(other_wins, b, a) for a, b in zip(one, other, strict=True)))
