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

from rocourse.schema import (
    ClippedWarning,
    CutOff,
    Schema,
    one_hot,
    threshold_of_rate,
    verdicts,
)

# Enough for the encoded columns of all our tables, which are scaled to [0, 1].
_LOGISTIC_STEPS = 2000


class Judge(Protocol):
    """Whoever says of rows which class they are given."""

    def predict(self, X: pd.DataFrame, /) -> Any:
        """One label per row."""


FitJudge = Callable[[pd.DataFrame, "pd.Series[Any]", int], Judge]
"""From rows, their labels and a seed to a judge."""


def common_judges(
    schema: Schema, *, threshold: float | None = None, approval_rate: float | None = None
) -> dict[str, FitJudge]:
    """Gradient boosting and logistic regression, by name, for rows of a schema.

    Values outside the schema's ranges are judged as its ends, as our own models do.

    Args:
        schema: The features and the target.
        threshold: The probability of the favourable class from which on they grant it; None: they
            give the most probable class.
        approval_rate: Or the share of the rows they are trained on that are to be granted it.
    """

    def fitted(classifier: Any, encoded: Encoding, X: pd.DataFrame, y: "pd.Series[Any]") -> Judge:
        x = encoded(schema, X)
        classifier.fit(x, y.to_numpy())
        cut_off = None
        if threshold is not None or approval_rate is not None:
            place = _favourable(schema, classifier.classes_)
            enough = threshold
            if approval_rate is not None:
                enough = threshold_of_rate(classifier.predict_proba(x)[:, place], approval_rate)
            assert enough is not None
            cut_off = CutOff(enough, place)
        return _EncodedJudge(classifier, schema, encoded, cut_off)

    return {
        "boosting": lambda X, y, seed: fitted(_boosting(schema, seed), _compact, X, y),
        "logistic": lambda X, y, seed: fitted(
            LogisticRegression(max_iter=_LOGISTIC_STEPS), _one_hot, X, y
        ),
    }


def _favourable(schema: Schema, classes: np.ndarray) -> int:
    if schema.target is None:
        return len(classes) - 1
    place: int = classes.tolist().index(schema.target.wanted())
    return place


Encoding = Callable[[Schema, pd.DataFrame], np.ndarray]


@dataclass(frozen=True, eq=False)
class _EncodedJudge:
    """A scikit-learn classifier of encoded rows."""

    classifier: Any
    schema: Schema
    encoded: Encoding
    cut_off: CutOff | None

    def predict(self, X: pd.DataFrame, /) -> Any:
        """One label per row."""
        shares = self.classifier.predict_proba(self.encoded(self.schema, X))
        return self.classifier.classes_[verdicts(shares, self.cut_off)]


def _boosting(schema: Schema, seed: int) -> HistGradientBoostingClassifier:
    # scikit-learn knows at most 255 categories a column; beyond, their order has to do.
    categorical = [
        *(False for _ in schema.continuous),
        *(feature.size <= 255 for feature in schema.categorical),
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
