"""Ensembles of trees as arrays: read from the libraries' models, evaluated by compiled code.

`read_trees` takes a fitted model of XGBoost, LightGBM, CatBoost or scikit-learn, `TreeEvaluator`
answers as the model does, for rows and for many changes of one feature of a row, and
`split_points` tells which values make a difference.
"""

from typing import TYPE_CHECKING

from rocourse._lazy import lazy_names
from rocourse.models.trees._ensemble import Missing, TreeEnsemble
from rocourse.models.trees._read import has_trees, read_trees
from rocourse.models.trees._split_points import split_points

if TYPE_CHECKING:
    from rocourse.models.trees._evaluator import TreeEdits, TreeEvaluator

__all__ = [
    "Missing",
    "TreeEdits",
    "TreeEnsemble",
    "TreeEvaluator",
    "has_trees",
    "read_trees",
    "split_points",
]

# Trees can be read without Numba, which takes half a second to import and is an extra.
__getattr__ = lazy_names(__name__, {"TreeEdits": "_evaluator", "TreeEvaluator": "_evaluator"})
