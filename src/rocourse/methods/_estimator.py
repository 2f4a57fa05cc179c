"""What every method shares: rows in, predictions and recourses out."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import jax
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from rocourse.errors import ArtifactError, ConfigError, DataError, SchemaError
from rocourse.methods._config import (
    Loss,
    PredictorConfig,
    ScheduleConfig,
    require_count,
    require_one_of,
)
from rocourse.methods._few_rows import answer_each
from rocourse.methods._inference import predict_probabilities
from rocourse.methods._labels import checked_labels
from rocourse.methods._parameters import estimator, param
from rocourse.methods._state import build_predictor, named_tensors, restore
from rocourse.methods._training import EpochCallback, EpochRecord, TrainingPlan, train
from rocourse.methods._witnesses import share_of_witnesses, train_witnesses
from rocourse.networks import Predictor
from rocourse.schema import Recourse, Rows, Schema, Target
from rocourse.schema.constraints import ConstraintLayer

OutOfRange = Literal["clip", "error"]
OUT_OF_RANGE: tuple[OutOfRange, ...] = ("clip", "error")

_WITNESS = "witness"

Header = dict[str, Any]
Tensors = dict[str, np.ndarray]


class LearnedState:
    """What `fit` leaves behind; apart from the parameters, which are fields."""

    classes_: np.ndarray
    schema_: Schema
    seed_: int
    predictor_: Predictor | None
    """The network that predicts; None where a model of the user's does."""
    witnesses_: list[Predictor]
    """Models of shifted rows, to say how robust a recourse is."""
    history_: list[EpochRecord]
    best_epoch_: int
    n_iter_: int


