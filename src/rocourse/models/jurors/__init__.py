"""Jurors: models of several families, each trained on rows as they may look next time.

They are many and small: what they say together is how sure a verdict is, whatever kind of model
is trained next.
"""

from rocourse.models.jurors._jurors import (
    Jurors,
    Lines,
    family_leads,
    lead,
    train_alike,
    train_jurors,
)
from rocourse.models.jurors._networks import Networks, scores_of_hidden
from rocourse.models.jurors._trees import Trees, tree_scores

__all__ = [
    "Jurors",
    "Lines",
    "Networks",
    "Trees",
    "family_leads",
    "lead",
    "scores_of_hidden",
    "train_alike",
    "train_jurors",
    "tree_scores",
]
