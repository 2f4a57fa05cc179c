"""What the evaluation asks of a model, and how it reads the answers."""

from typing import Any, Protocol

import numpy as np
import pandas as pd

from rocourse.errors import DataError
from rocourse.schema import Recourse, Schema

Scalar = str | int | float | bool


class Model(Protocol):
    """A fitted classifier that also gives recourses."""

    @property
    def classes_(self) -> np.ndarray[Any, Any]:
        """The labels, in the order of the columns of `predict_proba`."""

    @property
    def schema_(self) -> Schema:
        """The features, and the class that is favourable."""

    def predict(self, X: pd.DataFrame, /) -> Any:
        """One label per row."""

    def predict_proba(self, X: pd.DataFrame, /) -> Any:
        """Probabilities, rows by classes."""

    def recourse(self, X: pd.DataFrame, /, *, desired: Any = None) -> Recourse:
        """Recourses for every row; `desired=None` flips a binary prediction."""


def predicted_labels(model: Model, X: pd.DataFrame) -> np.ndarray[Any, Any]:
    """The labels that `model` predicts, one per row of `X`."""
    return as_labels(model.predict(X), rows=len(X), source="predict")


def as_labels(values: Any, *, rows: int, source: str) -> np.ndarray[Any, Any]:
    """`values` as a one-dimensional array of `rows` labels.

    A column vector would be compared with every row by broadcasting, without a word.
    """
    labels = np.asarray(values)
    if labels.shape != (rows,):
        raise DataError(
            f"The labels from {source} must be one per row, shape ({rows},), but have shape "
            f"{labels.shape}: return a one-dimensional array."
        )
    return labels


def favourable_class(model: Model, favourable: Scalar | None = None) -> Scalar:
    """The class that people want: as given, or as the schema says."""
    known = [to_plain(label) for label in model.classes_]
    if favourable is None:
        target = model.schema_.target
        return known[-1] if target is None else to_plain(target.wanted())
    if favourable not in known:
        raise DataError(
            f"The favourable class must be one of {known}, the classes of the model, "
            f"but is {favourable!r}: name one of them."
        )
    return to_plain(favourable)


def to_plain(value: Any) -> Scalar:
    """A label as a plain Python value, which JSON can hold."""
    plain: Scalar = value.item() if isinstance(value, np.generic) else value
    return plain
