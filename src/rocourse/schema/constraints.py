"""The constraint layer: what a recourse for one encoded row may ask for, inside compiled code.

This is the only part of `rocourse.schema` that needs JAX. It steers generators in training and at
inference; `Schema.settle` then enforces the same rules exactly, in raw units.

All functions take one row `[features]`, or many as columns `[features, n]`: the first axis is that
of the features. As columns, the rows lie together in memory, which is what vectors of the processor
want, whatever the number of features.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.schema import (
    Categorical,
    Continuous,
    Layout,
    Narrowing,
    NumberRule,
    Schema,
    Usual,
)
from rocourse.schema.action_limits import ActionLimits

__all__ = ["ConstraintLayer", "Limits", "expand", "harden", "soften"]


class Limits(NamedTuple):
    """What one row may become."""

    low: Array
    """Least encoded value of each continuous feature, `[n_continuous]`."""
    high: Array
    """Greatest encoded value of each continuous feature, `[n_continuous]`."""
    allowed: Array
    """Which categories may be chosen, bool `[width - n_continuous]`."""


class ConstraintLayer(eqx.Module):
    """Immutables, directions and bounds of a schema as arrays, and its limits of change if any.

    The rules are data, not structure: schemas of one layout share compiled code, whatever they
    allow; those with limits of change another.
    """

    low: Array
    high: Array
    may_rise: Array
    may_fall: Array
    position: Array
    """Of each category in its group."""
    category_may_rise: Array
    category_may_fall: Array
    layout: Layout = eqx.field(static=True)
    actions: ActionLimits | None = None

    @classmethod
    def from_schema(cls, schema: Schema, usual: Usual | None = None) -> "ConstraintLayer":
        """Reads the rules off a schema.

        Args:
            schema: The schema.
            usual: The values that may be asked for; None: all that the schema allows.
        """
        continuous, categorical = schema.continuous, schema.categorical
        layout = schema.layout
        sizes = np.asarray(layout.group_sizes, dtype=int)

        def rises(feature: Continuous | Categorical) -> bool:
            return not feature.immutable and feature.direction != "down"

        def falls(feature: Continuous | Categorical) -> bool:
            return not feature.immutable and feature.direction != "up"

        def per_category(flags: list[bool]) -> np.ndarray:
            return np.repeat(np.asarray(flags, dtype=bool), sizes)

        position, is_gap = _columns(layout)[1].astype(np.float32), _gaps(categorical)
        # A gap is never entered; with a direction it is not left either, by whatever is beyond it.
        position[is_gap & per_category([f.direction == "down" for f in categorical])] = -1.0

        numbers = [rule for rule in schema.rules.values() if isinstance(rule, NumberRule)]
        limits = np.array([_encoded_bounds(rule) for rule in numbers], np.float32).reshape(-1, 2)
        low, high = limits.T
        asked = ~is_gap
        if usual is not None:
            low, high = np.clip(usual.low, low, high), np.clip(usual.high, low, high)
            asked &= usual.common
        rules = {
            "low": low,
            "high": high,
            "may_rise": np.array([rises(f) for f in continuous], dtype=bool),
            "may_fall": np.array([falls(f) for f in continuous], dtype=bool),
            "position": position,
            "category_may_rise": per_category([rises(f) for f in categorical]) & asked,
            "category_may_fall": per_category([falls(f) for f in categorical]) & asked,
        }
        # Put there as they are: `jnp.asarray` would compile something for each new shape.
        return cls(**jax.device_put(rules), layout=layout, actions=ActionLimits.of(schema))

    def narrowed(self, narrowing: Narrowing) -> "ConstraintLayer":
        """The rules that wishes leave; rows have to lie within their ranges already."""
        layout = self.layout
        free = ~narrowing.locked
        numbers = free[: layout.n_continuous]
        # Whoever wants a category may stay in it, but not go to one that will not do.
        chosen = np.repeat(free[layout.n_continuous :], np.asarray(layout.group_sizes, dtype=int))
        chosen = chosen & narrowing.accepted
        rules = {
            "low": np.maximum(self.low, narrowing.low),
            "high": np.minimum(self.high, narrowing.high),
            "may_rise": np.asarray(self.may_rise) & numbers,
            "may_fall": np.asarray(self.may_fall) & numbers,
            "category_may_rise": np.asarray(self.category_may_rise) & chosen,
            "category_may_fall": np.asarray(self.category_may_fall) & chosen,
        }
        actions = self.actions
        if narrowing.preferred.any():
            # A search that weighs costs goes for what is preferred by itself.
            actions = actions or ActionLimits.read(narrowing.schema)
            actions = actions.dearer(narrowing.weights, layout.group_sizes)
        return replace(self, **jax.device_put(rules), actions=actions)

    def limits(self, x: Array) -> Limits:
        """What the encoded row `x` may become; staying as it is always remains allowed."""
        here, one_hot = x[: self.layout.n_continuous], x[self.layout.n_continuous :]
        position = _along(self.position, x)
        # Of each column: by how many categories it lies above the one that its group is at.
        # Later categories are reached by rising, earlier ones by falling.
        distance = position - _group_sums(one_hot * position, self.layout)
        allowed = (
            (jnp.abs(distance) < 0.5)
            | ((distance > 0.5) & _along(self.category_may_rise, x))
            | ((distance < -0.5) & _along(self.category_may_fall, x))
        )
        low, high = _along(self.low, x), _along(self.high, x)
        low = jnp.where(_along(self.may_fall, x), jnp.minimum(low, here), here)
        high = jnp.where(_along(self.may_rise, x), jnp.maximum(high, here), here)
        if self.actions is not None:
            low, high = self.actions.reach(low, high, here)
            allowed = allowed & self.actions.allowed(one_hot)
        return Limits(low, high, allowed)


def _gaps(features: tuple[Categorical, ...]) -> np.ndarray:
    """Of each one-hot column: whether it is that of missing values, bool."""
    columns = [code == feature.gap for feature in features for code in range(feature.size)]
    return np.array(columns, dtype=bool)


def _encoded_bounds(rule: NumberRule) -> tuple[float, float]:
    least, greatest = rule.feature.bounds
    low = 0.0 if least is None else rule.scale(least)
    high = 1.0 if greatest is None else rule.scale(greatest)
    return low, high


def expand(continuous: Array, categories: Array, layout: Layout) -> Array:
    """One compact row as an encoded vector: values, then one-hot groups, `[width]`."""
    group, position = _columns(layout)
    one_hot = categories[group] == _along(position, categories)
    return jnp.concatenate([continuous, one_hot.astype(continuous.dtype)])


def soften(continuous: Array, logits: Array, layout: Layout) -> Array:
    """A proposal with per-group softmax, `[width]`: what the generator is trained on."""
    if not layout.group_sizes:
        return continuous
    group, _ = _columns(layout)
    still = jax.lax.stop_gradient(logits)
    highest = _by_group(lambda table: jnp.max(table, axis=1), still, layout)[group]
    raised = jnp.exp(logits - highest)
    return jnp.concatenate([continuous, raised / _group_sums(raised, layout)])


def harden(logits: Array, layout: Layout) -> Array:
    """The category chosen in each group, `[n_groups]`: what is returned to a user."""
    if not layout.group_sizes:
        return jnp.zeros((0, *logits.shape[1:]), jnp.int32)

    def first_of_the_highest(table: Array) -> Array:
        # Two plain reductions run many times faster than one argmax.
        highest = table == jnp.max(table, axis=1, keepdims=True)
        last = table.shape[1] - 1
        position = _along(np.arange(last + 1, dtype=np.int32), table[0])
        return jnp.min(jnp.where(highest, position, last), axis=1)

    return _by_group(first_of_the_highest, logits, layout)


def _columns(layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Of each one-hot column: its group, and its position in the group."""
    sizes = np.asarray(layout.group_sizes, dtype=int)
    group = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.cumsum(sizes) - sizes
    return group, np.arange(len(group)) - starts[group]


