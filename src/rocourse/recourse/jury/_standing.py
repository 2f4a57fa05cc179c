"""How sure a jury is of a row: by how many standard deviations each family leads for its class."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from rocourse.models.jurors import Jurors, lead, scores_of_hidden, tree_scores
from rocourse.recourse.search import Numbers, committee_scores

# Jurors that agree to the last digit are no surer than this: the deviation of log-odds.
_LEAST_DEVIATION = 0.15


class Jury(NamedTuple):
    """Whom a recourse has to convince: the model that decides, and the jurors."""

    weights: tuple[Numbers, ...]
    """Of each layer of the model's networks, `[networks, out, in]`."""
    biases: tuple[Numbers, ...]
    """`[networks, out]`."""
    jurors: Jurors


class Products(NamedTuple):
    """What first layers make of rows, which moves linearly with them."""

    model: Numbers
    """`[networks, units, n]`."""
    networks: Numbers
    """`[jurors, units, n]`."""
    lines: Numbers
    """`[jurors, classes, n]`."""


def products(jury: Jury, x: Array) -> Products:
    """The first layers' products with encoded rows as columns `[width, n]`, without biases."""
    return Products(
        jnp.einsum("moi,in->mon", jury.weights[0], x),
        jnp.einsum("moi,in->mon", jury.jurors.networks.hidden_weight, x),
        jnp.einsum("moi,in->mon", jury.jurors.lines.weight, x),
    )


def column_products(jury: Jury, column: Array) -> Products:
    """The products of a single column that is one, `[..., 1]`."""
    return Products(
        jury.weights[0][:, :, column, None],
        jury.jurors.networks.hidden_weight[:, :, column, None],
        jury.jurors.lines.weight[:, :, column, None],
    )


def quick_standing(jury: Jury, made: Products, target: Array) -> Array:
    """As `standing`, of the model and all families but the trees: `[3, n]`."""
    jurors = jury.jurors
    networks = lead(scores_of_hidden(jurors.networks, jnp.asarray(made.networks)), target)
    lines = lead(jnp.asarray(made.lines + jurors.lines.bias[:, :, None]), target)
    model = _model_lead(jury, jnp.asarray(made.model), target) / _deviation(networks)
    return jnp.stack([model, _sureness(networks), _sureness(lines)])


def tree_standing(jury: Jury, x: Array, target: Array) -> Array:
    """As `standing`, of the trees: `[n]`."""
    return _sureness(lead(tree_scores(jury.jurors.trees, x), target))


def standing(jury: Jury, x: Array, target: Array) -> Array:
    """The lead of the target class, in standard deviations among jurors, `[4, n]`.

    Of the model itself, whose deviation is the networks', then of networks, logistic regressions
    and trees.

    Args:
        jury: The jury.
        x: Encoded rows as columns, `[width, n]`.
        target: Class indices, `[n]`.
    """
    quick = quick_standing(jury, products(jury, x), target)
    return jnp.concatenate([quick, tree_standing(jury, x, target)[None]])


def _model_lead(jury: Jury, first: Array, target: Array) -> Array:
    first = first + jury.biases[0][:, :, None]
    return lead(committee_scores(jury.weights, jury.biases, first, 1), target)[0]


def _deviation(leads: Array) -> Array:
    return jnp.maximum(jnp.std(leads, axis=0, ddof=1), _LEAST_DEVIATION)


def _sureness(leads: Array) -> Array:
    return jnp.mean(leads, axis=0) / _deviation(leads)
