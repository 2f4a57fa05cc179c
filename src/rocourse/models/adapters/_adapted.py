"""A user's model behind the interface of the searches."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from threadpoolctl import ThreadpoolController

from rocourse.errors import ConfigError, DataError
from rocourse.models._interface import BatchModel
from rocourse.models.adapters._answers import Reading
from rocourse.models.adapters._differences import coordinate_slopes
from rocourse.models.adapters._quick import Quick, ReadRows, make_quick
from rocourse.models.adapters._refits import Refit, refitted
from rocourse.models.adapters._views import Inputs, RawView, View
from rocourse.schema import Layout, Schema

Gradient = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

# Fewer rows than these are answered by one thread.
_FEW_ROWS = 1000
# Rows of one call of the model, in cells: 8 MB of float32.
_CELLS = 1 << 21


@final
@dataclass(frozen=True, eq=False)
class AdaptedModel:
    """A user's classifier as a function of encoded rows, a `BatchModel`.

    The model itself is never changed. Every answer is checked: a shape, NaN or number that cannot
    be a probability is an error, not a wrong recourse.

    Attributes:
        model: The user's model.
        classes: The labels, sorted: the order of the columns of `probabilities`.
        step: How far `slopes` moves a continuous column where there is no gradient.
        schema: What the encoded rows are encoded by.
        members: Refits of it that the user has.
        n_jobs: How many refits are fitted at a time; -1: as many as there are cores.
        inputs: What it is called with, as of `adapt`.
        named: Whether its columns are called by other labels than its own, or it knows none.
    """

    model: Any
    classes: np.ndarray
    step: float
    schema: Schema
    members: tuple[BatchModel, ...]
    inputs: Inputs
    _view: View
    _reading: Reading
    _call: Callable[[Any], Any]
    _gradient: Gradient | None
    _refit: Refit | None
    _labels: np.ndarray
    """What the model itself calls each class, in the order of `classes`."""
    _alike: Callable[[Any], "AdaptedModel"]
    n_jobs: int = 1
    named: bool = False

    def alike(self, model: Any) -> "AdaptedModel":
        """A model of the same kind, adapted in the same way."""
        return self._alike(model)

    @property
    def how(self) -> dict[str, Any]:
        """How it was adapted: options of `adapt_as` that make the same of a copy of the model."""
        return {
            "classes": tuple(self._reading.labels.tolist()),
            "inputs": self.inputs,
            "outputs": self._reading.outputs,
            "dtypes": dict(self._view.dtypes) if isinstance(self._view, RawView) else {},
            "step": self.step,
        }

    @property
    def can_be_refitted(self) -> bool:
        """Whether it is known how."""
        return self._refit is not None

    @cached_property
    def _pools(self) -> ThreadpoolController:
        return ThreadpoolController()

    def _threads(self, n_rows: int) -> AbstractContextManager[Any]:
        """One thread for few rows: several would mostly wait for each other."""
        return self._pools.limit(limits=1) if n_rows < _FEW_ROWS else nullcontext()

    @property
    def order(self) -> np.ndarray:
        """The model's column of each class, the classes sorted by label."""
        return self._reading.order

    @cached_property
    def quick(self) -> Quick | None:
        """The model as arrays, columns in its own order, where it can be had so."""
        if not isinstance(self._view, RawView):
            return None
        order = np.argsort(self.order)

        def told(x: np.ndarray) -> np.ndarray:
            return self.probabilities(x)[:, order]

        return make_quick(self.model, self.schema, self._view.shown, told)

    def read_rows(self, x: np.ndarray) -> ReadRows | None:
        """What `quick_probabilities` of all models of one schema need to know of rows, if any."""
        return None if self.quick is None else self.quick.read(x)

    def quick_probabilities(self, x: np.ndarray, read: ReadRows | None = None) -> np.ndarray:
        """As `probabilities`, up to rounding, without tables where the model can do without.

        Args:
            x: float32 `[n, width]`; categories must be whole.
            read: What `read_rows` of this model, or another of its schema, gave for them.
        """
        if self.quick is None:
            return self.probabilities(x)
        told: np.ndarray = self.quick(x, read)[:, self.order]
        return told

    def turns(self) -> tuple[np.ndarray, ...]:
        """As of `QuickModel`."""
        return () if self.quick is None else self.quick.turns

    def refitted(self, x: np.ndarray, labels: np.ndarray, seed: int) -> BatchModel:
        """The model fitted again, adapted as this one is.

        Args:
            x: Encoded rows, float32 `[n, width]`.
            labels: Class indices in the order of `classes`, `[n]`.
            seed: Decides what is random about it.
        """
        assert self._refit is not None
        shown, named = self._view.shown(self._checked(x)), self._labels[labels]
        return self._alike(refitted(self._refit, self._reading.name, shown, named, seed))

    @property
    def _layout(self) -> Layout:
        return self.schema.layout

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def probabilities(self, x: np.ndarray) -> np.ndarray:
        """Class probabilities of encoded rows.

        A model on raw values is shown the likeliest category of each group and whole integers; a
        model on encoded vectors is shown them as they are.

        Args:
            x: float32 `[n, width]`; categories may be soft.

        Returns:
            float32 `[n, n_classes]`, columns in the order of `classes`.
        """
        x = self._checked(x)
        result = np.empty((len(x), self.n_classes), np.float32)
        size = max(2, _CELLS // self._layout.width)
        for start in range(0, len(x), size):
            part = x[start : start + size]
            # Models often squeeze their answer, which takes the axis of a single row away.
            asked = np.repeat(part, 2, axis=0) if len(part) == 1 else part
            with self._threads(len(asked)):
                answer = self._call(self._view.shown(asked))
            result[start : start + size] = self._reading.probabilities(answer, len(asked))[
                : len(part)
            ]
        return result

    def slopes(self, x: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probability of each row's target class, and its gradient with respect to the row.

        PyTorch modules on encoded vectors are differentiated by autograd. All other models are
        judged by coordinate differences around the row as they see it: a continuous column is moved
        by ± `step` (an integer feature by whole units, at least one), one-sided at the ends of its
        range; the slope of a category column j is p(group := j) − p(row as it is).

        Args:
            x: float32 `[n, width]`; categories may be soft.
            target: Class index of each row, `[n]`, in the order of `classes`.

        Returns:
            Probabilities `[n]` and slopes `[n, width]`, float32.
        """
        x, target = self._checked(x), np.asarray(target)
        if self._gradient is not None:
            return self._gradient(x, target)

        def probability(moved: np.ndarray, wanted: np.ndarray) -> np.ndarray:
            values: np.ndarray = self.probabilities(moved)[np.arange(len(moved)), wanted]
            return values

        reach = self._view.reach(self.step)
        return coordinate_slopes(probability, self._view.seen(x), target, reach, self._layout)

    def probe(self) -> None:
        """Calls the model once on a few made-up rows.

        Raises:
            ConfigError: The model cannot be called with such rows, or answers in a wrong shape.
            DataError: The model answers with numbers that are no probabilities.
        """
        # Not as many rows as classes: a transposed answer must not pass.
        n = 7 if self.n_classes != 7 else 8
        x = np.zeros((n, self._layout.width), np.float32)
        x[:, : self._layout.n_continuous] = np.linspace(0.0, 1.0, n)[:, None]
        for group in self._layout.group_slices:
            x[np.arange(n), group.start + np.arange(n) % (group.stop - group.start)] = 1.0
        shown = self._view.shown(x)
        try:
            answer = self._call(shown)
        except Exception as error:
            if isinstance(error, (ConfigError, DataError)):
                raise
            reason = " ".join(str(error).split())[:300].rstrip(".")
            raise ConfigError(
                f"{self._reading.name} must accept {_kind(shown)} of {n} rows, but it raised "
                f"{type(error).__name__}: {reason}; state what it takes with "
                "inputs='frame', 'array' or 'encoded'."
            ) from error
        self._reading.probabilities(answer, n)

    def _checked(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, np.float32)
        if x.ndim != 2 or x.shape[1] != self._layout.width:
            raise DataError(
                f"Encoded rows must have the shape (n, {self._layout.width}), but got {x.shape}; "
                "encode them with the schema that the model was adapted to."
            )
        return x


def _kind(shown: Any) -> str:
    shape = "" if not hasattr(shown, "shape") else f" with {shown.shape[1]} columns"
    return f"a {type(shown).__name__}{shape}"
