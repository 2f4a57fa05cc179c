"""The trainers: how the model that decides comes about."""

import math
from typing import ClassVar

import numpy as np

from rocourse.models._balance import balanced, class_scores
from rocourse.models._shift import Shift, shift_rows
from rocourse.models._temperature import sharpened, sharpness
from rocourse.models.training import (
    Beside,
    Moving,
    Told,
    Trained,
    Trainer,
    TrainingPlan,
    TrainingRows,
    train,
)
from rocourse.networks import Predictor
from rocourse.options import Span, instance, maybe, number, option, share, truth, whole
from rocourse.schema import Rows, one_hot


class PlainTrainer(Trainer, kind="plain"):
    """Trains one network on the rows as they are.

    Examples:
        >>> rocourse.ROAR(schema, trainer=PlainTrainer(epochs=20)).trainer.epochs
        20
    """

    def _train(self, data: TrainingRows, seed: int, beside: Beside, history: Told) -> Trained:
        """Trains the network; a generator comes afterwards."""
        plan = TrainingPlan("predictor", self)
        made = train(data, plan, seed=seed, history=history)
        return Trained([made.predictor], held_out=(made.held_out,))


class JointTrainer(Trainer, kind="joint"):
    """Trains one network with its generator beside it, in turns (the paper's Algorithm 2).

    The network's own steps know nothing of the generator: without one it is what a `PlainTrainer`
    makes of the same seed.

    Examples:
        >>> rocourse.CounterNet(schema).trainer == JointTrainer()
        True
    """

    trains_beside: ClassVar[bool] = True

    epochs: int = option(
        default=50, doc="The most epochs to run.", rule=whole(), tune=Span(20, 100, whole=True)
    )
    prediction_weight: float = option(
        default=1.0, doc="λ1, the weight of L1 (prediction).", rule=number(at_least=0.0)
    )

    def _train(self, data: TrainingRows, seed: int, beside: Beside, history: Told) -> Trained:
        """Trains the network, and the generator if there is one to be trained beside it."""
        moving: Moving = "predictor" if beside is None else "both"
        plan = TrainingPlan(moving, self, beside, self.prediction_weight)
        networks = train(data, plan, seed=seed, history=history)
        return Trained([networks.predictor], networks.generator, held_out=(networks.held_out,))


class SteadyTrainer(Trainer, kind="steady"):
    """Trains a model that changes little when it is trained anew on other rows.

    A promise is kept if the next model judges as this one did. Each network of a committee learns
    from blurred copies of its rows, so that it leans on no single value; the committee owes less
    to chance than one network does; and verdicts are balanced afterwards, so that a rare class is
    not forgotten.

    Examples:
        >>> rocourse.RoCourseNet(schema, trainer=SteadyTrainer(committee=3)).trainer.committee
        3
    """

    committee: int = option(
        default=3, doc="Networks whose mean logits are the model's.", rule=whole()
    )
    copies: int = option(
        default=2,
        doc="Blurred copies of the training rows that each network learns from; 0: the rows "
        "themselves.",
        rule=whole(at_least=0),
    )
    blur: Shift = option(
        default=Shift(noise=0.1, flip=0.2, tilt=0.0, label_tilt=0.0),
        doc="What is done to a copy.",
        rule=instance(Shift),
        tune={"flip": Span(0.0, 0.6)},
    )
    max_steps: int | None = option(
        default=None,
        doc="The most batches that each network learns from, of many rows fewer epochs than "
        "`epochs`; None: no limit. What is learned late from many rows is mostly chance.",
        rule=maybe(whole()),
    )
    balance: float = option(
        default=1.0,
        doc="0: verdicts as trained. Else the most accurate verdicts of those that give each class"
        " to at least this share of as many training rows as have it; 1: to as many as have "
        "it. Probabilities move with the verdicts.",
        rule=share(all_of_it=True),
    )

    tempered: bool = option(
        default=False,
        doc="Whether logits are divided by a temperature, so that probabilities are as sure as the "
        "rows allow that each network held out (`validation_fraction`; without copies). Verdicts "
        "stay as they are.",
        rule=truth(),
    )

    def _train(self, data: TrainingRows, seed: int, beside: Beside, history: Told) -> Trained:
        """Trains the committee; its history is the first network's.

        A single network without copies and balance is the one that a `PlainTrainer` arrives at.
        """
        rng = np.random.default_rng(seed)
        seeds = [seed, *rng.integers(2**31, size=self.committee - 1).tolist()]
        networks: list[Predictor] = []
        told_apart: list[tuple[np.ndarray, np.ndarray]] = []
        held_out: list[np.ndarray] = []
        for i, start in enumerate(seeds):
            shown = self._blurred(data, rng)
            plan = TrainingPlan("predictor", self._of_steps(len(shown.labels)))
            told = None if i else history
            trained = train(shown, plan, seed=start, history=told)
            networks.append(trained.predictor)
            # Of copies, one may be learned from while another is held out.
            held_out += [] if self.copies else [trained.held_out]
            if self.tempered:
                apart = one_hot(shown.rows.take(trained.held_out), data.schema.layout)
                scores = class_scores([trained.predictor], apart)
                told_apart.append((scores, shown.labels[trained.held_out]))
        factor = 1.0
        if self.tempered:
            scores = np.concatenate([part for part, _ in told_apart], axis=1)
            factor = sharpness(scores, np.concatenate([labels for _, labels in told_apart]))
            networks = sharpened(networks, factor)
        steadied = balanced(networks, data, self.balance)
        return Trained(steadied, sharpness=factor, held_out=tuple(held_out))

    def _of_steps(self, rows: int) -> "SteadyTrainer":
        """The same with as many epochs as the limit of steps allows, at least one."""
        if self.max_steps is None:
            return self
        batches = max(1, math.ceil(rows * (1.0 - self.validation_fraction) / self.batch_size))
        return self(epochs=max(1, min(self.epochs, self.max_steps // batches)))

    def _blurred(self, data: TrainingRows, rng: np.random.Generator) -> TrainingRows:
        if not self.copies:
            return data
        drawn = [shift_rows(data, self.blur, rng) for _ in range(self.copies)]
        return data._replace(
            rows=Rows.concatenate([copy.rows for copy in drawn]),
            labels=np.concatenate([copy.labels for copy in drawn]),
        )
