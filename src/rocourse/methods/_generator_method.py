"""Parametric methods: a generator that is trained, jointly or post hoc, robustly or not."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import jax
import numpy as np

from rocourse.attack import Attacker, InnerOptimizer, Norm
from rocourse.methods._builders import FeedForward
from rocourse.methods._clerk import Clerk
from rocourse.methods._config import (
    AttackConfig,
    ObjectiveConfig,
    PredictorConfig,
    ProximityLoss,
    RecourseConfig,
    Schedule,
    ScheduleConfig,
    Scope,
    ValidityLoss,
    require_count,
    require_number,
    wrong,
)
from rocourse.methods._estimator import Header, RecourseClassifier, Tensors
from rocourse.methods._inference import propose_rows
from rocourse.methods._parameters import estimator, param
from rocourse.methods._post_hoc import PostHocMethod
from rocourse.methods._state import build_generator, named_tensors, restore
from rocourse.methods._training import EpochCallback, TrainingPlan, train
from rocourse.networks import GeneratorBuilder, GeneratorInput, GeneratorKind, RecourseGenerator
from rocourse.schema import Rows


class LearnedGenerator:
    """What `fit` leaves behind besides the predictor."""

    generator_: RecourseGenerator
    _clerk: Clerk | None = None
    """Made when a single row is first asked about."""


@estimator
class GeneratorMethod(LearnedGenerator, RecourseClassifier):
    """Abstract base of the methods that train a generator."""

    proximity_loss: ProximityLoss = param(
        default="l1", doc="The form of L3, `mse`, `l1` or `l1_sum`."
    )
    lambda_2: float = param(default=1.0, doc="Weight of L2 (validity).")
    lambda_3: float = param(default=0.5, doc="Weight of L3 (proximity).")
    measure_attack: bool | None = param(
        default=None,
        doc="Whether to attack held-out rows in every epoch, for the history's robust validity; "
        "None does so in robust training, where `patience` then watches the loss under attack.",
    )

    @abstractmethod
    def generator_builder(self) -> GeneratorBuilder:
        """What makes the untrained generator; hashable, equal for equal parameters."""

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        super().check_parameters()
        if self.measure_attack not in (None, True, False):
            raise wrong("measure_attack", "True, False or None", self.measure_attack)
        self.recourse_config()
        self.generator_builder()

    def recourse_config(self) -> RecourseConfig:
        """What the generator is trained for; robust training adds its attack."""
        return RecourseConfig(
            objective=ObjectiveConfig(
                lambda_2=self.lambda_2,
                lambda_3=self.lambda_3,
                validity=self._validity_loss(),
                proximity=self.proximity_loss,
            ),
            attack=None,
            measure_attack=self.measure_attack is True,
            # Without an attack ε only measures: the radius behind the history's robust validity.
            epsilon=0.1,
            epsilon_schedule="linear",
        )

    def _validity_loss(self) -> ValidityLoss:
        return self.loss

    def _propose(self, rows: Rows, target: np.ndarray) -> Rows:
        assert self.predictor_ is not None
        return propose_rows(self.predictor_, self.generator_, rows, target, self._constraints)

    def recourse_one(self, applicant: Mapping[str, Any], *, desired: Any = None) -> dict[str, Any]:
        """Says what a single applicant must change, without a table where the row allows it."""
        record = None
        predictor = getattr(self, "predictor_", None)
        if predictor is not None and self._asks_networks_alone():
            networks = (predictor, self.generator_, self._constraints)
            if self._clerk is None or not self._clerk.serves(networks):
                self._clerk = Clerk(self.schema_, self.classes_, networks)
            record = self._clerk.record(applicant, desired)
        return super().recourse_one(applicant, desired=desired) if record is None else record

    def _asks_networks_alone(self) -> bool:
        """Whether a recourse is what the generator proposes, judged by the predictor."""
        ways = ("_propose", "_probabilities", "_targets", "_encode", "recourse")
        return all(getattr(type(self), way) is getattr(GeneratorMethod, way) for way in ways)

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code cannot be copied; it is found again when it is needed.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_clerk"}

    def _learned(self) -> tuple[Header, Tensors]:
        return {}, named_tensors(self.generator_, "generator")

    def _restore(self, header: Header, tensors: Tensors) -> None:
        predictor = self.predictor_
        assert predictor is not None
        layout, build = self.schema_.layout, self.generator_builder()
        self.generator_ = restore(
            tensors,
            "generator",
            lambda: build_generator(predictor, layout, build, key=jax.random.key(0)),
        )


@estimator
class FeedForwardMethod(GeneratorMethod):
    """Abstract base of the methods whose generator is a feed-forward network, or the user's own."""

    generator: GeneratorKind | GeneratorBuilder = param(
        default="edit",
        doc="`rebuild` makes each feature anew, `edit` changes the row; or a function "
        "`(shape, *, key)` that builds a generator of your own.",
    )
    target_input: bool = param(
        default=True,
        doc="Whether the generator sees the desired class. The paper's does not; with more than "
        "two classes every generator does.",
    )
    generator_widths: tuple[int, ...] = param(default=(100,), doc="Hidden widths of the generator.")

    _sources: ClassVar[tuple[GeneratorInput, ...]]

    def generator_builder(self) -> GeneratorBuilder:
        """What makes the untrained generator; hashable, equal for equal parameters."""
        if callable(self.generator):
            return self.generator
        return FeedForward(
            sources=self._sources,
            widths=self._hidden_widths(),
            kind=self.generator,
            target_input=self.target_input,
            dropout=self.dropout,
        )

    def _hidden_widths(self) -> tuple[int, ...]:
        return self.generator_widths

    def _supplied(self) -> set[str]:
        return super()._supplied() | ({"generator"} if callable(self.generator) else set())


