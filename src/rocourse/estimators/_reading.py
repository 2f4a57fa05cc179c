"""Rows, labels and schemas as callers pass them to an estimator."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from rocourse.errors import DataError, SchemaError
from rocourse.schema import Schema, Target, as_frame, codes_as_gaps


def read_frame(estimator: Any, X: Any, *, fitting: bool) -> pd.DataFrame:
    """The rows as a DataFrame; arrays get made-up column names.

    Args:
        estimator: Who asks; fitting sets what scikit-learn has it know of its columns.
        X: A DataFrame or an array.
        fitting: Whether these are the training rows.
    """
    schema: Schema | None = estimator.schema
    X = as_frame(X)
    if isinstance(X, pd.DataFrame):
        if schema is None:
            if not fitting and set(known := estimator.schema_.names) < set(X.columns):
                # Columns beside those that are needed are not looked at.
                X = X[list(known)]
            frame: pd.DataFrame = X
            validate_data(estimator, frame, reset=fitting, skip_check_array=True)
            # As scikit-learn has it, columns without text names are columns without names.
            named = all(isinstance(column, str) for column in frame.columns)
            return frame if named else frame.set_axis(_made_up_names(frame.shape[1]), axis=1)
        if fitting:
            estimator.n_features_in_ = len(schema.features)
            estimator.feature_names_in_ = np.asarray(schema.names, dtype=object)
        return codes_as_gaps(X, schema.missing_codes)
    array = validate_data(estimator, X, reset=fitting, dtype=np.float64)
    if schema is None or not fitting and not hasattr(estimator, "feature_names_in_"):
        return pd.DataFrame(array, columns=_made_up_names(array.shape[1]))
    if array.shape[1] != len(schema.features):
        raise DataError(
            f"The schema has {len(schema.features)} features, but the array has "
            f"{array.shape[1]} columns; pass the columns in the schema's order, or a DataFrame."
        )
    return pd.DataFrame(array, columns=list(schema.names))


def _made_up_names(n: int) -> list[str]:
    return [f"x{i}" for i in range(n)]


def read_training_rows(
    estimator: Any, X: Any, y: Any, groups: ArrayLike | None
) -> tuple[pd.DataFrame, Any, np.ndarray | None]:
    """Rows, labels and groups as indices, without rows that the schema leaves out for their gaps.

    Args:
        estimator: Who asks.
        X: A DataFrame or an array.
        y: The labels, as they are.
        groups: The group of each row, if there are groups.
    """
    frame = read_frame(estimator, X, fitting=True)
    known, schema = known_groups(groups, len(frame)), estimator.schema
    if schema is None or not set(schema.names) <= set(frame.columns):
        # Where columns are missing, the schema says which.
        return frame, y, known
    usable = schema.usable(frame)
    if usable.all():
        return frame, y, known
    warnings.warn(
        f"{len(frame) - usable.sum():,} of {len(frame):,} rows were left out of training, since "
        "they have missing values in columns with missing='drop'.",
        stacklevel=3,
    )
    return frame[usable], _chosen(y, usable), _chosen(known, usable)


def _chosen(values: Any, rows: np.ndarray) -> Any:
    if values is None or len(values) != len(rows):
        # Of another length they are refused later, in a sentence of their own.
        return values
    return values[rows] if isinstance(values, pd.Series) else np.asarray(values)[rows]


def new_labels(y: ArrayLike, n_rows: int, *, asker: str) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes among labels, and the index of each row's."""
    values = _checked_labels(y, n_rows, asker=asker)
    classes, labels = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        raise DataError(
            "The target must have at least two classes: got only one class, "
            f"{classes[0]!r}; add rows of another class."
        )
    return classes, labels.astype(np.int32)


def known_labels(y: ArrayLike, n_rows: int, known: np.ndarray, *, asker: str) -> np.ndarray:
    """The index of each row's class among those that a model knows already."""
    values = _checked_labels(y, n_rows, asker=asker)
    unknown = values[~np.isin(values, known)]
    if len(unknown):
        raise DataError(
            f"The target must have the classes of the model, {known.tolist()}: got "
            f"{unknown.tolist()[0]!r}; pass the labels that it was trained on, or say what they "
            "are called here: model=adapt(model, schema, classes=[...]), one for each of these, in "
            "their order."
        )
    return np.searchsorted(known, values).astype(np.int32)


def known_groups(groups: ArrayLike | None, n_rows: int) -> np.ndarray | None:
    """The index of each row's group, in the order of the groups' names; None without groups."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise DataError(
            f"groups must name one group for each of {n_rows} rows, but got shape {values.shape}; "
            "pass a column of as many values."
        )
    if pd.isna(values).any():
        raise DataError(
            "groups must name a group for every row, but got missing values; fill them in, or leave"
            " such rows out."
        )
    found, indices = np.unique(values.astype(str), return_inverse=True)
    if len(found) < 2:
        raise DataError(
            f"groups must hold at least two groups, but got only {found.tolist()}; leave groups "
            "out if there is one."
        )
    return indices.astype(np.int32)


def fitted_schema(
    stated: Schema | None, frame: pd.DataFrame, y: ArrayLike, classes: np.ndarray
) -> Schema:
    """The schema of the training rows, with their target: as stated, or inferred."""
    schema = Schema.infer(frame) if stated is None else stated.filled(frame)
    if stated is not None:
        schema.check_fit(frame)
    labels = tuple(classes.tolist())
    if schema.target is None:
        name = str(getattr(y, "name", None) or "target")
        while name in schema.names:
            name = f"{name}_"
        return replace(schema, target=Target(name, labels))
    if set(schema.target.classes) != set(labels):
        raise SchemaError(
            f"The target '{schema.target.name}' must have the schema's classes "
            f"{list(schema.target.classes)}: got {list(labels)}; correct the schema or the rows."
        )
    return replace(schema, target=replace(schema.target, classes=labels))


def _checked_labels(y: ArrayLike, n_rows: int, *, asker: str) -> np.ndarray:
    """The labels as an array of one class a row.

    Args:
        y: What was passed.
        n_rows: How many rows there are.
        asker: The estimator that needs them, for messages.

    Raises:
        DataError: They are missing, too few or too many, or no classes.
    """
    if y is None:
        raise DataError(f"{asker} requires y to be passed, but the target y is None.")
    values = column_or_1d(y, warn=True)
    if len(values) != n_rows:
        raise DataError(
            f"The target must have one class a row: got {len(values)} classes for {n_rows} "
            "rows; align X and y."
        )
    missing = pd.isna(values)
    if missing.any():
        raise DataError(
            f"The target must not be missing: got NaN in {int(missing.sum())} rows; drop or "
            "label them."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise DataError("The target must be finite: got infinity (inf); drop or label the rows.")
    check_classification_targets(values)
    return np.asarray(values)
