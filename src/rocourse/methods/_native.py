"""A network of ours as a model that any search can ask."""

from dataclasses import dataclass

import jax
import numpy as np
from jax import Array

from rocourse.methods._compilation import compiled
from rocourse.methods._inference import in_blocks
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
        (shares,) = in_blocks(lambda rows: (_probabilities(self.predictor, rows),), x)
        return shares

    def slopes(self, x: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probability of each row's target class `[n]`, and its gradient `[n, width]`."""
        found, gradient = in_blocks(
            lambda rows, wanted: _slopes(self.predictor, rows, wanted), x, target
        )
        return found, gradient


@compiled
def _probabilities(predictor: Predictor, x: Array) -> Array:
    return probabilities(predictor(x.T)).T


@compiled
def _slopes(predictor: Predictor, x: Array, target: Array) -> tuple[Array, Array]:
    def share(row: Array, wanted: Array) -> Array:
        return probabilities(predictor(row))[wanted]

    return jax.vmap(jax.value_and_grad(share))(x, target)
