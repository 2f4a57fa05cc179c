"""Searches for recourse against any classifier, compiled where its network is known."""

from rocourse.methods.search._edits import Edits, Panel, panel_recourses
from rocourse.methods.search._feasible import Space
from rocourse.methods.search._lime import (
    Neighbourhood,
    category_frequencies,
    draw_neighbourhood,
)
from rocourse.methods.search._model import BatchModel, NetworkModel
from rocourse.methods.search._rbr import rbr_recourses
from rocourse.methods.search._rbr_reference import Reference, learn_reference
from rocourse.methods.search._rbr_search import RbrSettings
from rocourse.methods.search._roar import RoarSettings, roar_recourses
from rocourse.methods.search._vanilla import (
    DISTANCES,
    SEARCH_LOSSES,
    SEARCH_OPTIMIZERS,
    Distance,
    SearchLoss,
    SearchOptimizer,
    VanillaSettings,
    vanilla_recourses,
)

__all__ = [
    "DISTANCES",
    "SEARCH_LOSSES",
    "SEARCH_OPTIMIZERS",
    "BatchModel",
    "Distance",
    "Edits",
    "Neighbourhood",
    "NetworkModel",
    "Panel",
    "RbrSettings",
    "Reference",
    "RoarSettings",
    "SearchLoss",
    "SearchOptimizer",
    "Space",
    "VanillaSettings",
    "category_frequencies",
    "draw_neighbourhood",
    "learn_reference",
    "panel_recourses",
    "rbr_recourses",
    "roar_recourses",
    "vanilla_recourses",
]
