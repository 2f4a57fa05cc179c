"""The one estimator: a trainer, a proposer and perhaps an attack; rows in, recourses out."""

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rocourse._places import Place
from rocourse.attack import Attack
from rocourse.estimators._advising import Advising
from rocourse.estimators._explaining import accepted_rows
from rocourse.estimators._facts import Facts, given_figures, held_out_figures, told_rows
from rocourse.estimators._given import (
    classes_of,
    learned_schema,
    networks_of,
    open_model,
    require_classes,
    require_network,
    require_two,
    schema_of,
)
from rocourse.estimators._one_verdict import cut_off_of, train_to_decide
from rocourse.estimators._parameters import (
    KEPT,
    OPTION_PARTS,
    PARAMETERS,
    check_parameters,
    documented_defaults,
    require_options,
    resolved,
    states_cut_off,
)
from rocourse.estimators._reading import (
    known_labels,
    new_labels,
    read_frame,
    read_training_rows,
)
from rocourse.estimators._storage import Header, Tensors, described, from_state, to_state
from rocourse.models import (
    BatchModel,
    PlainTrainer,
    Trainer,
    TrainingRows,
    sharpened,
    train_witnesses,
)
from rocourse.models.training import EpochCallback, EpochRecord, History
from rocourse.networks import Predictor
from rocourse.options import NESTED
from rocourse.reasons import Background
from rocourse.recourse import Advisor, Context, Fitting, GeneratorProposer, Proposer, State
from rocourse.schema import CutOff, OutOfRange, Rows, Schema, Usual, verdicts

_TRAINER, _PROPOSER = PlainTrainer(), GeneratorProposer()

METHODS: dict[str, type["RecourseClassifier"]] = {}
"""The estimators by the names that the command line and stored models use."""


