"""Any classifier as a function of encoded rows.

`adapt` takes a scikit-learn estimator or pipeline, an XGBoost or LightGBM model, a PyTorch module
or a plain function. The optional frameworks are imported only when an object of theirs is passed.
"""

from rocourse.models.adapters._adapt import adapt
from rocourse.models.adapters._adapted import AdaptedModel
from rocourse.models.adapters._answers import OUTPUTS, Outputs
from rocourse.models.adapters._quick import tree_votes
from rocourse.models.adapters._stored import (
    StoredModel,
    model_from_state,
    model_name,
    model_to_state,
    require_same_model,
)
from rocourse.models.adapters._views import INPUTS, Inputs

__all__ = [
    "INPUTS",
    "OUTPUTS",
    "AdaptedModel",
    "Inputs",
    "Outputs",
    "StoredModel",
    "adapt",
    "model_from_state",
    "model_name",
    "model_to_state",
    "require_same_model",
    "tree_votes",
]
