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
    nowhere: Array
    """No places, `[0, n]`: without numbers there are no tries."""

    @classmethod
    def of(cls, far: Array, stop: Stop, shares: Sequence[float]) -> "Retreats":
        """Those from where numbers are, `[n]`, by shares of what is left of the way."""
        tries: list[Array] = []
        now = far[None]
        for share in shares:
            tried = stop(now, jnp.float32(share))
            tries.append(tried)
            now = jnp.concatenate([tried, now])
        return cls(tuple(tries), jnp.zeros((0, *far.shape)))

    @property
    def places(self) -> Array:
        """All of them, `[2 ** tries - 1, n]`."""
        return jnp.concatenate([self.nowhere, *self.tries])

    def settle(
        self, far: Array, worth: Callable[[Array, Array], Array], as_it_is: Array
    ) -> tuple[Array, Array]:
        """Where numbers end, and what that is worth, `[n]` each.

        Args:
            far: Where they are.
            worth: What places `[n]`, with their numbers among all, are worth.
            as_it_is: The same of where they are.
        """
        now, past, start = far, jnp.zeros(far.shape, jnp.int32), 0
        for i, tried in enumerate(self.tries):
            value = jnp.take_along_axis(tried, past[None], axis=0)[0]
            said = worth(value, start + past)
            better = said >= as_it_is
            now, as_it_is = jnp.where(better, value, now), jnp.where(better, said, as_it_is)
            past = past + jnp.where(better, 0, 2**i)
            start += 2**i
        return now, as_it_is
