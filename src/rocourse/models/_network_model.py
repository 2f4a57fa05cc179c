"""A model of ours: networks, joined to one, as a function of rows; what was held out of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jax import Array
from scipy.special import softmax

from rocourse.models._blocks import bound, few_at_once, in_blocks
from rocourse.models._interface import BatchModel, has_network
from rocourse.models.training import Trained, TrainingRows
from rocourse.networks import LEAK, Predictor, join, probabilities
from rocourse.schema import Layout, Rows, one_hot
from rocourse.schema.constraints import expand


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A trained predictor; searches that know it run fully compiled.

    Attributes:
        predictor: One encoded row to logits.
        networks: Those that the predictor joins, apart: they are less to compute than joined.
    """

    predictor: Predictor
    networks: tuple[Predictor, ...]

    @classmethod
    def of(cls, networks: Sequence[Predictor]) -> "NetworkModel":
        """The model whose logits are the mean of the networks'."""
        return cls(join(networks), tuple(networks))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.predictor.n_classes

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """Class probabilities of encoded rows, float32 `[n, n_classes]`."""
        (shares,) = in_blocks(partial(bound, _probabilities, self.predictor), x)
        return shares

    def slopes(self, x: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probability of each row's target class `[n]`, and its gradient `[n, width]`."""
        found, gradient = in_blocks(partial(bound, _slopes, self.predictor), x, target)
        return found, gradient


def predict_rows(model: BatchModel, rows: Rows, layout: Layout) -> np.ndarray:
    """Class probabilities of compact rows, float32 `[n, n_classes]`."""
    if not has_network(model):
        return model.probabilities(one_hot(rows, layout))
    bind = partial(bound, _predict, (model.predictor,), layout)
    (result,) = in_blocks(bind, rows.continuous, rows.categories)
    return result


class HeldOut(NamedTuple):
    """Answers about rows that were held out; of several networks, each about its own."""

    probabilities: np.ndarray
    """`[n, classes]`."""
    labels: np.ndarray
    """Class indices, `[n]`."""


def held_out_answers(trained: Trained, data: TrainingRows) -> HeldOut | None:
    """What each network of a model says of its own held-out rows; None where there are none."""
    asked = [
        (network, places)
        for network, places in zip(trained.networks, trained.held_out, strict=False)
        if len(places)
    ]
    if not asked:
        return None
    layout = data.schema.layout
    told = [_answers(network, one_hot(data.rows.take(places), layout)) for network, places in asked]
    return HeldOut(
        np.concatenate(told), np.concatenate([data.labels[places] for _, places in asked])
    )


def _answers(network: Predictor, x: np.ndarray) -> np.ndarray:
    # By NumPy: compiling it would take longer than these few rows.
    *hidden, last = [(np.asarray(one.weight), np.asarray(one.bias)) for one in network.layers]
    for weight, bias in hidden:
        x = x @ weight.T + bias
        x = np.maximum(x, LEAK * x)
    logits = x @ last[0].T + last[1]
    if logits.shape[1] == 1:
        logits = np.hstack([np.zeros_like(logits), logits])
    shares: np.ndarray = softmax(logits.astype(np.float64), axis=1)
    return shares


def _predict(
    model: tuple[Predictor], layout: Layout, continuous: Array, categories: Array
) -> tuple[Array]:
    (predictor,) = model

    def some(values: Array, codes: Array) -> Array:
        return probabilities(predictor(expand(values, codes, layout)))

    return (few_at_once(some, continuous.T, categories.T).T,)


def _probabilities(predictor: Predictor, x: Array) -> tuple[Array]:
    return (probabilities(predictor(x.T)).T,)


def _slopes(predictor: Predictor, x: Array, target: Array) -> tuple[Array, Array]:
    def share(row: Array, wanted: Array) -> Array:
        return probabilities(predictor(row))[wanted]

    return jax.vmap(jax.value_and_grad(share))(x, target)
