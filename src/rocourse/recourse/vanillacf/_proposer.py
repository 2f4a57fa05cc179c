"""VanillaCF: gradient descent on validity and distance, with or without a random start's shift."""

import numpy as np

from rocourse.models import TrainingRows
from rocourse.options import Span, number, one_of, option, whole
from rocourse.recourse._proposer import Context, Fitting, Proposer, State
from rocourse.recourse.search import settings_of
from rocourse.recourse.vanillacf._search import (
    DISTANCES,
    SEARCH_LOSSES,
    SEARCH_OPTIMIZERS,
    Distance,
    SearchLoss,
    SearchOptimizer,
    VanillaSettings,
    vanilla_recourses,
)
from rocourse.schema import Rows


class VanillaCFProposer(Proposer, kind="vanillacf"):
    """Searches each recourse by gradient descent (Wachter et al., 2017).

    The model's gradients are used where it has any; the probabilities of other models are probed
    column by column. Of the points on the way that have the margin, the cheapest is kept.

    Examples:
        >>> VanillaCFProposer(jitter=0.1) == rocourse.VanillaCFRandom(schema).proposer
        True
    """

    proximity_weight: float = option(
        default=0.1,
        doc="λ, the weight of the distance.",
        rule=number(at_least=0.0),
        tune=Span(0.01, 1.0, log=True),
    )
    loss: SearchLoss = option(
        default="hinge",
        doc="What is minimised, of the probability p of the desired class: `mse` (1 − p)², "
        "`cross_entropy` −log p, or `hinge` max(0, margin − logit p).",
        rule=one_of(SEARCH_LOSSES),
    )
    margin: float = option(
        default=0.5,
        doc="The log-odds that a recourse should have. The cheapest point on the way that has them"
        " is kept; without such a point, the one with the highest odds.",
        rule=number(at_least=0.0),
        # Without a margin the search stops at the boundary, where any retrained model may disagree.
        tune=Span(0.1, 5.0, log=True),
    )
    distance: Distance = option(
        default="l1", doc="`l1`, or `l2` for the squared Euclidean one.", rule=one_of(DISTANCES)
    )
    optimizer: SearchOptimizer = option(
        default="adam", doc="`adam` or `rmsprop`.", rule=one_of(SEARCH_OPTIMIZERS)
    )
    learning_rate: float = option(
        default=0.1,
        doc="The optimiser's, in the search.",
        rule=number(above=0.0),
        tune=Span(0.01, 0.3, log=True),
    )
    steps: int = option(default=100, doc="Steps of the search.", rule=whole())
    jitter: float = option(
        default=0.0,
        doc="How far at most each encoded column of a row is moved at random before the search: "
        "the paper's robust heuristic.",
        rule=number(at_least=0.0),
        tune=Span(0.02, 0.3, log=True),
    )

    def fit(self, context: Context, data: TrainingRows, fitting: Fitting) -> State:
        """Nothing: the search asks the model alone."""
        return {}

    def propose(self, state: State, context: Context, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""
        settings = settings_of(VanillaSettings, self)
        return vanilla_recourses(
            context.model, rows, target, context.space, settings, seed=context.seed
        )
