"""Jurors: models of several families, each trained on rows as they may look next time.

They are many and small: what they say together is how sure a verdict is, whatever kind of model
is trained next.
"""

from rocourse.models.jurors._jurors import (
    Jurors,
    Lines,
    family_leads,
    lead,
    refit_shifted,
    train_alike,
    train_jurors,
)
from rocourse.models.jurors._networks import Networks, scores_of_hidden
from rocourse.models.jurors._trees import (
    FlatTrees,
    Trees,
    flat_trees,
    leaf_logits,
    leaves_left,
    possible_leaves,
    tree_scores,
)

__all__ = [
    "FlatTrees",
    "Jurors",
    "Lines",
    "Networks",
    "Trees",
    "family_leads",
    "flat_trees",
    "lead",
    "leaf_logits",
    "leaves_left",
    "possible_leaves",
    "refit_shifted",
    "scores_of_hidden",
    "train_alike",
    "train_jurors",
    "tree_scores",
]
