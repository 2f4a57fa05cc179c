"""Fitted estimators and boosters: the columns they were fitted on, and how they are called."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from rocourse.errors import ConfigError
from rocourse.models._frameworks import import_framework, is_from
from rocourse.models.adapters._onnx import OnnxModel
from rocourse.schema import Categorical, Schema


def is_booster(model: object) -> bool:
    """Whether `model` is a bare Booster of XGBoost or LightGBM."""
    return is_from(model, "xgboost", "Booster") or is_from(model, "lightgbm", "Booster")


def probability_call(model: Any, name: str) -> Callable[[Any], Any]:
    """The function that answers with probabilities.

    Raises:
        ConfigError: The estimator has none.
        DependencyError: A Booster's framework is not installed.
    """
    if is_from(model, "xgboost", "Booster"):
        xgboost = import_framework("xgboost")

        def predict(shown: Any) -> Any:
            names = None if isinstance(shown, pd.DataFrame) else model.feature_names
            matrix = xgboost.DMatrix(shown, feature_names=names, enable_categorical=True)
            return model.predict(matrix)

        return predict
    if is_from(model, "lightgbm", "Booster"):
        return lambda shown: model.predict(shown)
    if not hasattr(model, "predict_proba"):
        raise ConfigError(
            f"{name} must give probabilities, but it has no predict_proba; calibrate it with "
            "scikit-learn's CalibratedClassifierCV, or pass a function that returns probabilities."
        )
    if (own := _own_threshold(model)) not in (None, 0.5):
        raise ConfigError(
            f"{name} must decide for the likelier class, but it has a threshold of its own, "
            f"{own:.4g}; pass its estimator_ as the model, and threshold={own:.4g} to the method."
        )
    return lambda shown: model.predict_proba(shown)


def _own_threshold(model: Any) -> float | None:
    """Where a classifier of scikit-learn's with a threshold has it."""
    model = model[-1] if is_from(model, "sklearn", "Pipeline") else model
    if is_from(model, "sklearn", "FixedThresholdClassifier"):
        return None if model.threshold == "auto" else float(model.threshold)
    return getattr(model, "best_threshold_", None)


def check_fitted(model: Any, name: str) -> None:
    """Refuses a scikit-learn estimator that was not fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ConfigError(f"{name} must be fitted, but it is not; call its fit first.") from error
    except TypeError:
        # No estimator of scikit-learn's kind: the probe will tell.
        return


def own_classes(model: Any, name: str) -> np.ndarray | None:
    """The labels that a fitted estimator knows, in the order of its columns."""
    labels = getattr(model, "classes_", None)
    if labels is None:
        return None
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ConfigError(
            f"{name} must predict one target, but it has the classes of {len(labels)}; pass one of "
            "its estimators."
        )
    return labels


def fitted_width(model: Any) -> int | None:
    """The number of columns that a model was fitted on, if it knows."""
    if is_from(model, "xgboost", "Booster"):
        return int(model.num_features())
    if is_from(model, "lightgbm", "Booster"):
        return int(model.num_feature())
    if isinstance(model, OnnxModel):
        return model.width
    width = getattr(model, "n_features_in_", None)
    return None if width is None else int(width)


def fitted_names(model: Any) -> tuple[str, ...] | None:
    """The names of the columns that a model was fitted on, if it was fitted with names."""
    if is_from(model, "xgboost", "Booster"):
        names = model.feature_names
    elif is_from(model, "lightgbm", "Booster"):
        names = model.feature_name()
    elif isinstance(model, OnnxModel):
        names = model.names
    else:
        names = getattr(model, "feature_names_in_", None)
    told = () if names is None else tuple(str(name) for name in names)
    # What LightGBM calls columns without names.
    nameless = told == tuple(f"Column_{k}" for k in range(len(told)))
    return None if nameless else told


def schema_columns(names: tuple[str, ...], schema: Schema, name: str) -> tuple[str, ...]:
    """The features of the schema that the fitted names stand for, in the model's order.

    Raises:
        ConfigError: The model was fitted on a column that the schema does not have.
    """
    # LightGBM writes the blanks of a name as underscores.
    known = {feature.replace(" ", "_"): feature for feature in schema.names}
    known |= {feature: feature for feature in schema.names}
    for column in names:
        if column not in known:
            raise ConfigError(
                f"{name} must be fitted on columns of the schema, but it was fitted on {column!r}; "
                "put the preparation of columns into a scikit-learn Pipeline, or pass a function "
                "of raw rows."
            )
    return tuple(known[column] for column in names)


def fitted_dtypes(model: Any, schema: Schema, columns: tuple[str, ...]) -> dict[str, Any]:
    """The columns that a model was given as pandas categories."""
    if is_from(model, "xgboost", "Booster") or hasattr(model, "get_booster"):
        booster = model if is_booster(model) else model.get_booster()
        types = booster.feature_types or ()
        names = [column for column, kind in zip(columns, types, strict=False) if kind == "c"]
        return _dtypes(names, schema)
    if is_from(model, "lightgbm", "Booster") or hasattr(model, "booster_"):
        booster = model if is_booster(model) else model.booster_
        return _lightgbm_dtypes(booster.pandas_categorical or [], schema, columns)
    if getattr(model, "categorical_features", None) == "from_dtype":
        told = model.is_categorical_
        marked = () if told is None else told
        names = [column for column, own in zip(columns, marked, strict=False) if own]
        return _dtypes(names, schema)
    return {}


def _dtypes(names: list[str], schema: Schema) -> dict[str, Any]:
    features = [schema[column] for column in names]
    return {
        feature.name: pd.CategoricalDtype(list(feature.categories))
        for feature in features
        if isinstance(feature, Categorical)
    }


def _lightgbm_dtypes(
    known: list[list[Any]], schema: Schema, columns: tuple[str, ...]
) -> dict[str, Any]:
    # LightGBM keeps the categories of each pandas category column in order, but not its name.
    features = [schema[column] for column in columns]
    remaining = [feature for feature in features if isinstance(feature, Categorical)]
    dtypes = {}
    for values in known:
        while remaining:
            feature = remaining.pop(0)
            if set(values) & set(feature.categories):
                dtypes[feature.name] = pd.CategoricalDtype(list(feature.categories))
                break
    return dtypes
