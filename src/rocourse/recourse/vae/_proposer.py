"""VAE-CF: a conditional variational auto-encoder, trained after the model."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import numpy as np
from jax import Array

from rocourse.attack import Attack
from rocourse.models import TrainingRows
from rocourse.models.training import (
    PROXIMITY_LOSSES,
    VALIDITY_LOSSES,
    GeneratorTask,
    Objective,
    ProximityLoss,
    ValidityLoss,
)
from rocourse.networks import (
    GENERATORS,
    GeneratorKind,
    GeneratorShape,
    VAEGenerator,
    random_count,
)
from rocourse.options import (
    Choices,
    Span,
    instance,
    maybe,
    number,
    one_of,
    option,
    whole,
    widths,
)
from rocourse.recourse._proposer import Context, Fitting, Proposer, State
from rocourse.recourse.generator._propose import (
    network_of,
    propose_rows,
    train_generator,
    untrained_generator,
)
from rocourse.schema import Rows


class VAEProposer(Proposer, kind="vae"):
    """Recourses from a variational auto-encoder (Mahajan et al., 2019).

    Reconstruction, Kullback-Leibler divergence and validity; codes are drawn until the prediction
    flips.

    Examples:
        >>> VAEProposer(latent=4).latent
        4
    """

    needs_network: ClassVar[bool] = True
    takes_attack: ClassVar[bool] = True

    network: GeneratorKind = option(
        default="rebuild",
        doc="`rebuild` decodes each feature anew, `edit` decodes a change of the row.",
        rule=one_of(GENERATORS),
    )
    widths: tuple[int, ...] = option(
        default=(20, 16, 14, 12),
        doc="Hidden widths of the encoder; the decoder has them in reverse.",
        rule=widths(),
    )
    latent: int = option(default=10, doc="Dimensions of the code.", rule=whole())
    kl_weight: float = option(
        default=1.0,
        doc="Weight of the divergence of the codes from N(0, 1).",
        rule=number(at_least=0.0),
        # A few values: each is compiled anew.
        tune=Choices((0.1, 0.3, 1.0)),
    )
    draws: int = option(
        default=20,
        doc="How many codes to try for a row, the mean first, until the prediction flips.",
        rule=whole(),
    )
    validity_loss: ValidityLoss = option(
        default="cross_entropy",
        doc="The form of L2. `hinge` (a lead of 0.165 in probability) is the published one; it has"
        " no slope where the predictor is sure, which under attack it soon is.",
        rule=one_of(VALIDITY_LOSSES),
    )
    proximity_loss: ProximityLoss = option(
        default="l1_sum",
        doc="The form of L3, `l1_sum`, `l1` or `mse`.",
        rule=one_of(PROXIMITY_LOSSES),
    )
    # Three terms: the reconstruction keeps its weight when the others are tuned.
    validity_weight: float = option(
        default=42.0,
        doc="λ2, the weight of L2.",
        rule=number(at_least=0.0),
        tune=Span(5.0, 100.0, log=True),
    )
    proximity_weight: float = option(
        default=1.0, doc="λ3, the weight of L3 (reconstruction).", rule=number(at_least=0.0)
    )
    epochs: int = option(
        default=50,
        doc="The most epochs to train it for.",
        rule=whole(),
        tune=Span(20, 100, whole=True),
    )
    learning_rate: float | None = option(
        default=None, doc="Adam's; None takes the trainer's.", rule=maybe(number(above=0.0))
    )
    measured_attack: Attack | None = option(
        default=None,
        doc="An attack on held-out rows in every epoch, for the history's robust validity; None "
        "takes the one that is trained against, if there is one.",
        rule=maybe(instance(Attack)),
    )

    def fit(self, context: Context, data: TrainingRows, fitting: Fitting) -> State:
        """Trains the network for a model that is there already."""
        objective = Objective(
            self.validity_loss, self.proximity_loss, self.validity_weight, self.proximity_weight
        )
        probe = self.measured_attack or fitting.attack
        task = GeneratorTask(self._builder(), objective, fitting.attack, probe)
        return train_generator(
            context, data, fitting, task, epochs=self.epochs, learning_rate=self.learning_rate
        )

    def propose(self, state: State, context: Context, rows: Rows, target: np.ndarray) -> Rows:
        """The mean code's recourse, or that of the first draw that the model calls valid."""

        def proposed(rows: Rows, target: np.ndarray, random: Array | None = None) -> Rows:
            return propose_rows(
                network_of(context), state, rows, target, context.constraints, random
            )

        def judged(attempts: Rows, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """The probability of each row's target, and whether it is the predicted class."""
            shares = context.predict(attempts)
            return shares[np.arange(len(target)), target], context.verdicts(shares) == target

        first = proposed(rows, target)
        continuous, categories = first.continuous.copy(), first.categories.copy()
        likely, reached = judged(first, target)
        for key in jax.random.split(jax.random.key(context.seed), self.draws - 1):
            (missing,) = np.nonzero(~reached)
            if not len(missing):
                break
            random = jax.random.uniform(key, (random_count(state),))
            drawn = proposed(rows[missing], target[missing], random)
            share, there = judged(drawn, target[missing])
            # What comes nearest is kept for rows that no draw brings over.
            better = share > likely[missing]
            chosen = missing[better]
            continuous[chosen] = drawn.continuous[better]
            categories[chosen] = drawn.categories[better]
            likely[chosen], reached[chosen] = share[better], there[better]
        return Rows(continuous, categories)

    def skeleton(self, context: Context) -> State:
        """A network of the same shapes."""
        return untrained_generator(context, self._builder())

    def _builder(self) -> "_Builder":
        return _Builder(self.widths, self.latent, self.network, self.kl_weight)


@dataclass(frozen=True)
class _Builder:
    """Builds the auto-encoder; equal ones share compiled code."""

    widths: tuple[int, ...]
    latent: int
    kind: GeneratorKind
    kl_weight: float

    def __call__(self, shape: GeneratorShape, *, key: Array) -> VAEGenerator:
        return VAEGenerator(
            shape,
            widths=self.widths,
            latent=self.latent,
            kind=self.kind,
            kl_weight=self.kl_weight,
            key=key,
        )
