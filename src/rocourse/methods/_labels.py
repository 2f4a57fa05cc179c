"""Labels as callers pass them."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from rocourse.errors import DataError


def checked_labels(y: ArrayLike, n_rows: int, *, asker: str) -> np.ndarray:
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
