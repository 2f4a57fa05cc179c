"""A panel of retrained models: what recourses have to convince beside the model itself."""

import math
from collections.abc import Collection, Sequence

import numpy as np

from rocourse.errors import ConfigError
from rocourse.models import (
    Shift,
    Trainer,
    TrainingRows,
    class_scores,
    move_networks,
    shift_rows,
)
from rocourse.networks import Predictor
from rocourse.recourse.panel._edits import Panel
from rocourse.recourse.search import (
    FINE_QUANTILES,
    Edit,
    Edits,
    category_edits,
    made_edits,
)
from rocourse.schema import Layout, Rows, one_hot, usual_ends, without_codes

# A member that finds less than this share of a class is no judge of it: it calls (nearly) all rows
# by the other name. Another shift is drawn then, a few times; the best of them is taken.
_LEAST_RECALL = 0.02
_MOST_DRAWS = 3
_LEAST_MARGIN = 0.05
# Numbers that edits choose from, as quantiles of the training rows.
_QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
# Encoded values are float32: a whole number need not be one to the last digit.
_ROUNDING = 1e-3

Layers = Sequence[tuple[np.ndarray, np.ndarray]]
"""Weights and biases of each layer."""


def train_members(
    own: Sequence[Predictor],
    data: TrainingRows,
    trainer: Trainer,
    *,
    members: int,
    shift: Shift,
    seed: int,
) -> list[Sequence[Predictor]]:
    """The model's own networks, and as many more models trained on shifted rows.

    Args:
        own: The networks of the model.
        data: Its training rows.
        trainer: How the members are trained.
        members: How many there shall be, with the model.
        shift: How far the rows may shift.
        seed: Decides the shifts and the starts.
    """
    rng = np.random.default_rng(seed)

    def draw() -> list[Predictor]:
        shifted = shift_rows(data, shift, rng)
        trained = trainer.train(shifted, seed=int(rng.integers(2**31)))
        return move_networks(trained.networks, data.cut_off)

    x = one_hot(data.rows, data.schema.layout)
    panel = [own]
    for _ in range(members - 1):
        best, best_recall = own, -1.0
        for _ in range(_MOST_DRAWS):
            member = draw()
            recall = _least_recall(member, x, data.labels)
            if recall > best_recall:
                best, best_recall = member, recall
            if best_recall >= _LEAST_RECALL:
                break
        panel.append(best)
    return panel


def _least_recall(member: Sequence[Predictor], x: np.ndarray, labels: np.ndarray) -> float:
    found = class_scores(member, x).argmax(axis=0)
    return min(float((found[labels == c] == c).mean()) for c in np.unique(labels))


def make_panel(
    members: Sequence[Sequence[Predictor]], data: TrainingRows, *, margin_quantile: Sequence[float]
) -> Panel:
    """The members' weights, and how sure all have to be.

    A class's margin is a quantile, of each class one, of the lead that it has among its own
    training rows that are told right: 0 asks for the least typical of them, one half for an
    ordinary one.
    """
    x = one_hot(data.rows, data.schema.layout)
    margins = [
        class_margins(class_scores(member, x), data.labels, margin_quantile) for member in members
    ]
    networks = [[network_of(network) for network in member] for member in members]
    return exact_panel(networks)._replace(margins=np.stack(margins))


def exact_panel(members: Sequence[Sequence[Layers]]) -> Panel:
    """The members alone, each content with the least lead there can be.

    Committees may differ in size: repeated, a small one has as many networks and the same mean.
    """
    size = math.lcm(*map(len, members))
    weights, biases = _stacked(
        [network for member in members for network in (size // len(member)) * list(member)]
    )
    # A single logit stands for two classes.
    margins = np.full((len(members), max(2, biases[-1].shape[1])), _LEAST_MARGIN, np.float32)
    return Panel(weights, biases, margins)


def own_committee(panel: Panel) -> list[Layers]:
    """The networks of the first member, the model that the panel is of."""
    size = len(panel.biases[0]) // len(panel.margins)
    parts = zip(panel.weights, panel.biases, strict=True)
    layers = [(np.asarray(weight), np.asarray(bias)) for weight, bias in parts]
    return [[(weight[i], bias[i]) for weight, bias in layers] for i in range(size)]


def network_of(predictor: Predictor) -> Layers:
    """Its weights and biases."""
    return [(np.asarray(layer.weight), np.asarray(layer.bias)) for layer in predictor.layers]


def make_edits(
    rows: Rows,
    layout: Layout,
    steps: np.ndarray,
    firsts: np.ndarray,
    *,
    min_category_share: float,
    limited: Collection[int] = (),
) -> Edits:
    """The values that training rows have: quantiles of numbers, categories that are not too rare.

    Args:
        rows: Training rows.
        layout: Theirs.
        steps: Of each number, the distance between whole numbers in encoded units; 0 where any
            value goes.
        firsts: The least whole number of each, in encoded units.
        min_category_share: The least share of the rows that a category must have; half of it must
            lie on either side of a number.
        limited: The numbers that people can change only so far.
    """
    tail = max(_QUANTILES[0], 0.5 * min_category_share)
    low, high = usual_ends(rows, tail)
    edits: list[Edit] = []
    for i, (step, first) in enumerate(zip(steps, firsts, strict=True)):
        quantiles = FINE_QUANTILES if i in limited else _QUANTILES
        values = np.quantile(without_codes(rows.continuous[:, i]), quantiles)
        values = np.clip(values, low[i], high[i])
        if step > 0.0:
            # The whole numbers within the percentiles, not next to them.
            places = (np.array([low[i], high[i]]) - first) / step
            within = np.ceil(places[0] - _ROUNDING), np.floor(places[1] + _ROUNDING)
            values = first + step * np.clip(np.round((values - first) / step), *within)
        edits += [(i, i, float(value)) for value in np.unique(values.astype(np.float32))]
    edits += category_edits(rows, layout, min_category_share)
    return made_edits(edits, low, high)


def class_margins(scores: np.ndarray, labels: np.ndarray, quantiles: Sequence[float]) -> np.ndarray:
    """The quantile of each class's lead among its rows that are told right, of scores `[k, n]`."""
    margins = np.full(len(scores), _LEAST_MARGIN, np.float32)
    for c in np.unique(labels):
        own = scores[:, labels == c]
        leads = own[c] - np.delete(own, c, axis=0).max(axis=0)
        if (leads > 0.0).any():
            margins[c] = max(np.quantile(leads[leads > 0.0], quantiles[c]), _LEAST_MARGIN)
    return margins


def _stacked(
    networks: Sequence[Layers],
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Weights and biases of each layer; narrow layers get units that say nothing."""
    if len(set(map(len, networks))) > 1:
        raise ConfigError(
            "All networks of a panel must have as many layers, but they have "
            f"{', '.join(str(len(network)) for network in networks)}; pass models trained "
            "with as many hidden widths."
        )
    layers = [zip(*layer, strict=True) for layer in zip(*networks, strict=True)]
    weights, biases = zip(*layers, strict=True)
    return tuple(map(_padded, weights)), tuple(map(_padded, biases))


def _padded(arrays: Sequence[np.ndarray]) -> np.ndarray:
    sizes = np.max([array.shape for array in arrays], axis=0)
    return np.stack(
        [
            np.pad(a, [(0, most - own) for own, most in zip(a.shape, sizes, strict=True)])
            for a in arrays
        ]
    )
