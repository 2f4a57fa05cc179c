"""VanillaCF: gradient descent on validity and distance, with or without a random start's shift."""

from typing import ClassVar

import numpy as np

from rocourse.methods._config import require_count, require_number, require_one_of
from rocourse.methods._parameters import estimator, param
from rocourse.methods._search_estimator import SearchMethod
from rocourse.methods.search import (
    DISTANCES,
    SEARCH_LOSSES,
    SEARCH_OPTIMIZERS,
    Distance,
    SearchLoss,
    SearchOptimizer,
    Space,
    VanillaSettings,
    vanilla_recourses,
)
from rocourse.schema import Rows


@estimator
class VanillaCFMethod(SearchMethod):
    """Abstract base: the search that both variants share."""

    proximity_weight: float = param(default=0.1, doc="λ, the weight of the distance.")
    search_loss: SearchLoss = param(
        default="hinge",
        doc="What is minimised, of the probability p of the desired class: `mse` (1 − p)², "
        "`cross_entropy` −log p, or `hinge` max(0, margin − logit p).",
    )
    margin: float = param(
        default=0.5,
        doc="The log-odds that a recourse should have. The cheapest point on the way that has them "
        "is kept; without such a point, the one with the highest odds.",
    )
    distance: Distance = param(default="l1", doc="`l1`, or `l2` for the squared Euclidean one.")
    search_optimizer: SearchOptimizer = param(default="adam", doc="`adam` or `rmsprop`.")
    search_rate: float = param(default=0.1, doc="The optimiser's learning rate in the search.")
    search_steps: int = param(default=100, doc="Steps of the search.")

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        super().check_parameters()
        require_number("proximity_weight", self.proximity_weight, at_least=0.0)
        require_one_of("search_loss", self.search_loss, SEARCH_LOSSES)
        require_number("margin", self.margin, at_least=0.0)
        require_one_of("distance", self.distance, DISTANCES)
        require_one_of("search_optimizer", self.search_optimizer, SEARCH_OPTIMIZERS)
        require_number("search_rate", self.search_rate, above=0.0)
        require_count("search_steps", self.search_steps)

    def learn(self, rows: Rows, labels: np.ndarray) -> dict[str, np.ndarray]:
        """Nothing: the search asks the model alone."""
        return {}

    def search(self, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""
        return vanilla_recourses(
            self.judge_,
            rows,
            target,
            Space.from_schema(self.schema_),
            self._settings(),
            seed=self.seed_,
        )

    def _settings(self) -> VanillaSettings:
        return VanillaSettings(
            price=float(self.proximity_weight),
            loss=self.search_loss,
            distance=self.distance,
            margin=float(self.margin),
            optimizer=self.search_optimizer,
            rate=float(self.search_rate),
            steps=self.search_steps,
        )


@estimator
class VanillaCF(VanillaCFMethod):
    """Searches each recourse by gradient descent (Wachter et al., 2017).

    The model's gradients are used where it has any; the probabilities of other models are probed
    column by column. Of the points on the way that have the margin, the cheapest is kept.
    """

    method: ClassVar[str] = "vanillacf"


@estimator
class VanillaCFRandom(VanillaCFMethod):
    """VanillaCF for a row that was first moved at random: the paper's robust heuristic."""

    method: ClassVar[str] = "vanillacf-random"

    epsilon: float = param(
        default=0.1, doc="How far at most each encoded column is moved before the search."
    )

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        super().check_parameters()
        require_number("epsilon", self.epsilon, at_least=0.0)

    def _settings(self) -> VanillaSettings:
        return super()._settings()._replace(jitter=float(self.epsilon))
