"""VAE-CF: a conditional variational auto-encoder trained post hoc, with or without an attacker."""

from typing import ClassVar

import jax
import numpy as np

from rocourse.methods._builders import VariationalAutoEncoder
from rocourse.methods._config import ProximityLoss, ValidityLoss, require_count
from rocourse.methods._generator_method import PostHocGeneratorMethod, RobustTraining
from rocourse.methods._inference import propose_rows
from rocourse.methods._parameters import estimator, param
from rocourse.networks import GeneratorBuilder, GeneratorKind, random_count
from rocourse.schema import Rows


@estimator
class VAECFMethod(PostHocGeneratorMethod):
    """Abstract base: reconstruction, Kullback-Leibler divergence and a hinge on validity."""

    generator: GeneratorKind = param(
        default="rebuild",
        doc="`rebuild` decodes each feature anew, `edit` decodes a change of the row.",
    )
    generator_widths: tuple[int, ...] = param(
        default=(20, 16, 14, 12),
        doc="Hidden widths of the encoder; the decoder has them in reverse.",
    )
    latent: int = param(default=10, doc="Dimensions of the code.")
    kl_weight: float = param(default=1.0, doc="Weight of the divergence of the codes from N(0, 1).")
    draws: int = param(
        default=20,
        doc="How many codes to try for a row, the mean first, until the prediction flips.",
    )
    validity_loss: ValidityLoss = param(
        default="cross_entropy",
        doc="The form of L2. `hinge` (a lead of 0.165 in probability) is the published one; it has "
        "no slope where the predictor is sure, which under attack it soon is.",
    )
    proximity_loss: ProximityLoss = param(
        default="l1_sum", doc="The form of L3, `l1_sum`, `l1` or `mse`."
    )
    lambda_2: float = param(default=42.0, doc="Weight of L2 (validity).")
    lambda_3: float = param(default=1.0, doc="Weight of L3 (reconstruction).")

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        super().check_parameters()
        require_count("draws", self.draws)

    def generator_builder(self) -> GeneratorBuilder:
        """What makes the untrained generator; hashable, equal for equal parameters."""
        return VariationalAutoEncoder(
            widths=self.generator_widths,
            latent=self.latent,
            kind=self.generator,
            kl_weight=self.kl_weight,
        )

    def _propose(self, rows: Rows, target: np.ndarray) -> Rows:
        proposed = super()._propose(rows, target)
        continuous, categories = proposed.continuous.copy(), proposed.categories.copy()
        likely, reached = self._judged(proposed, target)
        for key in jax.random.split(jax.random.key(self.seed_), self.draws - 1):
            (missing,) = np.nonzero(~reached)
            if not len(missing):
                break
            random = jax.random.uniform(key, (random_count(self.generator_),))
            drawn = propose_rows(
                self._own_predictor(),
                self.generator_,
                rows[missing],
                target[missing],
                self._constraints,
                random,
            )
            share, there = self._judged(drawn, target[missing])
            # What comes nearest is kept for rows that no draw brings over.
            better = share > likely[missing]
            chosen = missing[better]
            continuous[chosen] = drawn.continuous[better]
            categories[chosen] = drawn.categories[better]
            likely[chosen], reached[chosen] = share[better], there[better]
        return Rows(continuous, categories)

    def _judged(self, proposed: Rows, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The probability of each row's target, and whether it is the predicted class."""
        shares = self._probabilities(proposed)
        return shares[np.arange(len(target)), target], np.argmax(shares, axis=1) == target


@estimator
class VAECF(VAECFMethod):
    """Recourses from a variational auto-encoder for a trained predictor (Mahajan et al., 2019)."""

    method: ClassVar[str] = "vae-cf"


@estimator
class RobustVAECF(VAECFMethod, RobustTraining):
    """VAE-CF trained against the worst-case data shift (the paper's Robust VAE-CF)."""

    method: ClassVar[str] = "robust-vae-cf"
