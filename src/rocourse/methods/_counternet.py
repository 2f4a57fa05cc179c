"""CounterNet: predictor and recourse generator trained together, with no attacker."""

from typing import Any, ClassVar

from rocourse.methods._config import Loss, ProximityLoss, TrainingConfig
from rocourse.methods._estimator import OutOfRange, RecourseClassifier
from rocourse.networks import GeneratorKind
from rocourse.schema import Schema


class CounterNet(RecourseClassifier):
    """A classifier with a recourse generator that is trained beside it (Guo et al., 2021).

    The recourses are valid for the model as it is; nothing prepares them for a retrained one. It is
    `RoCourseNet` without the attacker.

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
        out_of_range: What to do with values outside the training range, `clip` or `error`.
        random_state: Seed, RandomState or None.
    """

    method: ClassVar[str] = "counternet"

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
        self.out_of_range = out_of_range
        self.random_state = random_state

    def training_config(self) -> TrainingConfig:
        """The validated configuration that the parameters stand for."""
        # ε only measures: it is the radius of the attack behind the history's robust validity.
        return self._config(None, epsilon=0.1, schedule="linear")
