"""The last steps of models that are made of arrays: trees, and lines."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, final

import numpy as np

from rocourse.models.trees import Missing, TreeEnsemble

if TYPE_CHECKING:
    from rocourse.models.trees import TreeEvaluator

Arrays = dict[str, np.ndarray]


class LastStep(Protocol):
    """What makes probabilities of prepared columns, and can be stored."""

    kind: ClassVar[str]

    def __call__(self, seen: np.ndarray) -> np.ndarray:
        """Probabilities of float64 `[n, columns]`, in the order of the model's classes."""

    def turns(self, column: int) -> np.ndarray:
        """The numbers of a column between which the answer is always the same; none: nowhere."""

    def to_state(self) -> tuple[dict[str, Any], Arrays]:
        """JSON-able values and arrays."""


@final
@dataclass(frozen=True, eq=False)
class TreesStep:
    """Trees of any library.

    Attributes:
        ensemble: Their arrays.
    """

    kind: ClassVar[str] = "trees"
    ensemble: TreeEnsemble

    @cached_property
    def evaluator(self) -> "TreeEvaluator":
        """What walks through them; needs Numba."""
        from rocourse.models.trees import TreeEvaluator

        return TreeEvaluator(self.ensemble)

    def __call__(self, seen: np.ndarray) -> np.ndarray:
        """As of `LastStep`."""
        return self.evaluator.probabilities(seen)

    def votes(self, seen: np.ndarray) -> np.ndarray | None:
        """The column of probabilities that each tree is for, `[n, trees]`; None: trees add up."""
        ensemble = self.ensemble
        if ensemble.link != "mean" or (ensemble.code_set >= 0).any():
            return None
        shares = ensemble.value[ensemble.leaves(seen)]
        if shares.shape[-1] == 1:
            return np.asarray(shares[..., 0] > 0.5 / len(ensemble.root)).astype(int)
        return np.asarray(shares.argmax(axis=-1))

    def turns(self, column: int) -> np.ndarray:
        """As of `LastStep`: the thresholds."""
        ensemble = self.ensemble
        at = (ensemble.feature == column) & (ensemble.code_set < 0)
        return np.unique(ensemble.threshold[at])

    def without_zeros(self) -> "TreesStep":
        """The same trees, to which zeros are missing values."""
        zero: Missing = "zero"
        return TreesStep(replace(self.ensemble, missing=(zero,) * self.ensemble.n_features))

    def to_state(self) -> tuple[dict[str, Any], Arrays]:
        """As of `LastStep`."""
        return self.ensemble.to_state()

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> "TreesStep":
        """The inverse of `to_state`."""
        return cls(TreeEnsemble.from_state(header, arrays))


@final
@dataclass(frozen=True, eq=False)
class LineStep:
    """A logistic regression of two classes.

    Attributes:
        weights: `[columns]`.
        bias: `[1]`.
    """

    kind: ClassVar[str] = "line"
    weights: np.ndarray
    bias: np.ndarray

    def __call__(self, seen: np.ndarray) -> np.ndarray:
        """As of `LastStep`."""
        second = 1.0 / (1.0 + np.exp(-np.clip(seen @ self.weights + self.bias, -500.0, 500.0)))
        return np.stack([1.0 - second, second], axis=1)

    def turns(self, column: int) -> np.ndarray:
        """As of `LastStep`: a line goes everywhere."""
        return np.empty(0)

    def to_state(self) -> tuple[dict[str, Any], Arrays]:
        """As of `LastStep`."""
        return {}, {"weights": self.weights, "bias": self.bias}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> "LineStep":
        """The inverse of `to_state`."""
        return cls(arrays["weights"], arrays["bias"])


LAST_STEPS: dict[str, type[TreesStep] | type[LineStep]] = {
    step.kind: step for step in (TreesStep, LineStep)
}
"""By the names that stored models use."""
