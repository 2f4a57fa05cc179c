"""ROAR: recourses against the worst change of a local linear surrogate's weights."""

import numpy as np

from rocourse.attack import NORMS, Norm
from rocourse.models import TrainingRows
from rocourse.options import Choices, Span, many, number, one_of, option, whole
from rocourse.recourse._proposer import Context, Fitting, Proposer, State
from rocourse.recourse.roar._lime import category_frequencies, draw_neighbourhood
from rocourse.recourse.roar._search import RoarSettings, roar_recourses
from rocourse.recourse.search import settings_of
from rocourse.schema import Rows


class ROARProposer(Proposer, kind="roar"):
    """Robust recourse on LIME surrogates (Upadhyay et al., 2021).

    Around each row a linear surrogate is fitted to the model's log-odds; the recourse must hold for
    all surrogates whose weights differ by at most `delta_max`. Only probabilities are asked of the
    model.

    Examples:
        >>> rocourse.ROAR(schema, proposer__delta_max=0.2).proposer == ROARProposer(delta_max=0.2)
        True
    """

    proximity_weights: tuple[float, ...] = option(
        default=(0.1, 0.03, 0.01),
        doc="λ, the weights of the distance to try. Of the recourses they lead to, the cheapest "
        "that the model calls valid is taken, so that lower weights only help out.",
        rule=many(number(at_least=0.0), "numbers of at least 0"),
        # The first weight decides; the others help out where it leads to nothing valid.
        tune=Choices(
            ((1.0, 0.3, 0.1, 0.03), (0.3, 0.1, 0.03), (0.1, 0.03, 0.01), (0.03, 0.01), (0.01,))
        ),
    )
    delta_max: float = option(
        default=0.1,
        doc="How far the adversary may move the surrogate's weights and intercept.",
        rule=number(at_least=0.0),
        tune=Span(0.01, 0.3, log=True),
    )
    norm: Norm = option(
        default="linf",
        doc="Whether that bounds each of them, `linf`, or their length, `l2`.",
        rule=one_of(NORMS),
    )
    neighbours: int = option(
        default=1000, doc="Points that a surrogate is fitted to.", rule=whole()
    )
    spread: float = option(
        default=0.1, doc="Standard deviation of their continuous values.", rule=number(above=0.0)
    )
    alpha: float = option(
        default=1.0, doc="Ridge penalty of the surrogate.", rule=number(above=0.0)
    )
    steps: int = option(default=1000, doc="The most steps of the search.", rule=whole())
    tolerance: float = option(
        default=1e-4,
        doc="The search ends when a step changes its loss by no more than this.",
        rule=number(at_least=0.0),
    )

    def fit(self, context: Context, data: TrainingRows, fitting: Fitting) -> State:
        """How frequent each category is: neighbours' categories are drawn accordingly."""
        return {"frequencies": category_frequencies(data.rows, data.schema.layout)}

    def propose(self, state: State, context: Context, rows: Rows, target: np.ndarray) -> Rows:
        """A change for each row that is to give it its target class."""
        neighbourhood = draw_neighbourhood(
            state["frequencies"], context.schema.layout, count=self.neighbours, seed=context.seed
        )
        settings = settings_of(RoarSettings, self)
        settings = settings._replace(proximity_weights=tuple(map(float, self.proximity_weights)))
        return roar_recourses(context.model, rows, target, context.space, neighbourhood, settings)
