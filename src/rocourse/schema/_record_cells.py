"""Cells of records as JSON has them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.schema._dates import read_days
from rocourse.schema._features import Categorical, Continuous, Feature
from rocourse.schema._gaps import gaps_of
from rocourse.schema._row import jsonable
from rocourse.schema._values import plain
from rocourse.schema._written import as_numbers

# Values that are what JSON has, whatever they are; a float may be NaN, which it has not.
_JSON_TYPES = frozenset({str, int, bool})


def json_cells(feature: Feature, values: pd.Series) -> list[Any]:
    """Cells of a feature as JSON has them: None for gaps, ISO texts for dates."""
    if isinstance(feature, Continuous) and feature.date:
        return [
            None if day != day else jsonable(feature, day) for day in read_days(values)[0].tolist()
        ]
    known = feature.categories if isinstance(feature, Categorical) else ()
    if isinstance(feature, Continuous):
        values = as_numbers(values, feature.written)
    cells = json_list(values)
    if isinstance(feature, Continuous) and feature.integer:
        # Whole numbers are decimals where some are missing.
        cells = [int(cell) if isinstance(cell, float) else cell for cell in cells]
    if (gaps := gaps_of(values, known)).any():
        return [None if gap else cell for gap, cell in zip(gaps, cells, strict=True)]
    return cells


def json_list(values: "pd.Series | pd.Index | npt.NDArray[Any]") -> list[Any]:
    """Any values as JSON has them."""
    return [
        value if type(value) in _JSON_TYPES else _jsonable(value)
        for value in np.asarray(values, dtype=object).tolist()
    ]


def _jsonable(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, tuple):
        return [_jsonable(part) for part in value]
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return None
    return value if isinstance(value, (str, int, float, bool)) else str(value)
