"""RBR: recourses against the worst Gaussians around samples near the boundary."""

import numpy as np

from rocourse.models import TrainingRows
from rocourse.options import Span, number, option, truth, whole
from rocourse.recourse._proposer import Context, Fitting, Proposer, State
from rocourse.recourse.rbr._recourses import rbr_recourses
from rocourse.recourse.rbr._reference import Reference, learn_reference
from rocourse.recourse.rbr._search import RbrSettings
from rocourse.recourse.search import settings_of
from rocourse.schema import Rows


class RBRProposer(Proposer, kind="rbr"):
    """Robust Bayesian recourse (Nguyen et al., 2022).

    From the nearest boundary point towards training rows of the desired class, the recourse moves
    to where the odds of the favourable samples are best under the worst Gaussians. Only
    probabilities are asked of the model. Training rows are kept in the fitted model.

    Examples:
        >>> rocourse.RBR(schema, proposer__samples=50).proposer == RBRProposer(samples=50)
        True
    """

    neighbours: int = option(
        default=1000,
        doc="Training rows of the desired class that the boundary is sought towards.",
        rule=whole(),
    )
    samples: int = option(default=200, doc="Points drawn around the boundary point.", rule=whole())
    radius: float = option(
        default=0.2,
        doc="Radius of their ball, as a share of the training rows' diameter.",
        rule=number(above=0.0),
        tune=Span(0.05, 0.5, log=True),
    )
    delta_plus: float = option(
        default=0.2,
        doc="δ₊, how much farther than the boundary point the recourse may be, in L1.",
        rule=number(at_least=0.0),
        tune=Span(0.0, 1.0),
    )
    sigma: float = option(
        default=1.0, doc="σ, the standard deviation of the Gaussians.", rule=number(above=0.0)
    )
    epsilon_op: float = option(
        default=0.1,
        doc="How far the adversary may move an unfavourable sample's Gaussian.",
        rule=number(at_least=0.0),
        tune=Span(0.0, 1.0),
    )
    epsilon_pe: float = option(
        default=0.1,
        doc="How far the adversary may move a favourable sample's Gaussian.",
        rule=number(at_least=0.0),
        tune=Span(0.0, 1.0),
    )
    # Enough to come lower than 500 steps of constant length; see `descend`.
    steps: int = option(default=100, doc="The most steps of the search.", rule=whole())
    repair: bool = option(
        default=True,
        doc="Whether to walk on towards the training row when whole categories undo the recourse; "
        "the published method does not.",
        rule=truth(),
    )
    reference_rows: int = option(
        default=10_000,
        doc="The most training rows to keep; of more, so many are drawn.",
        rule=whole(),
    )

    def fit(self, context: Context, data: TrainingRows, fitting: Fitting) -> State:
        """Training rows to walk to, what the model says of them, and how far apart they are."""
        reference = learn_reference(
            context.model,
            data.rows,
            data.schema.layout,
            most=self.reference_rows,
            seed=context.seed,
        )
        return {name: np.asarray(array) for name, array in reference._asdict().items()}

    def propose(self, state: State, context: Context, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""
        return rbr_recourses(
            context.model,
            rows,
            target,
            context.space,
            Reference(**state),
            settings_of(RbrSettings, self),
            seed=context.seed,
        )
