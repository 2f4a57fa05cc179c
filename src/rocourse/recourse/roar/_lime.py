"""LIME (Ribeiro et al., 2016): a linear surrogate of a classifier around one row."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.schema import Layout, Rows, one_hot

# The log-odds that a surrogate is fitted to are those of probabilities within [1e-4, 1 − 1e-4]:
# beyond, a few neighbours that the model is sure of would outweigh all others.
_MOST_CERTAIN = float(np.log((1.0 - 1e-4) / 1e-4))

# Kernel width in units of the square root of the number of columns, as in LIME.
_KERNEL_WIDTH = 0.75


class Neighbourhood(NamedTuple):
    """The draws behind every row's neighbours: common to all rows, so that none depends on others.

    Also, two rows' surrogates then differ by the rows and not by the luck of the draw.
    """

    normals: Array
    """Standard normal, `[m, n_continuous]`."""
    categories: Array
    """One-hot groups, `[m, width - n_continuous]`."""


class Surrogate(NamedTuple):
    """A linear function of encoded rows: the log-odds of a class near one row."""

    weights: Array
    """`[width]`."""
    intercept: Array


def category_frequencies(rows: Rows, layout: Layout) -> np.ndarray:
    """How frequent each category is among the rows, float32 `[width - n_continuous]`."""
    shares: np.ndarray = one_hot(rows, layout)[:, layout.n_continuous :].mean(axis=0)
    return shares


def draw_neighbourhood(
    frequencies: np.ndarray, layout: Layout, *, count: int, seed: int
) -> Neighbourhood:
    """Draws the neighbours' noise and their categories.

    Args:
        frequencies: Of each category among the training rows, `[width - n_continuous]`.
        layout: Of the encoded rows.
        count: Number of neighbours.
        seed: The same seed gives the same draws.
    """
    rng = np.random.default_rng(seed)
    normals = rng.standard_normal((count, layout.n_continuous), dtype=np.float32)
    groups = [np.zeros((count, 0), np.float32)]
    for group in layout.group_slices:
        start, stop = group.start - layout.n_continuous, group.stop - layout.n_continuous
        edges = np.cumsum(frequencies[start:stop], dtype=np.float64)
        # The edges end where the frequencies sum to, which rounding keeps from being one.
        drawn = np.searchsorted(edges, rng.uniform(0.0, edges[-1], count), side="right")
        groups.append(np.eye(stop - start, dtype=np.float32)[np.minimum(drawn, stop - start - 1)])
    return Neighbourhood(jnp.asarray(normals), jnp.asarray(np.concatenate(groups, axis=1)))


def neighbours(
    x: Array, neighbourhood: Neighbourhood, layout: Layout, *, spread: Array | float
) -> Array:
    """Encoded rows around one, `[m, width]`.

    Values are moved by N(0, spread²) and kept in [0, 1]; categories are drawn as they occur in the
    training rows, whatever the row's own.
    """
    here = x[: layout.n_continuous]
    values = jnp.clip(here + spread * neighbourhood.normals, 0.0, 1.0)
    return jnp.concatenate([values, neighbourhood.categories], axis=1)


def fit_surrogate(x: Array, near: Array, log_odds: Array, *, alpha: Array | float) -> Surrogate:
    """The linear function that follows the log-odds of the neighbours of one row.

    Args:
        x: The row, `[width]`.
        near: Its neighbours, `[m, width]`.
        log_odds: Theirs, of the class in question, `[m]`.
        alpha: Weight of the ridge penalty.
    """
    width = _KERNEL_WIDTH * np.sqrt(x.shape[0])
    weights = jnp.exp(-jnp.sum(jnp.square(near - x), axis=1) / (2.0 * width**2))
    certain = jnp.clip(log_odds, -_MOST_CERTAIN, _MOST_CERTAIN)
    return weighted_ridge(near, certain, weights, alpha=alpha)


def weighted_ridge(x: Array, y: Array, weights: Array, *, alpha: Array | float) -> Surrogate:
    """Minimises Σ wᵢ(yᵢ − β·xᵢ − b)² + α‖β‖²; the intercept is not penalised.

    Args:
        x: `[m, width]`.
        y: `[m]`.
        weights: `[m]`, not negative.
        alpha: Above zero, which also keeps the normal equations solvable: the columns of a one-hot
            group always sum to one.
    """
    total = jnp.sum(weights)
    x_mean, y_mean = weights @ x / total, weights @ y / total
    root = jnp.sqrt(weights)
    centred = (x - x_mean) * root[:, None]
    gram = centred.T @ centred + alpha * jnp.eye(x.shape[1], dtype=x.dtype)
    moment = centred.T @ ((y - y_mean) * root)
    slope = jax.scipy.linalg.solve(gram, moment, assume_a="pos")
    return Surrogate(slope, y_mean - slope @ x_mean)
