"""Random schemas, committees and rows, small enough to try everything that is allowed.

What is allowed is written here once more, in plain Python and raw units, so that it can disagree
with the library.
"""

import warnings
from itertools import product
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
import pandas as pd

from rocourse.models import NetworkModel
from rocourse.networks import Predictor
from rocourse.recourse import Context
from rocourse.schema import Categorical, Continuous, CutOff, Layout, Rows, Schema

NUMBERS, GROUPS = 3, (2, 4)
LAYOUT = Layout(NUMBERS, GROUPS)
ENCODER, HEAD = (9, 5), (4,)
_SMALLEST_CHANGE = 0.005


class World(NamedTuple):
    """A model, rows that it does not give a class, and that class."""

    context: Context
    frame: pd.DataFrame
    rows: Rows
    target: np.ndarray


def random_world(seed, *, n=12, n_networks=1, n_classes=2, cut_off=False):
    """Rows of the same layout each time, so that nothing is compiled twice."""
    rng = np.random.default_rng(seed)
    schema = random_schema(rng)
    model = NetworkModel.of([random_network(rng, n_classes) for _ in range(n_networks)])
    frame = random_frame(rng, schema, 4 * n)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Values outside the range", UserWarning)
        rows = schema.encode(frame)
    context = Context(schema, model, None, 0)
    shares = context.predict(rows)
    target = rng.integers(0, n_classes, len(rows))
    if cut_off:
        favourable = int(rng.integers(2))
        level = float(np.quantile(shares[:, favourable], rng.uniform(0.6, 1.0)))
        cut = CutOff(min(max(level, 1e-3), 1.0 - 1e-3), favourable)
        context = Context(schema, model, None, 0, cut)
        target = np.full(len(rows), favourable)
    asking = np.flatnonzero(context.verdicts(shares) != target)[:n]
    return World(context, frame.iloc[asking], rows.take(asking), target[asking])


def random_schema(rng):
    """Whole numbers, one of them over a wide range, and categories, under random rules."""

    def rule():
        return [{}, {"immutable": True}, {"direction": "up"}, {"direction": "down"}][
            rng.choice(4, p=[0.4, 0.2, 0.2, 0.2])
        ]

    features = []
    for k, most in enumerate((5, 9, 450)):
        low = int(rng.integers(-20, 20))
        high = low + int(rng.integers(1, most + 1))
        bounds = (None, None)
        if rng.random() < 0.3:
            bounds = tuple(sorted(rng.integers(low, high + 1, 2).tolist()))
        features.append(Continuous(f"n{k}", low, high, integer=True, bounds=bounds, **rule()))
    for k, size in enumerate(GROUPS):
        features.append(Categorical(f"g{k}", tuple("abcdefgh"[:size]), **rule()))
    return Schema(tuple(features))


def random_frame(rng, schema, n):
    """Rows within the bounds, some of them beyond the range."""
    columns = {}
    for feature in schema.features:
        if isinstance(feature, Categorical):
            columns[feature.name] = rng.choice(feature.categories, n)
            continue
        least, most = feature.bounds
        first = feature.low - 2 if least is None else least
        last = feature.high + 2 if most is None else most
        columns[feature.name] = rng.integers(int(first), int(last) + 1, n)
    return pd.DataFrame(columns)


def random_network(rng, n_classes):
    """A network that bends a good deal, and favours no class by much."""
    widths = [LAYOUT.width, *ENCODER, *HEAD, 1 if n_classes == 2 else n_classes]
    arrays = []
    for before, after in zip(widths[:-1], widths[1:], strict=True):
        arrays.append(rng.normal(0.0, 1.6 / np.sqrt(before), (after, before)))
        arrays.append(rng.normal(0.0, 0.3, after))
    return _filled(n_classes, arrays)


def linear_network(weights, intercept):
    """A network whose logit is a sum: one unit a layer matters, and is always switched on."""
    widths = [LAYOUT.width, *ENCODER, *HEAD, 1]
    arrays = []
    for before, after in zip(widths[:-1], widths[1:], strict=True):
        arrays += [np.zeros((after, before)), np.zeros(after)]
        arrays[-2][0, 0] = 1.0
    arrays[0][0], arrays[1][0] = weights, 50.0
    arrays[-1][0] = intercept - 50.0
    return _filled(2, arrays)


def _filled(n_classes, arrays):
    return eqx.tree_at(
        lambda network: [part for layer in network.layers for part in (layer.weight, layer.bias)],
        _blank(n_classes),
        [jax.device_put(array.astype(np.float32)) for array in arrays],
    )


_BLANKS = {}


def _blank(n_classes):
    if n_classes not in _BLANKS:
        key = jax.random.key(0)
        _BLANKS[n_classes] = Predictor(LAYOUT.width, n_classes, encoder=ENCODER, head=HEAD, key=key)
    return _BLANKS[n_classes]


def allowed_values(feature, value):
    """Everything that a value may become, itself first."""
    if feature.immutable:
        return [value]
    if isinstance(feature, Categorical):
        place = feature.categories.index(value)
        others = [(k - place, name) for k, name in enumerate(feature.categories)]
    else:
        nearest = min(max(value, feature.low), feature.high)
        least, most = feature.bounds
        first = feature.low if least is None else max(feature.low, least)
        last = feature.high if most is None else min(feature.high, most)
        numbers = range(int(np.ceil(first)), int(np.floor(last)) + 1)
        smallest = _SMALLEST_CHANGE * (feature.high - feature.low)
        others = [(other - value, other) for other in numbers if abs(other - nearest) >= smallest]
    up, down = feature.direction != "down", feature.direction != "up"
    return [
        value,
        *(other for rise, other in others if (rise > 0 and up) or (rise < 0 and down)),
    ]


def allowed_rows(schema, applicant):
    """Everything that an applicant may become, as a table."""
    values = [allowed_values(feature, applicant[feature.name]) for feature in schema.features]
    return pd.DataFrame(product(*values), columns=list(schema.names))


def tried(world, place):
    """Which of all allowed rows are given the class, and the rows, encoded."""
    context, schema = world.context, world.context.schema
    table = allowed_rows(schema, world.frame.iloc[place])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Values outside the range", UserWarning)
        rows = schema.encode(table)
    return context.verdicts(context.predict(rows)) == world.target[place], rows
