"""Post-hoc methods: they explain a model that is there already, or train one to explain."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rocourse.errors import ConfigError, DataError, SchemaError
from rocourse.methods._estimator import RecourseClassifier
from rocourse.methods._parameters import estimator, param
from rocourse.methods._training import EpochCallback, EpochRecord, TrainingPlan, train
from rocourse.networks import Predictor
from rocourse.schema import Rows, Schema


@estimator
class PostHocMethod(RecourseClassifier):
    """Abstract base of the methods that come after the predictor."""

    model: Any = param(
        default=None,
        doc="The model to explain: a fitted model of this library or, for methods that search, any "
        "model that gives probabilities; None trains a predictor with the parameters given here.",
    )

    @property
    def planned_epochs(self) -> int:
        """How many epochs `fit` will run at most."""
        return self.epochs if self.model is None else 0

    def _model_schema(self) -> Schema | None:
        """The schema that the model to explain reads rows by, if it has one."""
        if not isinstance(self.model, RecourseClassifier):
            return None
        check_is_fitted(self.model)
        return self.model.schema_

    def _known_classes(self) -> np.ndarray | None:
        """The sorted labels of the model to explain, if it has any."""
        if not isinstance(self.model, RecourseClassifier):
            return None
        check_is_fitted(self.model)
        return self.model.classes_

    def _needs_labels(self) -> bool:
        """Whether `fit` can do nothing without labels."""
        return True

    def _fitted_schema(self, frame: pd.DataFrame, y: ArrayLike) -> Schema:
        theirs = self._model_schema()
        if theirs is None:
            return super()._fitted_schema(frame, y)
        schema = theirs if self.schema is None else self.schema
        schema.check_fit(frame)
        require_same_encoding(schema, theirs)
        if theirs.target is None:
            return super()._fitted_schema(frame, y)
        return replace(schema, target=theirs.target)

    def _learn_classes(self, y: ArrayLike, n_rows: int) -> np.ndarray:
        known = self._known_classes()
        if known is None:
            return super()._learn_classes(y, n_rows)
        self.classes_ = known
        if y is None and not self._needs_labels():
            return np.zeros(n_rows, np.int32)
        values = self._check_labels(y, n_rows)
        unknown = values[~np.isin(values, known)]
        if len(unknown):
            raise DataError(
                f"The target must have the classes of the model, {known.tolist()}: got "
                f"{unknown.tolist()[0]!r}; pass the labels that it was trained on."
            )
        return np.searchsorted(known, values).astype(np.int32)

    def _find_predictor(
        self, rows: Rows, labels: np.ndarray, on_epoch: EpochCallback | None
    ) -> list[EpochRecord]:
        """Sets `predictor_` to the network to explain; gives the record of its training, if any."""
        if self.model is not None:
            if not isinstance(self.model, RecourseClassifier) or self.model.predictor_ is None:
                raise ConfigError(
                    f"The option 'model' of {type(self).__name__} must be a fitted model of "
                    "rocourse, since the generator learns through its network: got "
                    f"{type(self.model).__name__}; use a method that searches, such as ROAR."
                )
            self.predictor_ = self.model.predictor_
            return []
        plan = TrainingPlan("predictor", self._predictor_config(), self._schedule())
        trained = train(
            rows,
            labels,
            len(self.classes_),
            self._constraints,
            plan,
            seed=self.seed_,
            on_epoch=on_epoch,
        )
        self.predictor_ = trained.predictor
        return trained.history

    def _own_predictor(self) -> Predictor:
        assert self.predictor_ is not None
        return self.predictor_


def require_same_encoding(ours: Schema, theirs: Schema) -> None:
    """Refuses a schema by which the model's network would read other numbers."""
    for name in (*ours.names, *theirs.names):
        mine = ours[name] if name in ours.names else None
        other = theirs[name] if name in theirs.names else None
        for what in ("categories", "low", "high"):
            if getattr(mine, what, None) != getattr(other, what, None):
                raise SchemaError(
                    f"Feature {name!r} must have the range or categories that the model was "
                    f"trained with, {getattr(other, what, None)}: got {getattr(mine, what, None)}; "
                    "pass the model's own schema_, with other constraints if need be."
                )
    if ours.names != theirs.names:
        raise SchemaError(
            f"The schema must have the model's features in their order, {list(theirs.names)}: got "
            f"{list(ours.names)}; pass the model's own schema_."
        )
