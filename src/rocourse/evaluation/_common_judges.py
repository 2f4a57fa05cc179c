"""Judges that owe nothing to the method whose recourses they judge.

A promise that only our own kind of model keeps is half a promise: the lender may retrain another
kind. These are trained on the rows that a retrained model would see.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from rocourse.schema import ClippedWarning, Schema, one_hot

# Enough for the encoded columns of all our tables, which are scaled to [0, 1].
_LOGISTIC_STEPS = 2000


class Judge(Protocol):
    """Whoever says of rows which class they are given."""

    def predict(self, X: pd.DataFrame, /) -> Any:
        """One label per row."""


FitJudge = Callable[[pd.DataFrame, "pd.Series[Any]", int], Judge]
"""From rows, their labels and a seed to a judge."""


def common_judges(schema: Schema) -> dict[str, FitJudge]:
    """Gradient boosting and logistic regression, by name, for rows of a schema.

    Values outside the schema's ranges are judged as its ends, as our own models do.
    """
    return {
        "boosting": lambda X, y, seed: _fit(_boosting(schema, seed), schema, _compact, X, y),
        "logistic": lambda X, y, seed: _fit(
            LogisticRegression(max_iter=_LOGISTIC_STEPS), schema, _one_hot, X, y
        ),
    }


Encoding = Callable[[Schema, pd.DataFrame], np.ndarray]


@dataclass(frozen=True, eq=False)
class _EncodedJudge:
    """A scikit-learn classifier of encoded rows."""

    classifier: Any
    schema: Schema
    encoded: Encoding

    def predict(self, X: pd.DataFrame, /) -> Any:
        """One label per row."""
        return self.classifier.predict(self.encoded(self.schema, X))


def _fit(
    classifier: Any, schema: Schema, encoded: Encoding, X: pd.DataFrame, y: "pd.Series[Any]"
) -> Judge:
    return _EncodedJudge(classifier.fit(encoded(schema, X), y.to_numpy()), schema, encoded)


def _boosting(schema: Schema, seed: int) -> HistGradientBoostingClassifier:
    # scikit-learn knows at most 255 categories a column; beyond, their order has to do.
    categorical = [
        *(False for _ in schema.continuous),
        *(len(feature.categories) <= 255 for feature in schema.categorical),
    ]
    return HistGradientBoostingClassifier(categorical_features=categorical, random_state=seed)


def _compact(schema: Schema, X: pd.DataFrame) -> np.ndarray:
    """Numbers, then the code of each category, `[n, features]`."""
    rows = _encode(schema, X)
    return np.hstack([rows.continuous, rows.categories.astype(np.float32)])


def _one_hot(schema: Schema, X: pd.DataFrame) -> np.ndarray:
    return one_hot(_encode(schema, X), schema.layout)


def _encode(schema: Schema, X: pd.DataFrame) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClippedWarning)
        return schema.encode(X[list(schema.names)])
