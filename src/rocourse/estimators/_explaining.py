"""Why rows are refused by a fitted estimator, and what it keeps at the fit to say so."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rocourse._wording import show
from rocourse.errors import ConfigError
from rocourse.estimators._reading import read_frame
from rocourse.reasons import (
    MOST_EXACT,
    MOST_REASONS,
    Background,
    Reasons,
    log_odds,
    make_background,
    shapley_values,
)
from rocourse.schema import Categorical, Rows, Schema

if TYPE_CHECKING:
    from rocourse.estimators._base import RecourseClassifier

_METHOD = (
    "Shapley values of the log-odds of the desired class, which say what each feature does beside "
    "rows like those that are given this class"
)


def accepted_rows(estimator: "RecourseClassifier", rows: Rows) -> Background:
    """Rows like those that are given the class that is wanted, or any class if none is stated.

    Args:
        estimator: One whose model is fitted.
        rows: The training rows.
    """
    context, schema = estimator._context(), estimator.schema_
    target = schema.target
    assert target is not None
    classes = range(len(target.classes))
    if target.favourable is not None:
        classes = range(wanted := target.classes.index(target.favourable), wanted + 1)

    def given(asked: Rows) -> np.ndarray:
        return context.verdicts(context.predict(asked))

    return make_background(given, rows, schema, classes, seed=estimator.seed_)


def explain(estimator: "RecourseClassifier", X: Any, desired: Any, most: int) -> Reasons:
    """The record of `RecourseClassifier.reasons`."""
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_REASONS:
        raise ConfigError(
            f"most must be a whole number from 1 to {MOST_REASONS}, but got {show(most)}; give one."
        )
    kept, schema, advisor = estimator.background_, estimator.schema_, estimator._advisor
    if kept is None:
        raise ConfigError(
            "Reasons are told beside rows like those that are accepted, but this model was stored "
            "by a release that kept none; fit it again."
        )
    assert schema.target is not None
    if desired is None:
        desired = schema.target.favourable
    frame = read_frame(estimator, X, fitting=False)[list(schema.names)]
    rows = schema.encode(frame, out_of_range=estimator.out_of_range)
    probabilities = advisor.context.predict(rows)
    predicted = advisor.context.verdicts(probabilities)
    targets = advisor.targets(desired, predicted)
    shape = len(rows), len(schema.features)
    score = log_odds(probabilities[np.arange(len(rows)), targets])
    base, usual = np.full(len(rows), np.nan), np.full(shape, np.nan)
    values, errors = np.full(shape, np.nan), np.full(shape, np.nan)
    for target in np.unique(targets[predicted != targets]).tolist():
        others, weights = _beside(kept, target, estimator.classes_)

        def asked(mixed: Rows, target: int = target) -> np.ndarray:
            return log_odds(advisor.context.predict(mixed)[:, target])

        where = np.flatnonzero((targets == target) & (predicted != target))
        seed = estimator.seed_
        told = shapley_values(asked, rows.take(where), others, weights, schema=schema, seed=seed)
        values[where], errors[where] = told.values, told.errors
        score[where], base[where] = told.score, told.base
        usual[where] = _usual(others, weights, schema)
    drawn = "" if shape[1] <= MOST_EXACT else ", by orders of the features that are drawn"
    return Reasons(
        schema=schema,
        original=frame,
        predicted=estimator.classes_[predicted],
        desired=estimator.classes_[targets],
        score=score,
        base=base,
        contributions=values,
        errors=errors,
        usual=usual,
        encoded=_in_order(rows.continuous, rows.categories, schema),
        most=most,
        method=f"{_METHOD}{drawn}.",
    )


def _beside(kept: Background, target: int, classes: np.ndarray) -> tuple[Rows, np.ndarray]:
    rows, weights = kept.of(target)
    if not len(rows):
        raise ConfigError(
            "Reasons are told beside rows like those that are accepted, but the model gave the "
            f"class {show(classes[target])} to too few training rows, or it is not the favourable "
            "one; ask for the favourable class, or fit a model that gives it to some."
        )
    return rows, weights


def _usual(rows: Rows, weights: np.ndarray, schema: Schema) -> np.ndarray:
    """The mean of numbers and the most frequent code of categories, `[features]`."""
    numbers = weights @ rows.continuous.astype(np.float64)
    codes = [
        np.bincount(rows.categories[:, k], weights=weights).argmax()
        for k in range(rows.categories.shape[1])
    ]
    return _in_order(numbers[None], np.array(codes)[None], schema).ravel()


def _in_order(numbers: np.ndarray, codes: np.ndarray, schema: Schema) -> np.ndarray:
    """Encoded values in the order of the schema, float64 `[n, features]`."""
    kinds = np.array([isinstance(feature, Categorical) for feature in schema.features])
    table = np.empty((len(numbers), len(kinds)))
    table[:, ~kinds], table[:, kinds] = numbers, codes
    return table