@estimator
class RecourseClassifier(LearnedState, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract base of the methods: a classifier that says what a row must change.

    Concrete classes add their parameters, and say how they learn and how they propose.
    """

    method: ClassVar[str]

    schema: Schema | None = param(
        default=None,
        doc="The features and their constraints; None infers it (no constraints) from X in `fit`.",
        kw_only=False,
    )
    encoder_widths: tuple[int, ...] = param(
        default=(100, 10), doc="Hidden widths of the predictor's encoder, the last one being z."
    )
    head_widths: tuple[int, ...] = param(
        default=(20,), doc="Hidden widths of the predictor's head, the last one being p."
    )
    dropout: float = param(default=0.3, doc="Share of hidden units dropped in training.")
    loss: Loss = param(default="mse", doc="The form of L1 (prediction), `mse` or `cross_entropy`.")
    learning_rate: float = param(default=0.003, doc="Adam's, for each network.")
    batch_size: int = param(
        default=128, doc="Rows a step; fewer rows than this make one smaller batch."
    )
    epochs: int = param(default=50, doc="The most epochs to run.")
    validation_fraction: float = param(
        default=0.1, doc="Share of the rows held out for stopping and the history."
    )
    patience: int | None = param(
        default=None,
        doc="Epochs without a better held-out objective before training stops and goes back to the "
        "best weights; None runs all epochs and keeps the last.",
    )
    out_of_range: OutOfRange = param(
        default="clip", doc="What to do with values outside the training range, `clip` or `error`."
    )
    witnesses: int = param(
        default=0,
        doc="Models of shifted training rows that are kept beside the model, to say how many of "
        "them would honour a recourse.",
    )
    random_state: Any = param(default=None, doc="Seed, RandomState or None.")

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        self._predictor_config()
        self._schedule()
        require_one_of("out_of_range", self.out_of_range, OUT_OF_RANGE)
        if self.witnesses != 0:
            require_count("witnesses", self.witnesses)

    @property
    def planned_epochs(self) -> int:
        """How many epochs `fit` will run at most."""
        return self.epochs

    @abstractmethod
    def _learn(self, rows: Rows, labels: np.ndarray, on_epoch: EpochCallback | None) -> None:
        """Learns from compact rows and class indices; sets all that ends in `_`."""

    @abstractmethod
    def _propose(self, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""

    @abstractmethod
    def _learned(self) -> tuple[Header, Tensors]:
        """What was learned besides the predictor, for `to_state`."""

    @abstractmethod
    def _restore(self, header: Header, tensors: Tensors) -> None:
        """The inverse of `_learned`."""

    def fit(self, X: Any, y: ArrayLike, *, on_epoch: EpochCallback | None = None) -> Self:
        """Learns to predict and to give recourse.

        Args:
            X: A DataFrame (columns as in the schema), or a numeric array (all continuous).
            y: The class of each row; any two or more labels.
            on_epoch: Called after each epoch with its record, as kept in `history_`.
        """
        self.check_parameters()
        frame = self._frame(X, fitting=True)
        labels = self._learn_classes(y, len(frame))
        self.schema_ = self._fitted_schema(frame, y)
        rows = self.schema_.encode(frame, out_of_range=self.out_of_range)
        self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self._constraints = ConstraintLayer.from_schema(self.schema_)
        self._learn(rows, labels, on_epoch)
        self.witnesses_ = self._train_witnesses(rows, labels)
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
        proposed = self._propose(rows, target)
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

    def recourse_one(self, applicant: Mapping[str, Any], *, desired: Any = None) -> dict[str, Any]:
        """Says what a single applicant must change: one record of `Recourse.to_records`.

        Methods with a generator of their own answer without a table, in a fraction of the time.

        Args:
            applicant: The value of each feature by its name.
            desired: As for `recourse`.
        """
        check_is_fitted(self)
        # In the order of the features, which is asked for where the schema was inferred.
        known = {name: applicant[name] for name in self.schema_.names if name in applicant}
        table = pd.DataFrame([known | dict(applicant)])
        return self.recourse(table, desired=desired).to_records()[0]

    def recourse_each(
        self, applicants: Sequence[Mapping[str, Any]], *, desired: Any = None
    ) -> list[dict[str, Any]]:
        """Says what each of a handful of applicants must change, without a table if it can.

        Args:
            applicants: For each the value of each feature by its name.
            desired: As for `recourse`.

        Returns:
            Records as of `Recourse.to_records` but without an index, with two more entries:
            `probability_before`, of the desired class, and `robustness`, the share of witnesses
            that would honour the recourse, None without witnesses.
        """
        check_is_fitted(self)
        return answer_each(self, applicants, desired)

    def _share_of_witnesses(self, rows: Rows, target: np.ndarray) -> np.ndarray | None:
        if not self.witnesses_:
            return None
        return share_of_witnesses(self.witnesses_, rows, target, self.schema_.layout)

    def robustness(self, recourse: Recourse) -> np.ndarray | None:
        """The share of the model's witnesses that would honour each attempt, float64 `[n]`.

        None if the model has no witnesses.
        """
        check_is_fitted(self)
        target = np.searchsorted(self.classes_, recourse.desired)
        return self._share_of_witnesses(recourse.attempts, target)

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Writes the fitted model to a directory; short for `rocourse.save(model, path)`."""
        # The façade, not `rocourse.artifacts`: storing lives above the methods.
        import rocourse

        return rocourse.save(self, path, force=force)

    def to_state(self) -> tuple[Header, Tensors]:
        """The fitted model as JSON-able values and named tensors."""
        check_is_fitted(self)
        params = self.get_params(deep=False)
        del params["schema"]
        if not isinstance(self.random_state, int | None):
            params["random_state"] = self.seed_
        supplied = self._supplied()
        header: Header = {
            "method": self.method,
            "params": {
                # A model of ours that was explained lives on in its predictor.
                name: None
                if name in supplied or isinstance(value, RecourseClassifier)
                else _plain(value)
                for name, value in params.items()
            },
            "schema": self.schema_.to_dict(),
            "named_columns": hasattr(self, "feature_names_in_"),
            "seed": self.seed_,
            "best_epoch": self.best_epoch_,
            "history": self.history_,
        }
        if supplied:
            header["supplied"] = sorted(supplied)
        learned, tensors = self._learned()
        if self.predictor_ is not None:
            # Of the network, not of the parameters: it may be another model's.
            header["predictor"] = {
                "encoder": list(self.predictor_.encoder.widths),
                "head": list(self.predictor_.head.widths),
            }
            tensors |= named_tensors(self.predictor_, "predictor")
        for i, witness in enumerate(self.witnesses_):
            tensors |= named_tensors(witness, f"{_WITNESS}{i}")
        return header | learned, tensors

    @classmethod
    def from_state(cls, header: Header, tensors: Tensors, **supplied: Any) -> Self:
        """Rebuilds a fitted model from what `to_state` gave.

        Args:
            header: The JSON-able values.
            tensors: The named tensors.
            **supplied: Parameters that cannot be stored, by the names in `header["supplied"]`.
        """
        schema = Schema.from_dict(header["schema"])
        assert schema.target is not None  # to_state always stores one
        params = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in header["params"].items()
        }
        _check_supplied(header.get("supplied", []), supplied)
        model = cls(schema=schema, **(params | supplied))
        model.check_parameters()
        model.schema_ = schema
        model.classes_ = np.asarray(schema.target.classes)
        model.n_features_in_ = len(schema.features)
        if header["named_columns"]:
            model.feature_names_in_ = np.asarray(schema.names, dtype=object)
        model.seed_ = header["seed"]
        model._keep_history(header["history"], header["best_epoch"])
        model._constraints = ConstraintLayer.from_schema(schema)
        model.predictor_, model.witnesses_ = None, []
        if any(name.startswith("predictor.") for name in tensors):
            # Of the network, where they are stored; it may be another model's.
            config, widths = model._predictor_config(), header.get("predictor", {})
            sizes = replace(
                config,
                encoder=tuple(widths.get("encoder", config.encoder)),
                head=tuple(widths.get("head", config.head)),
            )
            build = partial(
                build_predictor, schema.layout, len(model.classes_), sizes, key=jax.random.key(0)
            )
            model.predictor_ = restore(tensors, "predictor", build)
            stored = {name.split(".")[0] for name in tensors if name.startswith(_WITNESS)}
            model.witnesses_ = [
                restore(tensors, f"{_WITNESS}{i}", build) for i in range(len(stored))
            ]
        model._restore(header, tensors)
        return model

    def _train_witnesses(self, rows: Rows, labels: np.ndarray) -> list[Predictor]:
        if not self.witnesses:
            return []
        if self.predictor_ is None:
            raise ConfigError(
                "The option 'witnesses' must be 0 for a model whose network is not ours, since "
                f"such a model cannot be trained anew here: got {self.witnesses}; leave it out."
            )
        return train_witnesses(
            self._retrain,
            rows,
            labels,
            len(self.classes_),
            self.schema_.layout,
            count=self.witnesses,
            seed=self.seed_,
        )

    def _retrain(self, rows: Rows, labels: np.ndarray, seed: int) -> Predictor:
        """A model like the one that predicts, of other rows."""
        assert self.predictor_ is not None  # only a network of ours is trained anew
        plan = TrainingPlan("predictor", self._network_config(self.predictor_), self._schedule())
        return train(rows, labels, len(self.classes_), self._constraints, plan, seed=seed).predictor

    def _network_config(self, predictor: Predictor) -> PredictorConfig:
        """How to train such a network: one of a model that was given may have other widths."""
        return replace(
            self._predictor_config(),
            encoder=predictor.encoder.widths,
            head=predictor.head.widths,
        )

    def _keep_history(self, history: list[EpochRecord], best_epoch: int) -> None:
        self.history_, self.best_epoch_ = history, best_epoch
        self.n_iter_ = len(history)

    def _supplied(self) -> set[str]:
        """Parameters that only their owner can store: foreign models and functions."""
        return set()

    def _predictor_config(self) -> PredictorConfig:
        return PredictorConfig(
            encoder=self.encoder_widths, head=self.head_widths, dropout=self.dropout, loss=self.loss
        )

    def _schedule(self) -> ScheduleConfig:
        return ScheduleConfig(
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            epochs=self.epochs,
            validation_fraction=self.validation_fraction,
            patience=self.patience,
        )

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

    def _check_labels(self, y: ArrayLike, n_rows: int) -> np.ndarray:
        return checked_labels(y, n_rows, asker=type(self).__name__)

    def _learn_classes(self, y: ArrayLike, n_rows: int) -> np.ndarray:
        values = self._check_labels(y, n_rows)
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
        assert self.predictor_ is not None  # a method that works without one overrides this
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


def _check_supplied(wanted: list[str], given: dict[str, Any]) -> None:
    for name in wanted:
        if name not in given:
            raise ArtifactError(
                f"it was stored without its '{name}', which cannot be written to a file; pass it "
                f"as {name}=... when loading."
            )
    for name in given:
        if name not in wanted:
            raise ArtifactError(
                f"it was stored with its '{name}', but got another one; load it without {name}=..."
            )


def _plain(value: Any) -> Any:
    """A JSON-able twin of a parameter or label."""
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value
