"""How likely a point is under the best and the worst Gaussian near a sample, by their distance.

RBR puts a Gaussian N(x_i, σ²I) on every sample and lets an adversary move its mean and stretch its
root covariance Σ^½ away from σI, within a Gelbrich distance of ε. Both the greatest and the least
log-likelihood of a point x that the adversary can bring about depend on x through the scalar
c = ‖x − x_i‖₂ alone. They are therefore solved once, accurately, on a grid of distances, and
interpolated inside the search.

Constants that all samples of a class share do not move the minimiser and are left out: a tabulated
value is relative to the one at c = 0.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

Floats = np.ndarray
_Objective = Callable[[Floats, Floats, Floats], Floats]

_NODES = 1024
_FIRST_GRID = 33
_ZOOM_GRID = 9
# Each round narrows the bracket fourfold: 14 of them leave angles exact to about 1e-9, as far as
# float64 can tell values apart near a minimum.
_ZOOM_ROUNDS = 14


class LikelihoodTable(NamedTuple):
    """Log-likelihoods by distance: second-order pieces between equally spaced nodes."""

    inverse_step: Array
    """Nodes per unit of distance."""
    pieces: Array
    """`[2 * (nodes - 1), 3]`: value, slope, curvature; unfavourable samples first."""


def optimistic(
    distance: Floats, *, dimension: int, sigma: float, epsilon: float
) -> tuple[Floats, Floats]:
    """The greatest log-likelihood, −min L_op, and its slope in the distance.

    L_op(v) = log(v₂ + σ) + (c − v₁)²/(2(v₂ + σ)²) + (p − 1)·log σ over v ≥ 0, ‖v‖₂ ≤ ε: the mean
    moves by v₁ towards the point, and the spread along the line between them grows by v₂. Within
    reach of ε the mean covers the whole distance; beyond, the budget is spent in full, and what
    remains is a search for the angle between v₁ and v₂.
    """
    c = np.asarray(distance, np.float64)

    def loss(c: Floats, angle: Floats, _: Floats) -> Floats:
        rest, spread = c - epsilon * np.cos(angle), sigma + epsilon * np.sin(angle)
        value: Floats = np.log(spread) + np.square(rest / spread) / 2.0
        return value

    angle, _ = _minimise(loss, c, width=1)
    rest = np.where(c <= epsilon, 0.0, c - epsilon * np.cos(angle))
    spread = sigma + np.where(c <= epsilon, 0.0, epsilon * np.sin(angle))
    value = np.log(spread) + np.square(rest / spread) / 2.0 + (dimension - 1) * np.log(sigma)
    # Envelope theorem: at the optimum only the explicit dependence on c counts.
    return -value, -rest / np.square(spread)


def pessimistic(
    distance: Floats, *, dimension: int, sigma: float, epsilon: float
) -> tuple[Floats, Floats]:
    """The least log-likelihood, min L_pe, and its slope in the distance.

    L_pe(u) = −log(u₂ + σ) − (c + a)²/(2(u₂ + σ)²) − (p − 1)·log(t + σ) with a = √p·u₁, over u ≥ 0:
    the mean moves away by a, the spread along the line grows by u₂, and what is left of the budget,
    a² + u₂² + (p − 1)·t² = ε², widens the other p − 1 directions. (a, u₂, √(p − 1)·t) is a
    point on an octant of a sphere, searched over two angles. The optimum has u₂ ≤ t, since
    spreading evenly raises the determinant most: that is the constraint ‖u‖₂ ≤ ε/√p, which
    therefore need not be imposed.
    """
    c = np.asarray(distance, np.float64)
    others = dimension - 1

    def parts(polar: Floats, azimuth: Floats) -> tuple[Floats, Floats, Floats]:
        radius = epsilon * np.sin(polar)
        widened = radius * np.sin(azimuth) / np.sqrt(max(others, 1))
        return epsilon * np.cos(polar), sigma + radius * np.cos(azimuth), sigma + widened

    def loss(c: Floats, polar: Floats, azimuth: Floats) -> Floats:
        away, spread, widened = parts(polar, azimuth)
        value: Floats = -np.log(spread) - np.square((c + away) / spread) / 2.0
        value -= others * np.log(widened)
        return value

    polar, azimuth = _minimise(loss, c, width=2)
    away, spread, _ = parts(polar, azimuth)
    return loss(c, polar, azimuth), -(c + away) / np.square(spread)


def _minimise(loss: _Objective, c: Floats, *, width: int) -> tuple[Floats, Floats]:
    """The angles in [0, π/2] (one or two) of least loss for each distance, by narrowing grids."""
    centres = [np.full(c.shape, np.pi / 4) for _ in range(2)]
    half = np.pi / 4
    nodes = _FIRST_GRID
    for _ in range(_ZOOM_ROUNDS + 1):
        offsets = np.linspace(-half, half, nodes)
        still = np.zeros(1)
        first, second = np.meshgrid(offsets, offsets if width == 2 else still, indexing="ij")
        angles = [
            np.clip(centre[..., None] + offset.ravel(), 0.0, np.pi / 2)
            for centre, offset in zip(centres, (first, second), strict=True)
        ]
        best = np.argmin(loss(c[..., None], *angles), axis=-1)[..., None]
        centres = [np.take_along_axis(grid, best, axis=-1)[..., 0] for grid in angles]
        # One cell to either side of the best node.
        half = 2.0 * half / (nodes - 1)
        nodes = _ZOOM_GRID
    return centres[0], centres[1]


@lru_cache(maxsize=32)
def likelihood_table(
    *, dimension: int, sigma: float, epsilon_op: float, epsilon_pe: float, reach: float
) -> LikelihoodTable:
    """Tabulates both likelihoods for distances up to `reach`; beyond, the last piece goes on.

    Args:
        dimension: p, the width of an encoded row.
        sigma: σ, the standard deviation of the Gaussian on each sample.
        epsilon_op: The adversary's reach around unfavourable samples.
        epsilon_pe: The adversary's reach around favourable samples.
        reach: The greatest distance that a search is expected to ask for.
    """
    c = np.linspace(0.0, reach, _NODES)
    step = c[1] - c[0]
    values, slopes = zip(
        optimistic(c, dimension=dimension, sigma=sigma, epsilon=epsilon_op),
        pessimistic(c, dimension=dimension, sigma=sigma, epsilon=epsilon_pe),
        strict=True,
    )
    value, slope = np.stack(values), np.stack(slopes)
    pieces = np.stack(
        [value[:, :-1] - value[:, :1], slope[:, :-1], np.diff(slope, axis=1) / step], axis=-1
    )
    # Kept as NumPy arrays: a table made while a function is traced must not belong to the trace.
    return LikelihoodTable(
        np.float32(1.0 / step),  # type: ignore[arg-type]
        pieces.reshape(-1, 3).astype(np.float32),  # type: ignore[arg-type]
    )


def look_up(table: LikelihoodTable, distance: Array, favourable: Array) -> tuple[Array, Array]:
    """Log-likelihoods and their slopes in the distance.

    Args:
        table: Of `likelihood_table`.
        distance: c, of any shape.
        favourable: Which samples the point should be near, of the same shape: these take the least
            likelihood, the others the greatest.
    """
    pieces = table.pieces.shape[0] // 2
    node = jnp.minimum((distance * table.inverse_step).astype(jnp.int32), pieces - 1)
    past = distance - node / table.inverse_step
    index = node + jnp.where(favourable, pieces, 0)
    value, slope, curvature = jnp.moveaxis(jnp.asarray(table.pieces)[index], -1, 0)
    return value + past * (slope + 0.5 * past * curvature), slope + past * curvature


def log_odds(table: LikelihoodTable, distance: Array, favourable: Array) -> tuple[Array, Array]:
    """F and its derivative in each sample's distance.

    F = logsumexp of the greatest log-likelihoods of the unfavourable samples minus logsumexp of the
    least log-likelihoods of the favourable ones: the worst-case log-odds against the target. A side
    without samples has no say.
    """
    value, slope = look_up(table, distance, favourable)
    against, against_share = _logsumexp(value, ~favourable)
    towards, towards_share = _logsumexp(value, favourable)
    return against - towards, slope * (against_share - towards_share)


def _logsumexp(values: Array, counted: Array) -> tuple[Array, Array]:
    """The logsumexp of the values that count, and each one's share; zeros if none does."""
    highest = jax.lax.stop_gradient(jnp.max(jnp.where(counted, values, -jnp.inf), initial=-1e30))
    raised = jnp.where(counted, jnp.exp(jnp.minimum(values - highest, 0.0)), 0.0)
    total = jnp.sum(raised)
    some = total > 0.0
    share = raised / jnp.where(some, total, 1.0)
    return jnp.where(some, highest + jnp.log(jnp.where(some, total, 1.0)), 0.0), share
