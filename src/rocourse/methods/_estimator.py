"""What every jointly trained estimator shares: rows in, predictions and recourses out."""

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from rocourse.errors import DataError, SchemaError
from rocourse.methods._config import (
    AttackConfig,
    Loss,
    NetworkConfig,
    ObjectiveConfig,
    ProximityLoss,
    Schedule,
    TrainingConfig,
)
from rocourse.methods._inference import predict_probabilities, propose_rows
from rocourse.methods._state import network_tensors, restore_networks
from rocourse.methods._training import EpochCallback, train
from rocourse.networks import GeneratorKind
from rocourse.schema import Recourse, Rows, Schema, Target
from rocourse.schema.constraints import ConstraintLayer

OutOfRange = Literal["clip", "error"]


class RecourseClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract base of the estimators that train a classifier together with its recourses.

    Concrete classes add their parameters and say how these make a `TrainingConfig`.
    """

    method: ClassVar[str]

    schema: Schema | None
    out_of_range: OutOfRange
    random_state: Any
    classes_: np.ndarray

    # The parameters that all methods share; scikit-learn wants them spelt out in each `__init__`.
    generator: GeneratorKind
    target_input: bool
    encoder_widths: tuple[int, ...]
    head_widths: tuple[int, ...]
    generator_widths: tuple[int, ...]
    dropout: float
    loss: Loss
    proximity_loss: ProximityLoss
    lambda_1: float
    lambda_2: float
    lambda_3: float
    learning_rate: float
    batch_size: int
    epochs: int
    validation_fraction: float
    patience: int | None

    @abstractmethod
    def training_config(self) -> TrainingConfig:
        """The validated configuration that the parameters stand for."""

    def _config(
        self, attack: AttackConfig | None, *, epsilon: float, schedule: Schedule
    ) -> TrainingConfig:
        """The shared parameters with a method's own attack."""
        return TrainingConfig(
            network=NetworkConfig(
                encoder=self.encoder_widths,
                head=self.head_widths,
                generator=self.generator_widths,
                kind=self.generator,
                target_input=self.target_input,
                dropout=self.dropout,
            ),
            objective=ObjectiveConfig(
                lambda_1=self.lambda_1,
                lambda_2=self.lambda_2,
                lambda_3=self.lambda_3,
                loss=self.loss,
                proximity=self.proximity_loss,
            ),
            attack=attack,
            epsilon=epsilon,
            schedule=schedule,
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            epochs=self.epochs,
            validation_fraction=self.validation_fraction,
            patience=self.patience,
        )

    def fit(self, X: Any, y: ArrayLike, *, on_epoch: EpochCallback | None = None) -> Self:
        """Trains predictor and generator together.

        Args:
            X: A DataFrame (columns as in the schema), or a numeric array (all continuous).
            y: The class of each row; any two or more labels.
            on_epoch: Called after each epoch with its record, as kept in `history_`.
        """
        config = self.training_config()
        frame = self._frame(X, fitting=True)
        labels = self._learn_classes(y, len(frame))
        self.schema_ = self._fitted_schema(frame, y)
        rows = self.schema_.encode(frame, out_of_range=self.out_of_range)
        self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self._constraints = ConstraintLayer.from_schema(self.schema_)
        trained = train(
            rows,
            labels,
            len(self.classes_),
            self._constraints,
            config,
            seed=self.seed_,
            on_epoch=on_epoch,
        )
        self.predictor_, self.generator_ = trained.predictor, trained.generator
        self.history_, self.best_epoch_ = trained.history, trained.best_epoch
        self.n_iter_ = len(trained.history)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, `[n, n_classes]`, columns in the order of `classes_`."""
        check_is_fitted(self)
        return self._probabilities(self._encode(self._frame(X, fitting=False)))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        chosen = np.argmax(self.predict_proba(X), axis=1)
        labels: np.ndarray = self.classes_[chosen]
        return labels

    def recourse(self, X: Any, *, desired: Any = None) -> Recourse:
        """Says what each row must change to be given the desired class.

        Args:
            X: Rows as for `predict`.
            desired: A class for all rows or one for each. None asks for the other class of two, or
                for the favourable class of many.

        Returns:
            A record of the whole batch. Every row it returns satisfies the schema's constraints;
            where no valid recourse was found, its status says so.
        """
        check_is_fitted(self)
        frame = self._frame(X, fitting=False)
        rows = self._encode(frame)
        frame = frame[list(self.schema_.names)]
        predicted = np.argmax(self._probabilities(rows), axis=1)
        target = self._targets(desired, predicted)
        proposed = propose_rows(self.predictor_, self.generator_, rows, target, self._constraints)
        needed = target != predicted
        settled = self.schema_.settle(frame, rows, _where(needed, proposed, rows))
        after = self._probabilities(settled)
        found = np.argmax(after, axis=1) == target
        status = np.where(needed, np.where(found, "found", "not_found"), "not_needed")
        return Recourse(
            schema=self.schema_,
            original=frame,
            original_rows=rows,
            attempts=settled,
            status=status,
            predicted=self.classes_[predicted],
            desired=self.classes_[target],
            probability=after[np.arange(len(after)), target].astype(float),
            method=self.method,
        )

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Writes the fitted model to a directory; short for `rocourse.save(model, path)`."""
        # The façade, not `rocourse.artifacts`: storing lives above the methods.
        import rocourse

        return rocourse.save(self, path, force=force)

    def to_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The fitted model as JSON-able values and named tensors."""
        check_is_fitted(self)
        params = self.get_params(deep=False)
        params.pop("schema")
        if not isinstance(self.random_state, int | None):
            params["random_state"] = self.seed_
        header = {
            "method": self.method,
            "params": {name: _plain(value) for name, value in params.items()},
            "schema": self.schema_.to_dict(),
            "named_columns": hasattr(self, "feature_names_in_"),
            "seed": self.seed_,
            "best_epoch": self.best_epoch_,
            "history": self.history_,
        }
        return header, network_tensors(self.predictor_, self.generator_)

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuilds a fitted model from what `to_state` gave."""
        schema = Schema.from_dict(header["schema"])
        assert schema.target is not None  # to_state always stores one
        params = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in header["params"].items()
        }
        model = cls(schema=schema, **params)
        model.schema_ = schema
        model.classes_ = np.asarray(schema.target.classes)
        model.n_features_in_ = len(schema.features)
        if header["named_columns"]:
            model.feature_names_in_ = np.asarray(schema.names, dtype=object)
        model.seed_, model.best_epoch_ = header["seed"], header["best_epoch"]
        model.history_ = header["history"]
        model.n_iter_ = len(model.history_)
        model._constraints = ConstraintLayer.from_schema(schema)
        model.predictor_, model.generator_ = restore_networks(
            tensors, schema.layout, len(model.classes_), model.training_config().network
        )
        return model

    def _frame(self, X: Any, *, fitting: bool) -> pd.DataFrame:
        """The rows as a DataFrame; arrays get made-up column names."""
        if isinstance(X, pd.DataFrame):
            if self.schema is None:
                validate_data(self, X, reset=fitting, skip_check_array=True)
                # As scikit-learn has it, columns without text names are columns without names.
                named = all(isinstance(column, str) for column in X.columns)
                return X if named else X.set_axis(_made_up_names(X.shape[1]), axis=1)
            if fitting:
                self.n_features_in_ = len(self.schema.features)
                self.feature_names_in_ = np.asarray(self.schema.names, dtype=object)
            return X
        array = validate_data(self, X, reset=fitting, dtype=np.float64)
        if self.schema is None or not fitting and not hasattr(self, "feature_names_in_"):
            return pd.DataFrame(array, columns=_made_up_names(array.shape[1]))
        if array.shape[1] != len(self.schema.features):
            raise DataError(
                f"The schema has {len(self.schema.features)} features, but the array has "
                f"{array.shape[1]} columns; pass the columns in the schema's order, or a DataFrame."
            )
        return pd.DataFrame(array, columns=list(self.schema.names))

    def _learn_classes(self, y: ArrayLike, n_rows: int) -> np.ndarray:
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        values = column_or_1d(y, warn=True)
        if len(values) != n_rows:
            raise DataError(
                f"The target must have one class a row: got {len(values)} classes for {n_rows} "
                "rows; align X and y."
            )
        missing = pd.isna(values)
        if missing.any():
            raise DataError(
                f"The target must not be missing: got NaN in {int(missing.sum())} rows; drop or "
                "label them."
            )
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise DataError(
                "The target must be finite: got infinity (inf); drop or label the rows."
            )
        check_classification_targets(values)
        self.classes_, labels = np.unique(values, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(
                f"The target must have at least two classes: got only one class, "
                f"{self.classes_[0]!r}; add rows of another class."
            )
        return labels.astype(np.int32)

    def _fitted_schema(self, frame: pd.DataFrame, y: ArrayLike) -> Schema:
        schema = Schema.infer(frame) if self.schema is None else self.schema
        if self.schema is not None:
            schema.check_fit(frame)
        classes = tuple(self.classes_.tolist())
        if schema.target is None:
            name = str(getattr(y, "name", None) or "target")
            while name in schema.names:
                name = f"{name}_"
            return replace(schema, target=Target(name, classes, classes[-1]))
        if set(schema.target.classes) != set(classes):
            raise SchemaError(
                f"The target '{schema.target.name}' must have the schema's classes "
                f"{list(schema.target.classes)}: got {list(classes)}; correct the schema or the "
                "rows."
            )
        return replace(schema, target=replace(schema.target, classes=classes))

    def _encode(self, frame: pd.DataFrame) -> Rows:
        return self.schema_.encode(frame, out_of_range=self.out_of_range)

    def _probabilities(self, rows: Rows) -> np.ndarray:
        return predict_probabilities(self.predictor_, rows, self.schema_.layout)

    def _targets(self, desired: Any, predicted: np.ndarray) -> np.ndarray:
        """Class indices asked for, `[n]`."""
        if desired is None:
            if len(self.classes_) == 2:
                return 1 - predicted
            assert self.schema_.target is not None
            desired = self.schema_.target.favourable
        wanted = np.broadcast_to(np.asarray(desired), predicted.shape)
        known = list(self.classes_)
        unknown = [label for label in np.unique(wanted) if label not in known]
        if unknown:
            raise DataError(
                f"The desired class must be one of {[_plain(c) for c in known]}: got "
                f"{_plain(unknown[0])!r}; ask for a class that the model was trained on."
            )
        return np.searchsorted(self.classes_, wanted)


def _made_up_names(n: int) -> list[str]:
    return [f"x{i}" for i in range(n)]


def _where(condition: np.ndarray, chosen: Rows, other: Rows) -> Rows:
    return Rows(
        np.where(condition[:, None], chosen.continuous, other.continuous),
        np.where(condition[:, None], chosen.categories, other.categories),
    )


def _plain(value: Any) -> Any:
    """A JSON-able twin of a parameter or label."""
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value
