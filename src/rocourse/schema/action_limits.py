"""Limits of change inside compiled code: what `ConstraintLayer` knows beyond directions and bounds.

Only schemas that state such limits have them, so that the code of all others does not change. As
the constraint layer's they are data: what is limited by how much is not compiled in.
`Schema.settle` enforces the same limits exactly, in raw units.

All functions take rows as columns `[features, n]`, or one `[features]`.
"""

from collections.abc import Sequence
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.schema import Schema
from rocourse.schema._together import JointRules

__all__ = ["ActionLimits"]

# More than any encoded number can move by, also as a share of what it is.
_FAR = 1e9
_SUMS = 4


class ActionLimits(eqx.Module):
    """The largest changes, moves, prices and joint rules of a schema as arrays.

    Of C continuous features, all in encoded units; W is the number of one-hot columns.
    """

    up: Array
    """The largest rise of each number, `[C]`."""
    down: Array
    up_share: Array
    """The largest rise as a share of the number itself, `[C]`."""
    down_share: Array
    zero: Array
    """What is added to encoded numbers to make them shares of raw ones, `[C]`."""
    may_follow: Array
    """Whether a column's category may come after another's, float32 `[after, before]`, `[W, W]`."""
    weights: Array
    """The price of each number's unit, `[C]`."""
    prices: Array
    """The price of a move, `[after, before]`, `[W, W]`."""
    feature_weights: Array
    """How hard each feature is to change, numbers first, `[features]`."""
    follow: Array
    """By how much each number moves with each, `[C, C]`."""
    factors: Array
    """Those of each sum that is limited, `[sums, C]`."""
    at_most: Array
    """The most of each sum, `[sums]`."""
    max_features: Array
    """The most features that may change."""

    @classmethod
    def of(cls, schema: Schema) -> "ActionLimits | None":
        """Reads the limits off a schema; None if it states none."""
        return cls.read(schema) if schema.actions.limited else None

    @classmethod
    def read(cls, schema: Schema) -> "ActionLimits":
        """The same, none of them binding where it states none."""
        actions = schema.actions
        spans = np.array([feature.span for feature in schema.continuous])
        lows = np.array([feature.low for feature in schema.continuous])
        changes = [feature.change for feature in schema.continuous]

        def largest(name: str, scale: np.ndarray) -> np.ndarray:
            said = [None if one is None else getattr(one, name) for one in changes]
            sizes = np.array([np.inf if one is None else one for one in said])
            return np.asarray(np.minimum(sizes / scale, _FAR))

        ones, weights = np.ones(len(spans)), actions.pricing.weights()
        moves = [feature.moves for feature in schema.categorical]
        joint = actions.joint or JointRules.of(schema.features, None, ())
        factors, at_most = joint.factors * spans, joint.at_most - joint.factors @ lows
        # All sums of one size, so that one rounding goes for all; and a few that are never reached,
        # so that schemas with other numbers of sums share compiled code.
        sizes = np.abs(factors).sum(axis=1)[:, None]
        spare = max(_SUMS - len(factors), -len(factors) % _SUMS)
        arrays = {
            "up": largest("max_increase", spans),
            "down": largest("max_decrease", spans),
            "up_share": largest("max_increase_share", ones),
            "down_share": largest("max_decrease_share", ones),
            "zero": lows / spans,
            "may_follow": _blocks([table.T for table in actions.transitions()]),
            "weights": weights,
            "prices": _blocks([table.T for table in actions.pricing.move_prices()]),
            "feature_weights": np.concatenate(
                [weights, [1.0 if one is None else one.weight for one in moves]]
            ),
            # What moves by a raw unit moves by 1 / span.
            "follow": joint.follow * spans / spans[:, None],
            "factors": np.pad(factors / sizes, ((0, spare), (0, 0))),
            "at_most": np.pad(at_most / sizes[:, 0], (0, spare), constant_values=_FAR),
            "max_features": np.array(joint.max_features or len(schema.features)),
        }
        ready = {name: array.astype(np.float32) for name, array in arrays.items()}
        return cls(**jax.device_put(ready))

    def dearer(self, times: np.ndarray, sizes: Sequence[int]) -> "ActionLimits":
        """The same, with changes of each feature so many times as dear, `[features]`.

        Args:
            times: Numbers first.
            sizes: How many columns each categorical feature has.
        """
        cut = len(self.weights)
        groups = np.repeat(times[cut:], np.asarray(sizes, dtype=int))
        fresh = {
            "weights": np.asarray(self.weights) * times[:cut],
            "prices": np.asarray(self.prices) * groups[:, None],
            "feature_weights": np.asarray(self.feature_weights) * times,
        }
        ready = {name: array.astype(np.float32) for name, array in fresh.items()}
        return replace(self, **jax.device_put(ready))

    def reach(self, low: Array, high: Array, here: Array) -> tuple[Array, Array]:
        """The least and the greatest number that each may become, of such without these limits."""
        size = jnp.abs(here + _along(self.zero, here))

        def largest(way: Array, share: Array) -> Array:
            # No share of nothing is a limit where none is stated.
            part = jnp.where(share < _FAR, share * size, _FAR)
            return jnp.minimum(way, part)

        rise = largest(_along(self.up, here), _along(self.up_share, here))
        fall = largest(_along(self.down, here), _along(self.down_share, here))
        low, high = jnp.maximum(low, here - fall), jnp.minimum(high, here + rise)
        # What follows is moved by others, and they no further than it can go.
        links = _along(self.follow, here)
        linked = links != 0.0
        ways = jnp.where(linked, links, 1.0)
        ends = (jnp.stack([low, high]) - here)[:, :, None] / ways
        most = jnp.min(jnp.where(linked, jnp.max(ends, axis=0), _FAR), axis=0)
        least = jnp.max(jnp.where(linked, jnp.min(ends, axis=0), -_FAR), axis=0)
        follows = _along(jnp.any(self.follow != 0.0, axis=1), here)
        low = jnp.where(follows, here, jnp.maximum(low, here + least))
        high = jnp.where(follows, here, jnp.minimum(high, here + most))
        return jnp.minimum(low, here), jnp.maximum(high, here)

    def allowed(self, one_hot: Array) -> Array:
        """Which categories may follow those that rows have, bool `[W]`."""
        return jnp.matmul(self.may_follow, one_hot, precision="highest") > 0.5

    def rates(self, x: Array) -> Array:
        """What a unit of each encoded column costs rows, `[width]`.

        A category costs what the move to it does; leaving one costs nothing more.
        """
        cut = len(self.weights)
        weights = jnp.broadcast_to(_along(self.weights, x), (cut, *x.shape[1:]))
        moves = jnp.matmul(self.prices, x[cut:], precision="highest")
        return jnp.concatenate([weights, moves])

    def moved(self, x: Array, row: Array) -> Array:
        """Changed rows in which numbers that follow others have followed, `[width]`."""
        cut = len(self.weights)
        way = jnp.matmul(self.follow, x[:cut] - row[:cut], precision="highest")
        follows = _along(jnp.any(self.follow != 0.0, axis=1), x)
        numbers = jnp.where(follows, row[:cut] + way, x[:cut])
        return jnp.concatenate([numbers, x[cut:]])

    def steered(self, weight: Array) -> Array:
        """First layers, `[width, units]`, as each number moves them with what follows it."""
        cut = len(self.weights)
        return weight.at[:cut].add(jnp.matmul(self.follow.T, weight[:cut], precision="highest"))

    def room(self, x: Array, row: Array) -> Array:
        """By how much each sum may still grow, `[sums]`; below 0 for one that breaks its limit."""
        cut = len(self.weights)
        now, before = (jnp.matmul(self.factors, part[:cut]) for part in (x, row))
        return jnp.maximum(_along(self.at_most, now), before) - now

    def effects(self) -> Array:
        """By how much each sum grows with each number and what follows it, `[sums, C]`."""
        return self.factors + jnp.matmul(self.factors, self.follow, precision="highest")


def _along(array: Array, like: Array) -> Array:
    """Over the first axes, in a shape that goes with `like`."""
    return array.reshape(*array.shape, *(1,) * (like.ndim - 1))


def _blocks(tables: list[np.ndarray]) -> np.ndarray:
    """Tables along the diagonal of one."""
    width = sum(len(table) for table in tables)
    joined, start = np.zeros((width, width)), 0
    for table in tables:
        stop = start + len(table)
        joined[start:stop, start:stop] = table
        start = stop
    return joined
