"""What a model answers, checked and brought into one form."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from rocourse.errors import ConfigError, DataError

Outputs = Literal["probabilities", "logits"]
OUTPUTS: tuple[Outputs, ...] = get_args(Outputs)

# A float16 network is off by 1e-3; what is off by more are no probabilities.
_SUM_TOLERANCE = 2e-3
_END_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Reading:
    """How to read a model's answers.

    Attributes:
        name: What the model is called in errors.
        labels: The labels in the order of the model's columns.
        outputs: Whether the numbers are probabilities or logits.
        refusal_of_one: Why one number a row must not stand for two columns, if it must not.
    """

    name: str
    labels: np.ndarray
    outputs: Outputs
    refusal_of_one: str | None = None

    @property
    def order(self) -> np.ndarray:
        """The model's column of each class, the classes sorted by label."""
        return np.argsort(self.labels, kind="stable")

    def probabilities(self, answer: Any, n: int) -> np.ndarray:
        """Probabilities of the sorted classes, float32 `[n, n_classes]`.

        Raises:
            ConfigError: The answer does not have the shape of an answer for `n` rows.
            DataError: The numbers are no probabilities.
        """
        values = self._numbers(answer)
        self.check_shape(values.shape, n)
        if not np.isfinite(values).all():
            received = values[~np.isfinite(values)][0]
            raise DataError(
                f"{self.name} must give finite {self.outputs}, but got {received}; check how it "
                "was trained and what it expects of its inputs."
            )
        values = values.reshape(n, -1)
        if self.outputs == "logits":
            values = _squashed(values)
        else:
            self._check_range(values)
        if values.shape[1] == 1:
            values = np.hstack([1.0 - values, values])
        self._check_sums(values)
        clipped: np.ndarray = np.clip(values[:, self.order], 0.0, 1.0)
        return clipped.astype(np.float32)

    def check_shape(self, shape: tuple[int, ...], n: int) -> None:
        """Refuses an answer for `n` rows that has another shape than [n], [n, 1] or [n, k]."""
        k = len(self.labels)
        one = shape in ((n,), (n, 1))
        if shape == (n, k) or (one and k == 2 and self.refusal_of_one is None):
            return
        if one and k == 2:
            raise ConfigError(f"{self.name} {self.refusal_of_one}")
        wanted = f"({n}, {k})" if k > 2 else f"({n},) or ({n}, 2)"
        raise ConfigError(
            f"{self.name} must answer {n} rows and {k} classes with numbers of shape {wanted}, but "
            f"got {shape}; return one column a class, or state the labels in classes."
        )

    def _numbers(self, answer: Any) -> np.ndarray:
        try:
            values = np.asarray(answer)
        except Exception as error:
            raise ConfigError(
                f"{self.name} must return an array of numbers, but got {type(answer).__name__}; "
                "convert it to a NumPy array."
            ) from error
        if values.dtype.kind not in "fiub":
            raise ConfigError(
                f"{self.name} must return an array of numbers, but got {type(answer).__name__} of "
                f"{values.dtype}; return probabilities, not labels."
            )
        return values.astype(np.float64)

    def _check_range(self, values: np.ndarray) -> None:
        outside = (values < -_END_TOLERANCE) | (values > 1.0 + _END_TOLERANCE)
        if outside.any():
            raise DataError(
                f"{self.name} must give probabilities from 0 to 1, but got "
                f"{values[outside][0]:.6g}; if these are logits, state outputs='logits'."
            )

    def _check_sums(self, values: np.ndarray) -> None:
        sums = values.sum(axis=1)
        wrong = np.abs(sums - 1.0) > _SUM_TOLERANCE
        if wrong.any():
            raise DataError(
                f"{self.name} must give probabilities that sum to 1 in each row, but got a sum of "
                f"{sums[wrong][0]:.6g}; divide them by their sum."
            )


def _squashed(logits: np.ndarray) -> np.ndarray:
    """The sigmoid of one column, the softmax of several."""
    if logits.shape[1] == 1:
        # As a softmax of (-z/2, z/2): no overflow at either end.
        logits = np.hstack([-0.5 * logits, 0.5 * logits])
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: np.ndarray = powers / powers.sum(axis=1, keepdims=True)
    return shares
