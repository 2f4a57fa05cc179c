"""What the methods share that search for each row's recourse when it is asked for."""

from abc import abstractmethod

import numpy as np

from rocourse.errors import ConfigError
from rocourse.methods._estimator import Header, RecourseClassifier, Tensors
from rocourse.methods._native import NativeModel
from rocourse.methods._parameters import estimator
from rocourse.methods._post_hoc import PostHocMethod, require_same_encoding
from rocourse.methods._training import EpochCallback
from rocourse.methods.adapters import AdaptedModel, adapt
from rocourse.methods.search import BatchModel
from rocourse.schema import Rows, Schema, one_hot

_PREFIX = "search."


class LearnedSearch:
    """What `fit` leaves behind for the search."""

    judge_: BatchModel
    learned_: dict[str, np.ndarray]


@estimator
class SearchMethod(LearnedSearch, PostHocMethod):
    """Abstract base: explains a network of ours or any model that gives probabilities."""

    @abstractmethod
    def learn(self, rows: Rows, labels: np.ndarray) -> dict[str, np.ndarray]:
        """What the search needs to know of the training rows, as named arrays."""

    @abstractmethod
    def search(self, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""

    def _learn(self, rows: Rows, labels: np.ndarray, on_epoch: EpochCallback | None) -> None:
        self.predictor_, history = None, []
        if not self._is_foreign():
            history = self._find_predictor(rows, labels, on_epoch)
        self.judge_ = self._judge()
        if self.judge_.n_classes != len(self.classes_):
            raise ConfigError(
                f"The option 'model' must know the {len(self.classes_)} classes "
                f"{self.classes_.tolist()}, but it gives probabilities of "
                f"{self.judge_.n_classes}; pass rows of all its classes, or a schema that names "
                "them."
            )
        self._keep_history(history, len(history))
        self.learned_ = self.learn(rows, labels)

    def _propose(self, rows: Rows, target: np.ndarray) -> Rows:
        return self.search(rows, target)

    def _probabilities(self, rows: Rows) -> np.ndarray:
        if self.predictor_ is not None:
            return super()._probabilities(rows)
        return self.judge_.probabilities(one_hot(rows, self.schema_.layout))

    def _learned(self) -> tuple[Header, Tensors]:
        return {}, {f"{_PREFIX}{name}": array for name, array in self.learned_.items()}

    def _restore(self, header: Header, tensors: Tensors) -> None:
        self.judge_ = self._judge()
        self.learned_ = {
            name.removeprefix(_PREFIX): array
            for name, array in tensors.items()
            if name.startswith(_PREFIX)
        }

    def _supplied(self) -> set[str]:
        return super()._supplied() | ({"model"} if self._is_foreign() else set())

    def _model_schema(self) -> Schema | None:
        return (
            self.model.schema if isinstance(self.model, AdaptedModel) else super()._model_schema()
        )

    def _known_classes(self) -> np.ndarray | None:
        if isinstance(self.model, AdaptedModel):
            return self.model.classes
        known = super()._known_classes()
        if known is None and self.model is not None:
            labels = getattr(self.model, "classes_", None)
            if labels is None and self.schema is not None and self.schema.target is not None:
                labels = self.schema.target.classes
            known = None if labels is None else np.unique(np.asarray(labels))
        return known

    def _needs_labels(self) -> bool:
        # A model has learned from labels of its own; a search needs none.
        return self.model is None

    def _is_foreign(self) -> bool:
        """Whether the model to explain is one whose network is not at hand."""
        if isinstance(self.model, RecourseClassifier):
            return getattr(self.model, "predictor_", None) is None
        return self.model is not None

    def _judge(self) -> BatchModel:
        if self.predictor_ is not None:
            return NativeModel(self.predictor_)
        if isinstance(self.model, SearchMethod):
            return self.model.judge_
        if isinstance(self.model, AdaptedModel):
            require_same_encoding(self.schema_, self.model.schema)
            return self.model
        return adapt(self.model, self.schema_)
