"""RBR: recourses against the worst Gaussians around samples near the boundary."""

from typing import ClassVar

import numpy as np

from rocourse.methods._config import require_count, require_number, wrong
from rocourse.methods._parameters import estimator, param
from rocourse.methods._search_estimator import SearchMethod
from rocourse.methods.search import (
    RbrSettings,
    Reference,
    Space,
    learn_reference,
    rbr_recourses,
)
from rocourse.schema import Rows


@estimator
class RBR(SearchMethod):
    """Robust Bayesian recourse (Nguyen et al., 2022).

    From the nearest boundary point towards training rows of the desired class, the recourse moves
    to where the odds of the favourable samples are best under the worst Gaussians. Only
    probabilities are asked of the model. Training rows are kept in the fitted model.
    """

    method: ClassVar[str] = "rbr"

    neighbours: int = param(
        default=1000, doc="Training rows of the desired class that the boundary is sought towards."
    )
    samples: int = param(default=200, doc="Points drawn around the boundary point.")
    radius: float = param(
        default=0.2, doc="Radius of their ball, as a share of the training rows' diameter."
    )
    delta_plus: float = param(
        default=0.2, doc="δ₊, how much farther than the boundary point the recourse may be, in L1."
    )
    sigma: float = param(default=1.0, doc="σ, the standard deviation of the Gaussians.")
    epsilon_op: float = param(
        default=0.1, doc="How far the adversary may move an unfavourable sample's Gaussian."
    )
    epsilon_pe: float = param(
        default=0.1, doc="How far the adversary may move a favourable sample's Gaussian."
    )
    search_steps: int = param(default=100, doc="The most steps of the search.")
    repair: bool = param(
        default=True,
        doc="Whether to walk on towards the training row when whole categories undo the recourse; "
        "the published method does not.",
    )
    reference_rows: int = param(
        default=10_000, doc="The most training rows to keep; of more, so many are drawn."
    )

    def check_parameters(self) -> None:
        """Refuses impossible parameters; done first in `fit`."""
        super().check_parameters()
        for name in ("neighbours", "samples", "search_steps", "reference_rows"):
            require_count(name, getattr(self, name))
        for name in ("delta_plus", "epsilon_op", "epsilon_pe"):
            require_number(name, getattr(self, name), at_least=0.0)
        require_number("radius", self.radius, above=0.0)
        require_number("sigma", self.sigma, above=0.0)
        if not isinstance(self.repair, bool):
            raise wrong("repair", "True or False", self.repair)

    def learn(self, rows: Rows, labels: np.ndarray) -> dict[str, np.ndarray]:
        """Training rows to walk to, what the model says of them, and how far apart they are."""
        reference = learn_reference(
            self.judge_, rows, self.schema_.layout, most=self.reference_rows, seed=self.seed_
        )
        return {name: np.asarray(array) for name, array in reference._asdict().items()}

    def search(self, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""
        settings = RbrSettings(
            neighbours=self.neighbours,
            samples=self.samples,
            radius=float(self.radius),
            slack=float(self.delta_plus),
            sigma=float(self.sigma),
            epsilon_op=float(self.epsilon_op),
            epsilon_pe=float(self.epsilon_pe),
            max_steps=self.search_steps,
            repair=self.repair,
        )
        return rbr_recourses(
            self.judge_,
            rows,
            target,
            Space.from_schema(self.schema_),
            Reference(**self.learned_),
            settings,
            seed=self.seed_,
        )
