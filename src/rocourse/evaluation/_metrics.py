"""The measures, each a number or None.

None says that there was nothing to measure: no rows, or labels of one class only for the AUC. A NaN
never leaves this module, so that results are valid JSON and means are taken over what exists.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from rocourse.evaluation._aggregate import mean_present
from rocourse.evaluation._model import Scalar, as_labels, to_plain
from rocourse.schema import Recourse, features_changed

Predict = Callable[[pd.DataFrame], Any]


def mean(values: np.ndarray[Any, Any]) -> float | None:
    """The mean of an array of any size, None if it is empty."""
    return float(np.mean(values)) if values.size else None


def accuracy(actual: Any, predicted: Any) -> float | None:
    """The share of rows whose predicted label is the actual one."""
    actual = np.asarray(actual)
    return mean(as_labels(predicted, rows=len(actual), source="predict") == actual)


def auc(actual: Any, probabilities: Any, classes: Sequence[Any] | np.ndarray) -> float | None:
    """The area under the ROC curve; None where only one class is present.

    With more than two classes, the unweighted mean over the classes that can be told from the rest
    (one against all others; classes of which there is no row, or nothing but rows, are left out).

    Args:
        actual: Labels, `[n]`.
        probabilities: `[n, len(classes)]`, columns in the order of `classes`.
        classes: The labels that the model knows.
    """
    actual, probabilities = np.asarray(actual), np.asarray(probabilities)
    # For two classes, one against the other is the same area from both sides.
    columns = [1] if len(classes) == 2 else range(len(classes))
    areas = []
    for column in columns:
        positive = actual == classes[column]
        if positive.any() and not positive.all():
            areas.append(float(roc_auc_score(positive, probabilities[:, column])))
    return mean_present(areas)


def constant_class(predicted: Any) -> Scalar | None:
    """The one class that a predictor gives to all rows, or None if it gives several.

    One row cannot show that a predictor is constant.
    """
    labels = pd.unique(np.asarray(predicted))
    return to_plain(labels[0]) if len(predicted) > 1 and len(labels) == 1 else None


def validity(recourse: Recourse) -> float | None:
    """The share of recourses that the issuing model honours, of the rows that needed one."""
    return mean(recourse.valid[needed(recourse)])


def robust_validity(recourse: Recourse, judges: Sequence[Predict]) -> float | None:
    """The share of recourses that a judge honours, mean over the judges.

    Args:
        recourse: What one model advised.
        judges: The predict functions of other models, from raw rows to labels.
    """
    where = needed(recourse)
    attempts = recourse.attempted()
    return mean_present(mean(honoured(recourse, judge(attempts))[where]) for judge in judges)


def proximity(recourse: Recourse) -> float | None:
    """The mean L1 distance in the encoded space, over the rows that needed a recourse."""
    return mean(recourse.proximity[needed(recourse)])


def sparsity(recourse: Recourse) -> float | None:
    """The mean number of features changed, over the rows that needed a recourse."""
    return mean(recourse.features_changed[needed(recourse)])


def diversity(recourse: Recourse) -> float | None:
    """The mean number of features in which two options of a row differ, over all such pairs.

    None where no row has two options.
    """
    differ: list[np.ndarray[Any, Any]] = []
    for one, other in combinations(recourse.options, 2):
        both = one.advised & other.advised
        differ.append(features_changed(one.attempts, other.attempts)[both])
    return mean(np.concatenate(differ)) if differ else None


def needed(recourse: Recourse) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows asked for a class that they did not have already, `[n]`."""
    return np.asarray(recourse.status != "not_needed", dtype=bool)


def honoured(recourse: Recourse, labels: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For which rows a judge's `labels` of the attempts are the desired classes, `[n]`."""
    given = as_labels(labels, rows=len(recourse), source="predict")
    return np.asarray(given == np.asarray(recourse.desired), dtype=bool)
