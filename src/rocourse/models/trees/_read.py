"""From a fitted model of any of the libraries to its trees."""

from collections.abc import Mapping, Sequence
from typing import Any

from rocourse.errors import ConfigError
from rocourse.models._frameworks import is_from
from rocourse.models.trees._catboost import read_catboost
from rocourse.models.trees._ensemble import TreeEnsemble
from rocourse.models.trees._lightgbm import read_lightgbm
from rocourse.models.trees._sklearn import (
    read_forest,
    read_gradient_boosting,
    read_hist_gradient_boosting,
)
from rocourse.models.trees._xgboost import read_xgboost

_READERS = {
    ("xgboost", "XGBClassifier"): read_xgboost,
    ("xgboost", "Booster"): read_xgboost,
    ("lightgbm", "LGBMClassifier"): read_lightgbm,
    ("lightgbm", "Booster"): read_lightgbm,
    ("sklearn", "DecisionTreeClassifier"): read_forest,
    ("sklearn", "ForestClassifier"): read_forest,
    ("sklearn", "GradientBoostingClassifier"): read_gradient_boosting,
    ("sklearn", "HistGradientBoostingClassifier"): read_hist_gradient_boosting,
}


def has_trees(model: object) -> bool:
    """Whether `read_trees` knows models of this kind; it may still refuse this one."""
    return any(is_from(model, *kind) for kind in [*_READERS, ("catboost", "CatBoostClassifier")])


def read_trees(
    model: Any, *, categories: Mapping[str, Sequence[Any]] | None = None
) -> TreeEnsemble:
    """The trees of a fitted classifier.

    Args:
        model: An `XGBClassifier`, `LGBMClassifier`, `CatBoostClassifier`, a `Booster` of XGBoost or
            LightGBM, or a tree, forest or boosted trees of scikit-learn.
        categories: The categories of CatBoost's categorical columns by name, in the order of the
            codes that rows shall have; the other libraries know theirs.

    Raises:
        ConfigError: The model is of another kind, or has what trees alone cannot say.
    """
    name = f"The model {type(model).__name__}"
    for (framework, kind), read in _READERS.items():
        if is_from(model, framework, kind):
            return read(model, name)
    if is_from(model, "catboost", "CatBoostClassifier"):
        return read_catboost(model, name, categories)
    raise ConfigError(
        f"{name} must be a classifier made of trees by XGBoost, LightGBM, CatBoost or "
        "scikit-learn, but it is none that can be read; pass it to adapt."
    )
