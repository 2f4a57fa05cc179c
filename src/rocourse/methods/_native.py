"""A network of ours as a model that any search can ask."""

from dataclasses import dataclass
from functools import partial

import jax
import numpy as np
from jax import Array

from rocourse.methods._inference import bound, in_blocks
from rocourse.networks import Predictor, probabilities


@dataclass(frozen=True, eq=False)
class NativeModel:
    """A trained predictor; searches that know it run fully compiled.

    Attributes:
        predictor: One encoded row to logits.
    """

    predictor: Predictor

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


def _probabilities(predictor: Predictor, x: Array) -> tuple[Array]:
    return (probabilities(predictor(x.T)).T,)


def _slopes(predictor: Predictor, x: Array, target: Array) -> tuple[Array, Array]:
    def share(row: Array, wanted: Array) -> Array:
        return probabilities(predictor(row))[wanted]

    return jax.vmap(jax.value_and_grad(share))(x, target)
