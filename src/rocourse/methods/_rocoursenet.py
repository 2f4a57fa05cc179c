"""RoCourseNet: predictor and generator trained together against the worst-case data shift."""

from typing import Any, ClassVar

from rocourse.attack import Attacker, InnerOptimizer, Norm
from rocourse.methods._config import (
    AttackConfig,
    Loss,
    ProximityLoss,
    Schedule,
    Scope,
    TrainingConfig,
)
from rocourse.methods._estimator import OutOfRange, RecourseClassifier
from rocourse.networks import GeneratorKind
from rocourse.schema import Schema


class RoCourseNet(RecourseClassifier):
    """A classifier with a recourse generator whose advice survives retraining (Guo et al., 2023).

    In every step an attacker looks for the data shift whose retrained model breaks the recourses
    (Virtual Data Shift); the generator is trained against that model.

    Args:
        schema: The features and their constraints; None infers it (no constraints) from X in `fit`.
        generator: `rebuild` makes each feature anew from the bottleneck, `edit` changes the row.
        target_input: Whether the generator sees the desired class beside z and p. The paper's does
            not; with more than two classes every generator does.
        encoder_widths: Hidden widths of the encoder, the last one being z.
        head_widths: Hidden widths of the head, the last one being p.
        generator_widths: Hidden widths of the generator.
        dropout: Share of hidden units dropped in training.
        loss: The form of L1 and L2.
        proximity_loss: The form of L3.
        lambda_1: Weight of L1 (prediction).
        lambda_2: Weight of L2 (validity).
        lambda_3: Weight of L3 (proximity).
        learning_rate: Adam's, for both blocks.
        batch_size: Rows a step; fewer rows than this make one smaller batch.
        epochs: The most epochs to run.
        validation_fraction: Share of the rows held out for stopping and the history.
        patience: Epochs without a better held-out objective before training stops and goes back to
            the best weights; None runs all epochs and keeps the last.
        attack_steps: T, the attacker's steps.
        unroll_steps: K, the retraining steps that the attacker looks through.
        inner_rate: η, the learning rate of the virtual retraining.
        inner_optimizer: `adam`, or `sgd` (Algorithm 1 to the letter).
        epsilon: E, the largest shift of an encoded feature (`linf`) or row (`l2`).
        epsilon_schedule: `linear` grows to E over the epochs, `constant` starts there.
        norm: The ball that a row's shift lies in, `linf` or `l2`.
        attacker: `worst` ascends, `random` redraws the shift (RoCourseNet-Random).
        scope: What the virtual retraining moves, the `full` predictor or its `head`.
        category_scale: How many times further than a number a one-hot column may shift. Above 1,
            the attacker rewrites categories as data corrections do, and the generator learns to
            lean on them less.
        out_of_range: What to do with values outside the training range, `clip` or `error`.
        random_state: Seed, RandomState or None.
    """

    method: ClassVar[str] = "rocoursenet"

    def __init__(
        self,
        schema: Schema | None = None,
        *,
        generator: GeneratorKind = "edit",
        target_input: bool = True,
        encoder_widths: tuple[int, ...] = (100, 10),
        head_widths: tuple[int, ...] = (20,),
        generator_widths: tuple[int, ...] = (100,),
        dropout: float = 0.3,
        loss: Loss = "mse",
        proximity_loss: ProximityLoss = "l1",
        lambda_1: float = 1.0,
        lambda_2: float = 1.0,
        lambda_3: float = 0.5,
        learning_rate: float = 0.003,
        batch_size: int = 128,
        epochs: int = 50,
        validation_fraction: float = 0.1,
        patience: int | None = None,
        attack_steps: int = 7,
        unroll_steps: int = 2,
        inner_rate: float = 0.003,
        inner_optimizer: InnerOptimizer = "adam",
        epsilon: float = 0.1,
        epsilon_schedule: Schedule = "linear",
        norm: Norm = "linf",
        attacker: Attacker = "worst",
        scope: Scope = "full",
        category_scale: float = 1.0,
        out_of_range: OutOfRange = "clip",
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.generator = generator
        self.target_input = target_input
        self.encoder_widths = encoder_widths
        self.head_widths = head_widths
        self.generator_widths = generator_widths
        self.dropout = dropout
        self.loss = loss
        self.proximity_loss = proximity_loss
        self.lambda_1 = lambda_1
        self.lambda_2 = lambda_2
        self.lambda_3 = lambda_3
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.attack_steps = attack_steps
        self.unroll_steps = unroll_steps
        self.inner_rate = inner_rate
        self.inner_optimizer = inner_optimizer
        self.epsilon = epsilon
        self.epsilon_schedule = epsilon_schedule
        self.norm = norm
        self.attacker = attacker
        self.scope = scope
        self.category_scale = category_scale
        self.out_of_range = out_of_range
        self.random_state = random_state

    def training_config(self) -> TrainingConfig:
        """The validated configuration that the parameters stand for."""
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
        return self._config(attack, epsilon=self.epsilon, schedule=self.epsilon_schedule)
