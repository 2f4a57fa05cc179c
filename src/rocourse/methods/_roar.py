"""ROAR: recourses against the worst change of a local linear surrogate's weights."""

from typing import ClassVar

import numpy as np

from rocourse.attack import NORMS, Norm
from rocourse.methods._config import require_count, require_number, require_one_of, wrong
from rocourse.methods._parameters import estimator, param
from rocourse.methods._search_estimator import SearchMethod
from rocourse.methods.search import (
    RoarSettings,
    Space,
    category_frequencies,
    draw_neighbourhood,
    roar_recourses,
)
from rocourse.schema import Rows


@estimator
class ROAR(SearchMethod):
    """Robust recourse on LIME surrogates (Upadhyay et al., 2021).

    Around each row a linear surrogate is fitted to the model's log-odds; the recourse must hold for
    all surrogates whose weights differ by at most `delta_max`. Only probabilities are asked of the
    model.
    """

    method: ClassVar[str] = "roar"

    proximity_weights: tuple[float, ...] = param(
        default=(0.1, 0.03, 0.01),
        doc="λ, the weights of the distance to try. Of the recourses they lead to, the cheapest "
        "that the model calls valid is taken, so that lower weights only help out.",
    )
    delta_max: float = param(
        default=0.1, doc="How far the adversary may move the surrogate's weights and intercept."
    )
    norm: Norm = param(
        default="linf", doc="Whether that bounds each of them, `linf`, or their length, `l2`."
    )
    neighbours: int = param(default=1000, doc="Points that a surrogate is fitted to.")
    spread: float = param(default=0.1, doc="Standard deviation of their continuous values.")
    alpha: float = param(default=1.0, doc="Ridge penalty of the surrogate.")
    search_steps: int = param(default=1000, doc="The most steps of the search.")
    tolerance: float = param(
        default=1e-4, doc="The search ends when a step changes its loss by no more than this."
    )

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        super().check_parameters()
        if not isinstance(self.proximity_weights, tuple) or not self.proximity_weights:
            raise wrong(
                "proximity_weights",
                "a non-empty tuple of numbers of at least 0",
                self.proximity_weights,
            )
        for price in self.proximity_weights:
            require_number("proximity_weights", price, at_least=0.0)
        require_number("delta_max", self.delta_max, at_least=0.0)
        require_one_of("norm", self.norm, NORMS)
        require_count("neighbours", self.neighbours)
        require_number("spread", self.spread, above=0.0)
        require_number("alpha", self.alpha, above=0.0)
        require_count("search_steps", self.search_steps)
        require_number("tolerance", self.tolerance, at_least=0.0)

    def learn(self, rows: Rows, labels: np.ndarray) -> dict[str, np.ndarray]:
        """How frequent each category is: neighbours' categories are drawn accordingly."""
        return {"frequencies": category_frequencies(rows, self.schema_.layout)}

    def search(self, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""
        neighbourhood = draw_neighbourhood(
            self.learned_["frequencies"],
            self.schema_.layout,
            count=self.neighbours,
            seed=self.seed_,
        )
        settings = RoarSettings(
            prices=tuple(map(float, self.proximity_weights)),
            delta_max=float(self.delta_max),
            norm=self.norm,
            max_steps=self.search_steps,
            tolerance=float(self.tolerance),
            spread=float(self.spread),
            alpha=float(self.alpha),
        )
        return roar_recourses(
            self.judge_, rows, target, Space.from_schema(self.schema_), neighbourhood, settings
        )
