"""How sure a jury is of a row: by how many standard deviations each family leads for its class."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from rocourse.models import BatchModel, bound, few_at_once, in_blocks
from rocourse.models.jurors import (
    FlatTrees,
    Jurors,
    family_leads,
    flat_trees,
    lead,
    leaf_logits,
)
from rocourse.recourse.search import LEAST_DEVIATION, Numbers, committee_logits, leads, moderated
from rocourse.schema import Layout, Rows, one_hot
from rocourse.schema.constraints import expand

# Rows that say what is usual: more of them say little more of a median.
_USUAL_ROWS = 512


class Jury(NamedTuple):
    """Whom a recourse has to convince: the model that decides, and the jurors."""

    weights: tuple[Numbers, ...]
    """Of each layer of the model's networks, `[networks, out, in]`."""
    biases: tuple[Numbers, ...]
    """`[networks, out]`."""
    jurors: Jurors
    usual: Numbers
    """The deviation among jurors of each family that is usual among training rows, `[3]`."""


class StackedJury(NamedTuple):
    """A jury as searches ask it: all first layers are one, and so are all trees.

    Of two classes a single log-odds is told.
    """

    first: Numbers
    """Of the model's networks, then the jurors', then logistic regressions: `[width, units]`."""
    first_bias: Numbers
    """`[units]`."""
    weights: tuple[Numbers, ...]
    """Of the model's later layers, `[networks, out, in]`."""
    biases: tuple[Numbers, ...]
    """`[networks, out]`."""
    weight: Numbers
    """Of the jurors' networks, `[jurors, logits, units]`."""
    bias: Numbers
    """`[jurors, logits]`."""
    trees: FlatTrees
    usual: Numbers
    """Of networks, logistic regressions and trees, `[3]`."""


def stacked(jury: Jury) -> StackedJury:
    """The jury as searches ask it."""
    networks, lines, trees = jury.jurors
    layers = (
        _flat(jury.weights[0]),
        _flat(networks.hidden_weight),
        _flat(_logits(lines.weight)),
    )
    biases = (jury.biases[0], networks.hidden_bias, _logits(lines.bias))
    return StackedJury(
        np.ascontiguousarray(np.concatenate(layers).T),
        np.concatenate([np.ravel(bias) for bias in biases]),
        jury.weights[1:],
        jury.biases[1:],
        _logits(networks.weight),
        _logits(networks.bias),
        flat_trees(trees),
        np.asarray(jury.usual),
    )


def quick_logits(jury: StackedJury, first: Array) -> Array:
    """What all but the trees say, of first layers with their biases: `[models, logits, n]`.

    The model comes first, then the networks, then the logistic regressions.

    Args:
        jury: The jury.
        first: `[units, n]`.
    """
    n = first.shape[1]
    members, _, width = jury.weights[0].shape
    jurors, logits, units = jury.weight.shape
    ends = np.cumsum([members * width, jurors * units])
    of_model, of_networks, of_lines = jnp.split(first, ends)
    model = committee_logits(jury.weights, jury.biases, of_model.reshape(members, width, n), 1)
    hidden = of_networks.reshape(jurors, units, n)
    # The biases of the hidden layer are in it already.
    networks = jnp.einsum("mlu,mun->mln", jury.weight, jnp.maximum(hidden, 0.0))
    lines = of_lines.reshape(-1, logits, n)
    return jnp.concatenate([model, networks + jury.bias[:, :, None], lines])


def quick_standing(jury: StackedJury, scores: Array, target: Array) -> Array:
    """As `standing`, of the model and all families but the trees: `[3, ..., n]`.

    Args:
        jury: The jury.
        scores: What `quick_logits` says, `[models, logits, ..., n]`.
        target: Class indices, `[n]`.
    """
    leads = lead(scores, target)
    jurors = len(jury.weight)
    return _standings(leads[0], leads[1 : jurors + 1], leads[jurors + 1 :], jury.usual)


def tree_standing(jury: StackedJury, left: Array, target: Array) -> Array:
    """As `standing`, of trees of which some leaves are left: `[n, ..., trees]` to `[n, ...]`."""
    scores = jnp.moveaxis(leaf_logits(jury.trees, left), (-2, -1), (0, 1))
    return _sureness(lead(scores, target.reshape(-1, *(1,) * (left.ndim - 2))), jury.usual[2])