def _group_sums(values: Array, layout: Layout) -> Array:
    """Of each one-hot column: the sum of `values` over its group.

    All groups at once, by products with a constant thin matrix: that compiles and runs faster than
    a sum a group.
    """
    group, _ = _columns(layout)
    members = (group[:, None] == np.arange(len(layout.group_sizes))).astype(np.float32)
    # Exactly, also where products are made of shorter numbers by default.
    sums = jnp.matmul(members.T, values, precision="highest")
    return jnp.matmul(members, sums, precision="highest")


def _along(vector: Array | np.ndarray, like: Array) -> Array | np.ndarray:
    """A vector over the first axis, in a shape that goes with `like`."""
    return vector.reshape(-1, *(1,) * (like.ndim - 1))


def _by_group(reduce: Callable[[Array], Array], values: Array, layout: Layout) -> Array:
    """Reduces the one-hot columns of each group, `[n_groups]`.

    Groups of like size share a table, `[groups, size]`, whose shorter rows are filled up with their
    last column: one reduction a table compiles and runs faster than one a group, and a table of all
    groups would be mostly filling.
    """
    sizes = np.asarray(layout.group_sizes, dtype=int)
    starts = np.cumsum(sizes) - sizes
    scales = [int(size).bit_length() for size in sizes]
    parts, order = [], []
    for scale in sorted(set(scales)):
        members = np.flatnonzero(np.asarray(scales) == scale)
        position = np.arange(sizes[members].max())
        source = starts[members, None] + np.minimum(position, sizes[members, None] - 1)
        parts.append(reduce(values[source]))
        order.append(members)
    return jnp.concatenate(parts)[np.argsort(np.concatenate(order))]