class RecourseClassifier(Advising, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that says what a row must change to be given another class.

    It is composed: a trainer makes the model that decides, a proposer finds recourses for it, and
    an attack, if there is one, is what the proposer is trained against. Any trainer goes with any
    proposer; this class takes them as they come. A class of its own is a name for defaults:

    ```python
    class Mine(RecourseClassifier, name="mine", trainer=PlainTrainer(), proposer=MyProposer()):
        "What it is, in a line."
    ```

    Examples:
        >>> model.predict(X_refused.head(2))
        array([0, 0])
        >>> model.recourse(X_refused.head(2)).valid
        array([ True,  True])
    """

    method: ClassVar[str] = "composed"

    classes_: np.ndarray
    schema_: Schema
    seed_: int
    trainer_: Trainer
    """How the model was trained, and would be again."""
    proposer_: Proposer
    attack_: Attack | None
    model_: BatchModel
    """What decides."""
    cut_off_: CutOff | None
    """From which probability on the favourable class is granted; None: the most probable class."""
    usual_: Usual | None
    """The values that recourses ask for, of training rows; None: all that the schema allows."""
    network_: Predictor | None
    """The model's network; of a model without one, what imitates it, where that is needed."""
    state_: State
    """What the proposer has learned."""
    witnesses_: list[Predictor]
    """Models of shifted rows, to say how robust a recourse is."""
    training_: Facts | None
    """How many rows it was fitted on, of which classes, in how many groups."""
    measured_: Facts | None
    """How well the model predicts, as far as that was measured by the fit."""
    background_: Background | None
    """Means of training rows that are given the class that is wanted: reasons compare with them."""
    history_: list[EpochRecord]
    best_epoch_: int
    n_iter_: int
    n_features_in_: int
    feature_names_in_: np.ndarray
    digest_: str
    """Of the files that it was loaded from, or saved to last; it has none before."""

    def __init__(
        self,
        schema: Schema | None = None,
        *,
        trainer: Trainer = _TRAINER,
        proposer: Proposer = _PROPOSER,
        attack: Attack | None = None,
        model: Any = None,
        preset: str | None = None,
        threshold: float | None = None,
        approval_rate: float | None = None,
        unusual: bool = False,
        witnesses: int = 0,
        out_of_range: OutOfRange = "clip",
        random_state: Any = None,
        **nested: Any,
    ) -> None:
        self.schema = schema
        self.trainer = trainer
        self.proposer = proposer
        self.attack = attack
        self.model = model
        self.preset = preset
        self.threshold = threshold
        self.approval_rate = approval_rate
        self.unusual = unusual
        self.witnesses = witnesses
        self.out_of_range: OutOfRange = out_of_range
        self.random_state = random_state
        self.set_params(**nested)

    def __init_subclass__(
        cls,
        *,
        name: str,
        trainer: Trainer,
        proposer: Proposer,
        attack: Attack | None = None,
        **others: Any,
    ) -> None:
        super().__init_subclass__(**others)
        cls.method = name
        # scikit-learn reads parameters and their defaults off the signature.
        cls.__init__ = documented_defaults(  # type: ignore[method-assign]
            RecourseClassifier.__init__, trainer=trainer, proposer=proposer, attack=attack
        )
        cls.__doc__ = PARAMETERS.documented(cls.__doc__)
        METHODS[name] = cls

    def set_params(self, **params: Any) -> Self:
        """Sets parameters; those of trainer, proposer and attack by names such as `attack__steps`.

        `kept` is short for `proposer__kept`.

        Objects of options are replaced, not changed: several estimators may share one.
        """
        nested: dict[str, dict[str, Any]] = {}
        if KEPT in params:
            params[f"proposer{NESTED}{KEPT}"] = params.pop(KEPT)
        for name in [name for name in params if NESTED in name]:
            outer, _, inner = name.partition(NESTED)
            if outer in OPTION_PARTS:
                require_options(outer, inner, params.get(outer, getattr(self, outer)))
                nested.setdefault(outer, {})[inner] = params.pop(name)
        super().set_params(**params)
        for outer, changes in nested.items():
            setattr(self, outer, getattr(self, outer)(**changes))
        return self

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        check_parameters(self)

    @property
    def planned_epochs(self) -> int:
        """How many epochs `fit` will run at most."""
        trainer, proposer, attack = resolved(self)
        trained = 0 if self.model is not None else trainer.epochs
        beside = trainer.trains_beside and not states_cut_off(self)
        if trained and beside and proposer.task(attack) is not None:
            return trained
        return trained + getattr(proposer, "epochs", 0)

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        on_epoch: EpochCallback | None = None,
    ) -> Self:
        """Learns to predict and to give recourse.

        Args:
            X: A DataFrame (columns as in the schema), or a numeric array (all continuous).
            y: The class of each row; any two or more labels. A model that is given to a proposer
                that searches needs none.
            groups: Which group each row belongs to (a year, a branch, a batch of corrections).
                What differs between groups tells a method that promises how far the world moves.
            on_epoch: Called after each epoch with its record, as kept in `history_`.
        """
        self.check_parameters()
        self.trainer_, self.proposer_, self.attack_ = resolved(self)
        frame, y, known_groups = read_training_rows(self, X, y, groups)
        labels = self._learn_classes(y, len(frame))
        if states_cut_off(self):
            require_two(self.classes_)
        self.schema_ = self._learn_schema(frame, y)
        rows = self.schema_.encode(frame, out_of_range=self.out_of_range)
        self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.usual_ = None if self.unusual else Usual.of(rows, self.schema_)
        data = TrainingRows(
            rows, labels, len(self.classes_), self.schema_, known_groups, usual=self.usual_
        )
        self.training_ = told_rows(data, labelled=y is not None)
        self.__dict__.pop("digest_", None)
        history = History(on_epoch)
        self._fit(data, history)
        self.history_, self.best_epoch_ = history.records, history.best_epoch
        self.n_iter_ = len(self.history_)
        self.witnesses_ = self._train_witnesses(data)
        self.background_ = accepted_rows(self, rows)
        # Made now: asking must leave an estimator as it is.
        self._advisor = self._made_advisor()
        return self

    def _fit(self, data: TrainingRows, history: History) -> None:
        """The model, then what proposes for it."""
        given, trainer, state, sharpness, only = self._given(), self.trainer_, None, 1.0, None
        trained = None
        if given is not None:
            # What is given was trained in a way of its own, and would be again.
            self.trainer_ = trainer = given.trainer_
        if self.model is None:
            # Who is granted is known when the model is; a generator for it comes afterwards.
            task = self.proposer_.task(self.attack_, trainer.encoder_widths)
            beside = None if states_cut_off(self) else task
            made = train_to_decide(trainer, data, seed=self.seed_, beside=beside, history=history)
            self.trainer_, self.model_, trainer = made.trainer, made.model, made.trainer
            trained, only = made.trained, made.only
            state, sharpness = trained.generator, trained.sharpness
        else:
            self.model_ = open_model(self.model, self.schema_) if given is None else given.model_
        require_classes(self.model_, self.classes_, data)
        self.cut_off_ = cut_off_of(self, self.model_, data, only, given)
        data = data._replace(cut_off=self.cut_off_)
        if trained is not None:
            self.measured_ = held_out_figures(trained, data)
        elif given is not None:
            self.measured_ = given.measured_
        else:
            again = self.proposer_.promises
            self.measured_ = given_figures(self.model_, data, refit=again, seed=self.seed_)
        self.network_ = None
        self.network_, networks = networks_of(
            self._context(), self.proposer_, self.trainer_, data, history
        )
        # What was trained beside the model knew of no cut-off.
        self.state_ = state if self.cut_off_ is None else None
        if self.state_ is None:
            # Sure as trained: how sure people are told it is must not change the advice.
            networks = tuple(sharpened(networks, 1.0 / sharpness))
            fitting = Fitting(trainer, networks, self.attack_, history)
            self.state_ = self.proposer_.fit(self._context(), data, fitting)

    def _context(self) -> Context:
        return Context(
            self.schema_,
            self.model_,
            self.network_,
            self.seed_,
            self.cut_off_,
            usual=self.usual_,
        )

    @cached_property
    def _advisor(self) -> Advisor:
        return self._made_advisor()

    def _made_advisor(self) -> Advisor:
        return Advisor(
            self._context(),
            self.proposer_,
            self.state_,
            self.classes_,
            self.witnesses_,
            self.method,
        )

    def _train_witnesses(self, data: TrainingRows) -> list[Predictor]:
        if not self.witnesses:
            return []
        require_network(self.model_, self.witnesses)
        judged = data._replace(cut_off=self.cut_off_)
        return train_witnesses(self.trainer_, judged, count=self.witnesses, seed=self.seed_)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, `[n, n_classes]`, columns in the order of `classes_`."""
        check_is_fitted(self)
        frame = read_frame(self, X, fitting=False)
        return self.probabilities(self.schema_.encode(frame, out_of_range=self.out_of_range))

    def probabilities(self, rows: Rows) -> np.ndarray:
        """As `predict_proba`, of rows that are encoded already."""
        return self._advisor.context.predict(rows)

    def predict(self, X: Any) -> np.ndarray:
        """The class that each row is given: the most probable one, or as the cut-off has it."""
        shares = self.predict_proba(X)
        return self.classes_[verdicts(shares, self.cut_off_)]  # type: ignore[no-any-return]

    def save(self, path: str | Place, *, force: bool = False) -> Place:
        """Writes the fitted model to a directory; short for `rocourse.save(model, path)`."""
        # The façade, not `rocourse.artifacts`: storing lives above the estimators.
        import rocourse

        return rocourse.save(self, path, force=force)

    def card(self) -> str:
        """The model card, in Markdown; short for `rocourse.card(model)`."""
        import rocourse

        return rocourse.card(self)

    def described(self) -> Header:
        """What is told of the fitted model, JSON-able: the header of `to_state`.

        A model of the user's that cannot be stored is told of by its name.
        """
        check_is_fitted(self)
        return described(self)

    def to_state(self) -> tuple[Header, Tensors]:
        """The fitted model as JSON-able values and named tensors."""
        check_is_fitted(self)
        return to_state(self)

    @classmethod
    def from_state(cls, header: Header, tensors: Tensors, **supplied: Any) -> Self:
        """Rebuilds a fitted model from what `to_state` gave.

        Args:
            header: The JSON-able values.
            tensors: The named tensors.
            **supplied: What cannot be stored, by the names in `header["supplied"]`.
        """
        return from_state(cls, header, tensors, supplied)

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code cannot be copied; it is found again when it is needed.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_advisor"}

    def _given(self) -> "RecourseClassifier | None":
        """The model to explain, if it is one of ours."""
        if not isinstance(self.model, RecourseClassifier):
            return None
        check_is_fitted(self.model)
        return self.model

    def _learn_classes(self, y: ArrayLike, n_rows: int) -> np.ndarray:
        """Sets `classes_`; the index of each row's class."""
        name, given, known = type(self).__name__, self._given(), None
        if given is not None:
            known = given.classes_
        elif self.model is not None:
            known = classes_of(self.model, self.schema)
        if known is None:
            self.classes_, labels = new_labels(y, n_rows, asker=name)
            return labels
        self.classes_ = known
        # A model has learned from labels of its own; a search needs none.
        if y is None and not self.proposer_.needs_network:
            return np.zeros(n_rows, np.int32)
        return known_labels(y, n_rows, known, asker=name)

    def _learn_schema(self, frame: pd.DataFrame, y: ArrayLike) -> Schema:
        given = self._given()
        theirs = schema_of(self.model) if given is None else given.schema_
        return learned_schema(self.schema, theirs, frame, y, self.classes_)
