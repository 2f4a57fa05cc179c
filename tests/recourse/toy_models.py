"""Small classifiers with known answers, and spaces to search in."""

from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rocourse.networks import Predictor, probabilities
from rocourse.recourse.search import Space
from rocourse.schema import Categorical, Continuous, Rows, Schema, one_hot


class Linear(eqx.Module):
    """A network of one layer: one logit for two classes, or one a class."""

    weights: jax.Array
    intercept: jax.Array

    def __call__(self, x):
        return jnp.atleast_1d(self.weights @ x + self.intercept)


def linear(weights, intercept=0.0):
    return Linear(jnp.asarray(weights, jnp.float32), jnp.asarray(intercept, jnp.float32))


class HostModel:
    """A network behind the interface of any model: searches cannot see inside."""

    def __init__(self, network, n_classes=2):
        self._network = network
        self.n_classes = n_classes

    def probabilities(self, x):
        return np.asarray(_probabilities(self._network, x))

    def slopes(self, x, target):
        values, slopes = _slopes(self._network, x, target)
        return np.asarray(values), np.asarray(slopes)


@eqx.filter_jit
def _probabilities(network, x):
    return jax.vmap(lambda row: probabilities(network(row)))(x)


@eqx.filter_jit
def _slopes(network, x, target):
    def share(row, wanted):
        return probabilities(network(row))[wanted]

    return jax.vmap(jax.value_and_grad(share))(x, target)


class OpenModel(HostModel):
    """The same with the network at hand, so that searches are compiled."""

    @property
    def predictor(self):
        return self._network


def linear_classes(layout, n_classes, *, seed=0):
    """A linear network that favours no class."""
    n_logits = 1 if n_classes == 2 else n_classes
    weights = np.random.default_rng(seed).normal(0.0, 2.0, (n_logits, layout.width))
    return linear(weights, -weights @ one_hot(random_rows(layout, 200, seed=seed), layout).mean(0))


def small_predictor(space, *, n_classes=2, seed=0):
    """A network that is steep enough for recourses to exist, and favours no class."""
    layout = space.layout
    rows = one_hot(random_rows(layout, 200, seed=seed), layout)
    return _steep_predictor(rows, n_classes, jax.random.key(seed))


# Compiled as a whole: one operation after the other takes seconds.
@eqx.filter_jit
def _steep_predictor(rows, n_classes, key):
    predictor = Predictor(rows.shape[1], n_classes, encoder=(16,), head=(8,), key=key)
    logits = jax.vmap(predictor)(rows)
    scale = 2.0 / logits.std(axis=0)
    return eqx.tree_at(
        lambda p: (p.output.weight, p.output.bias),
        predictor,
        (
            scale[:, None] * predictor.output.weight,
            scale * (predictor.output.bias - jnp.median(logits, axis=0)),
        ),
    )


def make_schema(n_continuous, group_sizes, **rules):
    """Features c0, c1, … on [0, 1] and k0, k1, …; `rules` holds what differs, by name."""
    numbers = [(f"c{i}", {"low": 0.0, "high": 1.0}) for i in range(n_continuous)]
    choices = [
        (f"k{i}", {"categories": tuple(f"v{j}" for j in range(size))})
        for i, size in enumerate(group_sizes)
    ]
    return Schema(
        tuple(Continuous(name, **(given | rules.get(name, {}))) for name, given in numbers)
        + tuple(Categorical(name, **(given | rules.get(name, {}))) for name, given in choices)
    )


def make_space(n_continuous, group_sizes, **rules):
    return Space(make_schema(n_continuous, group_sizes, **rules))


def random_rows(layout, n, *, seed):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, n) for size in layout.group_sizes]
    categories = np.stack(codes, axis=1) if codes else np.zeros((n, 0), int)
    return Rows(rng.random((n, layout.n_continuous)), categories.astype(np.int16))


def predicted(model, x):
    return model.probabilities(np.asarray(x)).argmax(axis=1)


MIXED = make_space(
    3, (3, 4), c1={"immutable": True}, c2={"direction": "up"}, k1={"immutable": True}
)
"""A space with every kind of rule."""


def reachable(model, rows, target):
    """Which rows of `MIXED` have a recourse at all, by trying a grid of all that is allowed."""
    found = []
    for values, codes, wanted in zip(rows.continuous, rows.categories, target, strict=True):
        grid = product(np.linspace(0, 1, 15), np.linspace(values[2], 1, 15), range(3))
        tried = [([a, values[1], c], [k, codes[1]]) for a, c, k in grid]
        points = Rows(np.array([t[0] for t in tried]), np.array([t[1] for t in tried]))
        found.append((predicted(model, one_hot(points, MIXED.layout)) == wanted).any())
    return np.array(found)
