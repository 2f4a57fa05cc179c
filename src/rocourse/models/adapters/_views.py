"""What a model is shown of encoded rows: the vectors themselves, or raw values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
import pandas as pd

from rocourse.schema import Categorical, Continuous, Feature, Layout, Rows, Schema, compact, one_hot

Inputs = Literal["frame", "array", "encoded"]
INPUTS: tuple[Inputs, ...] = get_args(Inputs)


@dataclass(frozen=True, eq=False)
class Reach:
    """How far differences move each continuous column, and between which ends.

    Attributes:
        step: The distance moved to either side, float32 `[C]`.
        low: The least code that the model can be shown, float32 `[C]`.
        high: The greatest, float32 `[C]`.
    """

    step: np.ndarray
    low: np.ndarray
    high: np.ndarray


class View(Protocol):
    """How encoded rows are shown to a model."""

    def seen(self, x: np.ndarray) -> np.ndarray:
        """The encoded rows that the model cannot tell from `x`, and is shown in their place."""

    def shown(self, x: np.ndarray) -> Any:
        """What the model is called with."""

    def reach(self, step: float) -> Reach:
        """How far differences of about `step` move each continuous column."""


@dataclass(frozen=True, eq=False)
class EncodedView:
    """The model is shown the encoded vectors as they are, soft categories included."""

    layout: Layout

    def seen(self, x: np.ndarray) -> np.ndarray:
        """The rows themselves."""
        return x

    def shown(self, x: np.ndarray) -> np.ndarray:
        """A copy, so that a model that scales in place does no harm."""
        return x.copy()

    def reach(self, step: float) -> Reach:
        """The same step for all columns, within [0, 1]."""
        ones = np.ones(self.layout.n_continuous, np.float32)
        return Reach(np.float32(step) * ones, 0 * ones, ones)


@dataclass(frozen=True, eq=False)
class RawView:
    """The model is shown raw values: whole categories, integers as integers.

    Attributes:
        schema: The features.
        columns: The columns the model takes, in its order.
        dtypes: The dtype of a column where it is not the one that `Schema.decode` gives.
        as_array: Whether the values come as an array instead of a DataFrame.
    """

    schema: Schema
    columns: tuple[str, ...]
    dtypes: Mapping[str, Any]
    as_array: bool

    def seen(self, x: np.ndarray) -> np.ndarray:
        """The rows with one category a group, and whole numbers where these are integers."""
        rows = compact(x, self.schema.layout)
        return one_hot(Rows(self._snapped(rows.continuous), rows.categories), self.schema.layout)

    def shown(self, x: np.ndarray) -> Any:
        """The decoded rows, in the columns and dtypes that the model knows."""
        rows = compact(x, self.schema.layout)
        frame = self.schema.decode(rows)
        for k, feature in enumerate(self.schema.continuous):
            if not feature.integer:
                values = frame[feature.name].to_numpy()
                frame[feature.name] = shortest(values, rows.continuous[:, k], feature)
        frame = frame[list(self.columns)].astype(dict(self.dtypes))
        if not self.as_array:
            return frame
        numeric = all(
            pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)
            for dtype in frame.dtypes
        )
        return frame.to_numpy(dtype=np.float64 if numeric else object)

    def reach(self, step: float) -> Reach:
        """The step, for an integer feature rounded to whole units and at least one of them."""
        steps, ends = [], []
        for feature in self.schema.continuous:
            units = max(1.0, round(step * feature.span))
            steps.append(units / feature.span if feature.integer else step)
            ends.append([(limit - feature.low) / feature.span for limit in feature.limits])
        low, high = np.asarray(ends, np.float32).reshape(-1, 2).T
        return Reach(np.asarray(steps, np.float32), low, high)

    def _snapped(self, continuous: np.ndarray) -> np.ndarray:
        snapped = np.empty_like(continuous)
        for k, feature in enumerate(self.schema.continuous):
            low, high = feature.limits
            values = feature.low + continuous[:, k].astype(np.float64) * feature.span
            values = np.clip(np.rint(values) if feature.integer else values, low, high)
            snapped[:, k] = (values - feature.low) / feature.span
        return snapped


def shortest(values: np.ndarray, codes: np.ndarray, feature: Continuous) -> np.ndarray:
    """The values with the fewest decimals that have the same codes.

    Trees split at values that occur: a row that was encoded to float32 and decoded again would fall
    on the other side of such a split by the last digit. 45.67 comes back as 45.67 this way.
    """
    low, high = feature.limits
    shortest, unsettled = values.copy(), np.ones(len(values), dtype=bool)
    # From the leading digit of the range to the last one that a float32 code can tell apart.
    first = math.ceil(-math.log10(feature.span))
    for decimals in range(first, first + 9):
        rounded = np.round(values, decimals)
        same = ((rounded - feature.low) / feature.span).astype(np.float32) == codes
        chosen = unsettled & same & (rounded >= low) & (rounded <= high)
        shortest[chosen] = rounded[chosen]
        unsettled &= ~chosen
        if not unsettled.any():
            break
    return shortest


def make_view(
    inputs: Inputs,
    schema: Schema,
    *,
    columns: Sequence[str],
    dtypes: Mapping[str, Any],
) -> View:
    """How rows of `schema` are shown to a model that wants `inputs`."""
    if inputs == "encoded":
        return EncodedView(schema.layout)
    return RawView(schema, tuple(columns), dtypes, as_array=inputs == "array")


def training_dtypes(schema: Schema, like: pd.DataFrame) -> dict[str, Any]:
    """The dtypes of `like`, where they hold every value that the schema can decode to.

    A dtype that does not (integers for a feature with fractions, say) is left out: a value must not
    change on its way to the model.
    """
    dtypes = {}
    for feature in schema.features:
        dtype: Any = like[feature.name].dtype
        if isinstance(dtype, pd.CategoricalDtype) and isinstance(feature, Categorical):
            dtypes[feature.name] = _widened(dtype, feature)
        elif _holds(dtype, feature):
            dtypes[feature.name] = dtype
    return dtypes


def _widened(dtype: pd.CategoricalDtype, feature: Categorical) -> pd.CategoricalDtype:
    """The dtype itself if it has all categories of the feature, else one with these added."""
    missing = [value for value in feature.categories if value not in dtype.categories]
    if not missing:
        return dtype
    return pd.CategoricalDtype([*dtype.categories, *missing], ordered=dtype.ordered)


def _holds(dtype: Any, feature: Feature) -> bool:
    if isinstance(feature, Continuous) and not feature.integer:
        return pd.api.types.is_float_dtype(dtype)
    values = feature.categories if isinstance(feature, Categorical) else feature.limits
    plain = pd.Series(list(values))
    try:
        cast = plain.astype(dtype)
        return bool((cast == plain).all() and (cast.astype(plain.dtype) == plain).all())
    except (TypeError, ValueError, OverflowError):
        return False