def standing(jury: Jury, x: Array, target: Array) -> Array:
    """The lead of the target class, in standard deviations among jurors, `[4, n]`.

    Of the model itself, whose deviation is the networks', then of networks, logistic regressions
    and trees.

    Args:
        jury: The jury.
        x: Encoded rows as columns, `[width, n]`.
        target: Class indices, `[n]`.
    """
    first = jnp.einsum("moi,in->mon", jury.weights[0], x) + jury.biases[0][:, :, None]
    model = lead(committee_logits(jury.weights[1:], jury.biases[1:], first, 1), target)[0]
    networks, lines, trees = family_leads(jury.jurors, x, target)
    quick = _standings(model, networks, lines, jury.usual)
    return jnp.concatenate([quick, _sureness(trees, jury.usual[2])[None]])


def standings(jury: Jury, rows: Rows, target: np.ndarray, layout: Layout) -> np.ndarray:
    """As `standing`, of compact rows: `[4, n]`."""
    bind = partial(bound, _standing_of, (jury,), layout)
    (found,) = in_blocks(bind, rows.continuous, rows.categories, target.astype(np.int32))
    return found.T


def usual_deviations(jurors: Jurors, rows: Rows, n_classes: int, layout: Layout) -> np.ndarray:
    """The deviation among jurors of each family that is usual among rows, `[3]`."""
    rows = _some(rows)
    told = [jurors_leads(jurors, rows, wanted, layout) for wanted in _wanted(rows, n_classes)]
    return np.array([_usual(family) for family in zip(*told, strict=True)], np.float32)


def usual_deviation(
    models: Sequence[BatchModel], rows: Rows, n_classes: int, layout: Layout
) -> float:
    """The same of models of one family; 0 if there are fewer than two."""
    if len(models) < 2:
        return 0.0
    rows = _some(rows)
    x = one_hot(rows, layout)
    return _usual([leads(models, x, wanted) for wanted in _wanted(rows, n_classes)])


def _some(rows: Rows) -> Rows:
    return rows.take(np.linspace(0, len(rows) - 1, min(len(rows), _USUAL_ROWS)).astype(int))


def _wanted(rows: Rows, n_classes: int) -> list[np.ndarray]:
    return [np.full(len(rows), target) for target in range(n_classes)]


def _usual(told: Sequence[np.ndarray]) -> float:
    """Of leads `[models, n]` for each class."""
    return float(np.mean([np.median(leads.std(axis=0, ddof=1)) for leads in told]))


def jurors_leads(
    jurors: Jurors, rows: Rows, target: np.ndarray, layout: Layout
) -> list[np.ndarray]:
    """By how much each juror puts the target first, of compact rows: `[jurors, n]` a family."""
    bind = partial(bound, _leads_of, (jurors,), layout)
    families = in_blocks(bind, rows.continuous, rows.categories, target.astype(np.int32))
    return [leads.T for leads in families]


def _standings(model: Array, networks: Array, lines: Array, usual: Numbers) -> Array:
    own = model / _deviation(networks, usual[0])
    return jnp.stack([own, _sureness(networks, usual[0]), _sureness(lines, usual[1])])


def _deviation(leads: Array, usual: Numbers) -> Array:
    return jnp.maximum(moderated(jnp.var(leads, axis=0, ddof=1), usual), LEAST_DEVIATION)


def _sureness(leads: Array, usual: Numbers) -> Array:
    return jnp.mean(leads, axis=0) / _deviation(leads, usual)


def _flat(weight: Numbers) -> np.ndarray:
    """The weights of models side by side, `[models, units, width]` to `[units, width]`."""
    return np.asarray(weight).reshape(-1, weight.shape[-1])


def _logits(array: Numbers) -> np.ndarray:
    """Of each class, `[models, classes, ...]`; of two, the second one against the first."""
    array = np.asarray(array)
    return array[:, 1:] - array[:, :1] if array.shape[1] == 2 else array


def _standing_of(
    jury: tuple[Jury], layout: Layout, continuous: Array, categories: Array, target: Array
) -> tuple[Array]:
    def some(values: Array, codes: Array, wanted: Array) -> Array:
        return standing(jury[0], expand(values, codes, layout), wanted)

    return (few_at_once(some, continuous.T, categories.T, target).T,)


def _leads_of(
    jurors: tuple[Jurors], layout: Layout, continuous: Array, categories: Array, target: Array
) -> tuple[Array, ...]:
    x = expand(continuous.T, categories.T, layout)
    return tuple(leads.T for leads in family_leads(jurors[0], x, target))
