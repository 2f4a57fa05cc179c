"""What to train and how: the trainer's options, and the task of a generator, if there is one."""

from abc import abstractmethod
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from rocourse.attack import Attack
from rocourse.models.training._history import History
from rocourse.networks import GeneratorBuilder, Predictor, RecourseGenerator
from rocourse.options import Options, maybe, number, one_of, option, share, whole, widths
from rocourse.schema import CutOff, Rows, Schema, Usual

Loss = Literal["mse", "cross_entropy"]
ValidityLoss = Literal["mse", "cross_entropy", "hinge"]
ProximityLoss = Literal["mse", "l1", "l1_sum"]
Moving = Literal["both", "predictor", "generator"]
LOSSES: tuple[Loss, ...] = get_args(Loss)
VALIDITY_LOSSES: tuple[ValidityLoss, ...] = get_args(ValidityLoss)
PROXIMITY_LOSSES: tuple[ProximityLoss, ...] = get_args(ProximityLoss)


class TrainingRows(NamedTuple):
    """Rows to learn from."""

    rows: Rows
    labels: np.ndarray
    """Class indices, `[n]`."""
    n_classes: int
    schema: Schema
    groups: np.ndarray | None = None
    """The index of each row's group (a year, a branch), `[n]`, where groups are known."""
    scores: np.ndarray | None = None
    """How much speaks for each class, log-odds `[n, classes]`, where labels may drift."""
    cut_off: CutOff | None = None
    """By which rows are judged, also by models that are trained on them shifted."""
    usual: Usual | None = None
    """The values that recourses may ask for; None: all that the schema allows."""

    def take(self, places: np.ndarray) -> "TrainingRows":
        """The rows at these places."""
        return self._replace(
            rows=self.rows.take(places),
            labels=self.labels[places],
            groups=None if self.groups is None else self.groups[places],
            scores=None if self.scores is None else self.scores[places],
        )


class Objective(NamedTuple):
    """The weights and forms of L2 (validity) and L3 (proximity)."""

    validity: ValidityLoss
    proximity: ProximityLoss
    validity_weight: float
    proximity_weight: float


class GeneratorTask(NamedTuple):
    """What a generator is trained for."""

    build: GeneratorBuilder
    objective: Objective
    attack: Attack | None
    """What it is trained against; None: the unshifted predictor."""
    probe: Attack | None
    """What robust validity is measured against on held-out rows in every epoch, if it is."""


Beside = GeneratorTask | None
Told = History | None


class Trained(NamedTuple):
    """What training leaves behind."""

    networks: list[Predictor]
    """Those whose mean logits are the model's."""
    generator: RecourseGenerator | None = None
    """Where one was trained beside them."""
    sharpness: float = 1.0
    """What their logits were multiplied by after training, for the sake of probabilities."""
    held_out: tuple[np.ndarray, ...] = ()
    """Of each network the rows that it did not learn from, as indices, where that is known."""


class Trainer(Options):
    """How the model that decides is trained."""

    kinds: ClassVar[dict[str, type[Options]]] = {}
    trains_beside: ClassVar[bool] = False
    """Whether a generator is trained beside the model, if there is one."""

    encoder_widths: tuple[int, ...] = option(
        default=(100, 10),
        doc="Hidden widths of the predictor's encoder, the last one being z.",
        rule=widths(),
    )
    head_widths: tuple[int, ...] = option(
        default=(20,),
        doc="Hidden widths of the predictor's head, the last one being p.",
        rule=widths(),
    )
    dropout: float = option(
        default=0.3, doc="Share of hidden units dropped in training.", rule=share()
    )
    loss: Loss = option(
        default="mse",
        doc="The form of L1 (prediction), `mse` or `cross_entropy`.",
        rule=one_of(LOSSES),
    )
    learning_rate: float = option(default=0.003, doc="Adam's.", rule=number(above=0.0))
    batch_size: int = option(
        default=128, doc="Rows a step; fewer rows than this make one smaller batch.", rule=whole()
    )
    epochs: int = option(default=50, doc="The most epochs to run.", rule=whole())
    validation_fraction: float = option(
        default=0.1, doc="Share of the rows held out for stopping and the history.", rule=share()
    )
    patience: int | None = option(
        default=None,
        doc="Epochs without a better held-out objective before training stops and goes back to the "
        "best weights; None runs all epochs and keeps the last.",
        rule=maybe(whole()),
    )

    def train(
        self,
        data: TrainingRows,
        *,
        seed: int,
        beside: Beside = None,
        history: Told = None,
    ) -> Trained:
        """Trains a model.

        Args:
            data: Rows to learn from.
            seed: Decides starting weights, held-out rows, batches and copies.
            beside: A generator that may be trained beside the model; trainers that do not do so
                leave it, and it is trained afterwards.
            history: Told of each epoch.
        """
        return self._train(data, seed, beside, history)

    @abstractmethod
    def _train(self, data: TrainingRows, seed: int, beside: Beside, history: Told) -> Trained:
        """As `train`."""


class TrainingPlan(NamedTuple):
    """Which networks to train, and how.

    `moving` says which: both (CounterNet, RoCourseNet), the predictor alone (the base of the
    post-hoc methods), or a generator for a predictor that stays as it is (CF Model, VAE-CF).
    """

    moving: Moving
    trainer: Trainer
    generator: GeneratorTask | None = None
    prediction_weight: float = 1.0
