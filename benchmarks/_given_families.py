"""Models that a lender may have, made alike in any environment: nothing here is of rocourse."""

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from xgboost import XGBClassifier

# One environment may have more cores for it than another.
_TREES = {"n_estimators": 200, "random_state": 0, "n_jobs": 1}
_NETWORK = {"hidden_layer_sizes": (20,), "alpha": 0.1, "max_iter": 100, "random_state": 0}


def families(groups: Sequence[str], numbers: Sequence[str]) -> dict[str, Callable[[], Any]]:
    """How models of each family are made, of labels 0 and 1.

    Args:
        groups: The columns of categories.
        numbers: Those of numbers.
    """
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = OneHotEncoder(handle_unknown="ignore", sparse_output=False)

    def prepared(encoder: Any, model: Any) -> Any:
        steps = make_column_transformer((encoder, [*groups]), (StandardScaler(), [*numbers]))
        return make_pipeline(steps, model)

    return {
        "xgboost": lambda: prepared(columns, XGBClassifier(**_TREES)),
        "boosting": lambda: prepared(codes, HistGradientBoostingClassifier(random_state=0)),
        "forest": lambda: prepared(codes, RandomForestClassifier(**_TREES, min_samples_leaf=3)),
        "logistic": lambda: prepared(columns, LogisticRegression(max_iter=2000)),
        "network": lambda: prepared(columns, MLPClassifier(**_NETWORK)),
    }
