"""Gaps: cells that hold nothing, and what they are read as."""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

Missing = Literal["error", "impute", "category", "drop"]
"""What becomes of a gap: refused; read as a value; a category of its own; the training row left
out, and a later one refused."""
MISSING: tuple[Missing, ...] = get_args(Missing)

MissingWords = Missing | Mapping[str, Missing] | None
"""One for a whole table, or by column; None for what suits each column."""

MISSING_WORD = "missing"
"""How a gap is told."""

# What programs write into cells without a value. "None" is not among them: of other debts, say, it
# is a category that people want.
GAP_WORDS = frozenset(
    {"", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "<NA>"}
    | {"#N/A", "#N/A N/A", "#NA", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"}
)


def is_gap(value: object) -> bool:
    """Whether a single value is none: None, NaN, or a text that stands for nothing."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    if isinstance(value, str):
        return value in GAP_WORDS
    return isinstance(value, (float, np.floating, Decimal)) and bool(value != value)


def gaps_of(column: pd.Series, known: Collection[object] = ()) -> npt.NDArray[np.bool_]:
    """Which cells of a column are gaps.

    Args:
        column: Any column.
        known: Its categories, which are none even if they look like it.
    """
    gaps = column.isna().to_numpy(dtype=bool)
    if column.dtype == object or pd.api.types.is_string_dtype(column.dtype):
        words = [word for word in GAP_WORDS if word not in known]
        gaps = gaps | column.isin(words).to_numpy(dtype=bool)
    return gaps