@estimator
class JointMethod(FeedForwardMethod):
    """Abstract base of the methods that train predictor and generator together."""

    _sources: ClassVar[tuple[GeneratorInput, ...]] = ("z", "p")

    lambda_1: float = param(default=1.0, doc="Weight of L1 (prediction).")

    def training_plan(self) -> TrainingPlan:
        """The validated configuration that the parameters stand for."""
        return TrainingPlan(
            "both",
            self._predictor_config(),
            self._schedule(),
            self.generator_builder(),
            self.recourse_config(),
        )

    def _predictor_config(self) -> PredictorConfig:
        return replace(super()._predictor_config(), lambda_1=self.lambda_1)

    def _learn(self, rows: Rows, labels: np.ndarray, on_epoch: EpochCallback | None) -> None:
        trained = train(
            rows,
            labels,
            len(self.classes_),
            self._constraints,
            self.training_plan(),
            seed=self.seed_,
            on_epoch=on_epoch,
        )
        assert trained.generator is not None
        self.predictor_, self.generator_ = trained.predictor, trained.generator
        self._keep_history(trained.history, trained.best_epoch)


@estimator
class PostHocGeneratorMethod(PostHocMethod, GeneratorMethod):
    """Abstract base of the methods that train a generator for a predictor that is there already."""

    validity_loss: ValidityLoss = param(
        default="mse",
        doc="The form of L2: `mse`, `cross_entropy`, or `hinge` (a lead of 0.165 in probability).",
    )
    generator_epochs: int = param(default=50, doc="The most epochs to train the generator for.")
    generator_learning_rate: float | None = param(
        default=None, doc="Adam's, for the generator; None takes `learning_rate`."
    )

    @property
    def planned_epochs(self) -> int:
        """How many epochs `fit` will run at most."""
        return super().planned_epochs + self.generator_epochs

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        super().check_parameters()
        require_count("generator_epochs", self.generator_epochs)
        if self.generator_learning_rate is not None:
            require_number("generator_learning_rate", self.generator_learning_rate, above=0.0)

    def _validity_loss(self) -> ValidityLoss:
        return self.validity_loss

    def training_plan(self) -> TrainingPlan:
        """The validated configuration of the generator's training."""
        schedule: ScheduleConfig = replace(
            self._schedule(),
            learning_rate=self.generator_learning_rate or self.learning_rate,
            epochs=self.generator_epochs,
        )
        return TrainingPlan(
            "generator",
            self._predictor_config(),
            schedule,
            self.generator_builder(),
            self.recourse_config(),
        )

    def _learn(self, rows: Rows, labels: np.ndarray, on_epoch: EpochCallback | None) -> None:
        history = self._find_predictor(rows, labels, on_epoch)
        predictor = self._own_predictor()
        done = len(history)

        def count_on(record: dict[str, float]) -> dict[str, float]:
            return record | {"epoch": done + record["epoch"]}

        trained = train(
            rows,
            labels,
            len(self.classes_),
            self._constraints,
            self.training_plan(),
            seed=self.seed_,
            predictor=predictor,
            on_epoch=None if on_epoch is None else lambda record: on_epoch(count_on(record)),
        )
        assert trained.generator is not None
        self.generator_ = trained.generator
        self._keep_history([*history, *map(count_on, trained.history)], done + trained.best_epoch)


@estimator
class RobustTraining(GeneratorMethod):
    """What makes a method that trains a generator robust: the judge of L2 is attacked.

    In every step an attacker looks for the data shift whose retrained model breaks the recourses
    (Virtual Data Shift), and the generator is trained against that model. As the last base of a
    class (so that the method's own defaults win) it turns CounterNet into RoCourseNet, CF Model
    into Robust CF Model, and so on.
    """

    attack_steps: int = param(default=7, doc="T, the attacker's steps.")
    unroll_steps: int = param(
        default=2, doc="K, the retraining steps that the attacker looks through."
    )
    inner_rate: float = param(default=0.003, doc="η, the learning rate of the virtual retraining.")
    inner_optimizer: InnerOptimizer = param(
        default="adam", doc="`adam`, or `sgd` (Algorithm 1 to the letter)."
    )
    epsilon: float = param(
        default=0.1, doc="E, the largest shift of an encoded feature (`linf`) or row (`l2`)."
    )
    epsilon_schedule: Schedule = param(
        default="linear", doc="`linear` grows to E over the epochs, `constant` starts there."
    )
    norm: Norm = param(default="linf", doc="The ball that a row's shift lies in, `linf` or `l2`.")
    attacker: Attacker = param(default="worst", doc="`worst` ascends, `random` redraws the shift.")
    scope: Scope = param(
        default="full", doc="What the virtual retraining moves, the `full` predictor or its `head`."
    )
    category_scale: float = param(
        default=1.0,
        doc="How many times further than a number a one-hot column may shift. Above 1, the "
        "attacker rewrites categories as data corrections do, and the generator learns to lean on "
        "them less.",
    )

    def recourse_config(self) -> RecourseConfig:
        """What the generator is trained for, and against."""
        attack = AttackConfig(
            steps=self.attack_steps,
            unroll=self.unroll_steps,
            rate=self.inner_rate,
            optimizer=self.inner_optimizer,
            norm=self.norm,
            attacker=self.attacker,
            scope=self.scope,
            category_scale=self.category_scale,
        )
        return replace(
            super().recourse_config(),
            attack=attack,
            measure_attack=self.measure_attack is not False,
            epsilon=self.epsilon,
            epsilon_schedule=self.epsilon_schedule,
        )
