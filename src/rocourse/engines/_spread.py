"""Models that are asked about many rows in blocks, wherever an engine has them answered."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rocourse.artifacts import StoredModel
from rocourse.engines._engine import Engine
from rocourse.engines._pool import Pool
from rocourse.errors import DataError
from rocourse.schema import ClippedWarning, Recourse, Rows, Schema
from rocourse.tables import BATCH_ROWS, even_size

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier


class SpreadModel:
    """A model whose answers about rows come from an engine; an evaluation asks it as any other.

    Attributes:
        model: The model itself, here.
    """

    def __init__(self, name: str, model: "RecourseClassifier", pool: Pool, told: set[str]) -> None:
        self._name, self.model, self._pool, self._told = name, model, pool, told

    @property
    def classes_(self) -> np.ndarray:
        """The model's."""
        return self.model.classes_

    @property
    def schema_(self) -> Schema:
        """The model's."""
        return self.model.schema_

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """As of the model."""
        return np.concatenate(self._ask("predict", X))

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """As of the model."""
        return np.concatenate(self._ask("predict_proba", X))

    def recourse(self, X: pd.DataFrame, *, desired: Any = None) -> Recourse:
        """As of the model."""
        return _joined(self._ask("recourse", X, desired=desired))

    def _ask(self, question: str, X: pd.DataFrame, **named: Any) -> list[Any]:
        # On every engine as many: the same rows in the same blocks give the same bits.
        size = even_size(len(X), BATCH_ROWS)
        tasks = (
            partial(_answer, self._name, question, X[start : start + size], named)
            for start in range(0, len(X), size)
        )
        answers, said = [], list[Warning]()
        for place, done in enumerate(self._pool.in_order(tasks)):
            try:
                answer, told = done.result()
            except DataError as error:
                if size == len(X):
                    raise
                # How many rows the error counts is true of these only.
                last = min((place + 1) * size, len(X)) - 1
                raise DataError(f"Rows {place * size} to {last}: {error}") from error
            answers.append(answer)
            said += told
        for warning in joined_warnings(said):
            # The same rows are asked about several times; what is odd about them is said once.
            if str(warning) not in self._told:
                self._told.add(str(warning))
                warnings.warn(warning, stacklevel=3)
        return answers


@contextmanager
def spread(models: Mapping[str, StoredModel], engine: Engine) -> Iterator[dict[str, SpreadModel]]:
    """Models by name, to be asked in the block about more rows than one process should read.

    Args:
        models: As they are stored.
        engine: Where they are asked.
    """
    told: set[str] = set()
    with engine.pool(partial(dict, models)) as pool:
        yield {name: SpreadModel(name, stored(), pool, told) for name, stored in models.items()}


def _answer(
    name: str,
    question: str,
    rows: pd.DataFrame,
    named: Mapping[str, Any],
    models: Mapping[str, StoredModel],
) -> tuple[Any, list[Warning]]:
    with collected_warnings() as said:
        return getattr(models[name](), question)(rows, **named), said


def _joined(parts: Sequence[Recourse]) -> Recourse:
    """Recourses of one block after the other, as one record."""
    first = parts[0]
    if len(parts) == 1:
        return first
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("status", "predicted", "desired", "probability", "robustness")
        if getattr(first, name) is not None
    }
    return Recourse(
        schema=first.schema,
        original=pd.concat([part.original for part in parts]),
        original_rows=Rows.concatenate([part.original_rows for part in parts]),
        attempts=Rows.concatenate([part.attempts for part in parts]),
        method=first.method,
        **arrays,
    )


@contextmanager
def collected_warnings() -> Iterator[list[Warning]]:
    """Keeps warnings, which are told where the work was asked for."""
    said: list[Warning] = []
    with warnings.catch_warnings():
        show = warnings.showwarning

        def keep(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if isinstance(message, Warning):
                said.append(message)
            else:
                show(message, category, *place, **more)

        warnings.showwarning = keep
        yield said


def joined_warnings(said: Sequence[Warning]) -> list[Warning]:
    """Warnings about one block of rows after the other: what was clipped is said once, for all."""
    clipped = [warning for warning in said if isinstance(warning, ClippedWarning)]
    others = [warning for warning in said if not isinstance(warning, ClippedWarning)]
    return [*others, ClippedWarning.joined(clipped)] if clipped else others
