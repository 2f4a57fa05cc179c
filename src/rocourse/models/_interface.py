"""What predicts, as everything else sees it: a classifier as a function of encoded rows."""

from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np


class BatchModel(Protocol):
    """A classifier as a function of encoded rows."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """Class probabilities of encoded rows, whose categories may be soft.

        Args:
            x: float32 [n, width].

        Returns:
            float32 [n, n_classes].
        """

    def slopes(self, x: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probability of each row's target class [n], and its gradient with respect to x.

        Args:
            x: float32 [n, width].
            target: Class index of each row, int [n].

        Returns:
            float32 [n] and float32 [n, width].
        """


class HasNetwork(BatchModel, Protocol):
    """A classifier whose network is at hand, so that a search can be compiled with it."""

    @property
    def predictor(self) -> Any:
        """The network, one encoded row to logits."""


@runtime_checkable
class Refittable(BatchModel, Protocol):
    """A classifier of the user's that can be fitted again."""

    @property
    def members(self) -> tuple[BatchModel, ...]:
        """Refits that the user has."""

    @property
    def can_be_refitted(self) -> bool:
        """Whether it is known how."""

    @property
    def n_jobs(self) -> int:
        """How many refits are fitted at a time; -1: as many as there are cores."""

    def refitted(self, x: np.ndarray, labels: np.ndarray, seed: int) -> BatchModel:
        """The model fitted again on encoded rows and class indices."""


class QuickModel(BatchModel, Protocol):
    """A classifier that is asked about many rows, along with others of its schema."""

    def read_rows(self, x: np.ndarray) -> Any:
        """What quick answers of all such models need to know of rows; None: nothing is known."""

    def quick_probabilities(self, x: np.ndarray, read: Any = None) -> np.ndarray:
        """As `probabilities`, up to rounding.

        Args:
            x: float32 [n, width]; categories are whole.
            read: What `read_rows` gave for them.
        """

    def turns(self) -> tuple[np.ndarray, ...]:
        """Of each number the encoded values at which answers change, ascending.

        Between two of them nothing that the number does changes an answer: they are the thresholds
        of trees. Empty where nothing is known.
        """


def has_network(model: Any) -> TypeGuard[HasNetwork]:
    """Whether a model is a `HasNetwork`: asked for every handful of applicants."""
    return hasattr(model, "predictor")


def is_quick(model: BatchModel) -> TypeGuard[QuickModel]:
    """Whether a model is a `QuickModel`: asked as often as the models themselves."""
    return hasattr(model, "quick_probabilities")
