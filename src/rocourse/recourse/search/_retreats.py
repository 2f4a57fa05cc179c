"""Numbers that went further than need be: all places on the way back that may be tried."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

Stop = Callable[[Array, Array], Array]
"""From where numbers are and a share of the way back to where they would stop."""


class Retreats(NamedTuple):
    """Where numbers may be tried, one try after the other: each starts where the last one ended.

    What comes of a try is not known before it is judged, so that there are twice as many places
    with every try; judging them all at once takes less time than one after the other.
    """

    tries: tuple[Array, ...]
    """Of each try, the places `[2 ** i, n]`: first those of which the last try has held."""

    @classmethod
    def of(cls, far: Array, stop: Stop, shares: Sequence[float]) -> "Retreats":
        """Those from where numbers are, `[n]`, by shares of what is left of the way."""
        tries: list[Array] = []
        now = far[None]
        for share in shares:
            tried = stop(now, jnp.float32(share))
            tries.append(tried)
            now = jnp.concatenate([tried, now])
        return cls(tuple(tries))

    @property
    def places(self) -> Array:
        """All of them, `[2 ** tries - 1, n]`."""
        return jnp.concatenate(self.tries)

    def settle(self, far: Array, held: Callable[[Array, Array], Array]) -> Array:
        """Where numbers end, `[n]`.

        Args:
            far: Where they are.
            held: Whether places `[n]`, with their numbers among all, will do.
        """
        now, past, start = far, jnp.zeros(far.shape, jnp.int32), 0
        for i, tried in enumerate(self.tries):
            value = jnp.take_along_axis(tried, past[None], axis=0)[0]
            holds = held(value, start + past)
            now = jnp.where(holds, value, now)
            past = past + jnp.where(holds, 0, 2**i)
            start += 2**i
        return now
