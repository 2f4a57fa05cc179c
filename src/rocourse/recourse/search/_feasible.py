"""Where a search may go: projection of one encoded row on its limits, and back to whole categories.

While searching, the categories of a feature are shares that sum to one; at the end each feature has
a single category again.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.schema import NEGLIGIBLE_CHANGE, Layout, Schema
from rocourse.schema.constraints import ConstraintLayer, Limits, expand, harden

# Above this many whole numbers in a feature's range, rounding to one is no change to speak of, and
# float32 could not count them.
_MOST_WHOLE_NUMBERS = 1e6
# Encoded values are float32: a number on the grid need not be there to the last digit.
_PLACES = 1e-3


def project(x: Array, limits: Limits, layout: Layout) -> Array:
    """The point nearest to `x` in Euclidean distance that keeps to the limits, `[width]`.

    Continuous features are clipped; each one-hot group goes to the nearest point of the probability
    simplex over its allowed categories.
    """
    cut = layout.n_continuous
    continuous = jnp.clip(x[:cut], limits.low, limits.high)
    if not layout.group_sizes:
        return continuous
    return jnp.concatenate([continuous, _project_groups(x[cut:], limits.allowed, layout)])


def hard(x: Array, layout: Layout) -> tuple[Array, Array]:
    """The compact row that `x` stands for: values `[C]`, and a category a group `[K]`."""
    cut = layout.n_continuous
    return x[:cut], harden(x[cut:], layout)


def harden_encoded(x: Array, layout: Layout) -> Array:
    """`x` with a single category a group, `[width]`."""
    return expand(*hard(x, layout), layout)


class Space(eqx.Module):
    """Where searches may go: the constraints, and which values are whole numbers."""

    constraints: ConstraintLayer
    step: Array
    """Distance between whole numbers in encoded units, `[n_continuous]`; 0 where any value goes."""
    first: Array
    """The least whole number in encoded units, `[n_continuous]`."""

    def __init__(self, schema: Schema, constraints: ConstraintLayer | None = None) -> None:
        steps, firsts = [], []
        for feature in schema.continuous:
            step = 1.0 if feature.change is None else feature.change.step or 1.0
            counted = feature.integer or (feature.change is not None and feature.change.step)
            whole = counted and feature.span / step <= _MOST_WHOLE_NUMBERS
            steps.append(step / feature.span if whole else 0.0)
            firsts.append((math.ceil(feature.low / step) * step - feature.low) / feature.span)
        self.constraints = constraints or ConstraintLayer.from_schema(schema)
        self.step = jnp.asarray(np.array(steps, np.float32))
        self.first = jnp.asarray(np.array(firsts, np.float32))

    @property
    def layout(self) -> Layout:
        """Of the encoded rows."""
        return self.constraints.layout

    def settle(self, x: Array, row: Array, limits: Limits) -> Array:
        """`x` as it will be returned to a user, but for rounding, `[width]`.

        One category a group, whole numbers where they must be, and no change that nobody would
        notice: a search that judged anything else could end just short of the boundary. (In raw
        units and exactly, that is what `Schema.settle` does afterwards.)

        Args:
            x: A point within the limits.
            row: The encoded row to be changed.
            limits: Of that row.
        """
        cut = self.layout.n_continuous
        values, here = x[:cut], row[:cut]
        step = jnp.where(self.step > 0.0, self.step, 1.0)
        whole = self.first + step * jnp.round((values - self.first) / step)
        values = jnp.where(self.step > 0.0, jnp.clip(whole, limits.low, limits.high), values)
        values = jnp.where(jnp.abs(values - here) < NEGLIGIBLE_CHANGE, here, values)
        if self.constraints.actions is None:
            return expand(values, harden(x[cut:], self.layout), self.layout)
        # The limit of a row need not be on the grid: the last place before it is.
        last = self.first + step * jnp.where(
            values > here,
            jnp.floor((values - self.first) / step + _PLACES),
            jnp.ceil((values - self.first) / step - _PLACES),
        )
        values = jnp.where((self.step > 0.0) & (values != here), last, values)
        values = jnp.where(jnp.abs(values - here) < NEGLIGIBLE_CHANGE, here, values)
        settled = expand(values, harden(x[cut:], self.layout), self.layout)
        return self.constraints.actions.moved(settled, row)


def group_members(layout: Layout) -> np.ndarray:
    """Which one-hot column is in which group, float32 `[width - n_continuous, n_groups]`."""
    return np.repeat(np.eye(layout.n_categorical, dtype=np.float32), layout.group_sizes, axis=0)


class _Threshold(NamedTuple):
    """State of the search for each group's threshold."""

    threshold: Array
    moved: Array
    steps: Array


def _project_groups(values: Array, allowed: Array, layout: Layout) -> Array:
    """Each group's nearest point on its simplex: max(v − θ, 0) with θ such that they sum to one.

    θ is the root of a convex, decreasing, piecewise linear function, to which Newton's method rises
    from below in as many steps as pieces are crossed: two or three for a point that a small step
    took off the simplex, against a sort of every group. Sums over groups are products with a
    constant matrix, so that all groups are done at once.
    """
    member = group_members(layout)

    def newton(state: _Threshold) -> _Threshold:
        active = allowed & (values > state.threshold @ member.T)
        sums = jnp.stack([jnp.where(active, values, 0.0), active.astype(values.dtype)]) @ member
        # No category is active only where rounding swallowed the differences: stay there.
        higher = (sums[0] - 1.0) / jnp.maximum(sums[1], 1.0)
        threshold = jnp.where(sums[1] > 0.0, higher, state.threshold)
        # Rising stops at the root up to rounding; a step down is rounding alone.
        moved = jnp.any(threshold > state.threshold)
        return _Threshold(jnp.maximum(threshold, state.threshold), moved, state.steps + 1)

    start = jnp.full(layout.n_categorical, -np.finfo(np.float32).max, values.dtype)
    state = _Threshold(start, jnp.array(True), jnp.array(0))
    limit = max(layout.group_sizes) + 1
    state = jax.lax.while_loop(lambda s: s.moved & (s.steps < limit), newton, state)
    return jnp.where(allowed, jnp.maximum(values - state.threshold @ member.T, 0.0), 0.0)
