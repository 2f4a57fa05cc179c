"""The final gate: whatever was proposed, what leaves it satisfies every constraint exactly."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from rocourse.errors import DataError
from rocourse.schema._encoding import scale, unscale
from rocourse.schema._features import Categorical, Continuous, Feature, positioned
from rocourse.schema._layout import Layout, Rows, check_layout
from rocourse.schema._validation import Floats, Mask, read_numbers

NEGLIGIBLE_CHANGE = 0.005
"""Share of a feature's range below which a change is no change, since nobody would notice it."""


def settle(
    df: pd.DataFrame, rows: Rows, proposed: Rows, features: tuple[Feature, ...], layout: Layout
) -> Rows:
    """Turns proposals into rows that keep every constraint; see `Schema.settle`."""
    check_layout(rows, layout)
    check_layout(proposed, layout)
    if not len(df) == len(rows) == len(proposed):
        raise DataError(
            f"Rows, their codes and the proposals must be equally many, but got {len(df)}, "
            f"{len(rows)} and {len(proposed)}; propose one change per row."
        )
    continuous = rows.continuous.copy()
    categories = rows.categories.astype(layout.category_dtype)
    for feature, k in positioned(features):
        if feature.immutable:
            continue
        if isinstance(feature, Categorical):
            categories[:, k] = _settle_categories(
                rows.categories[:, k], proposed.categories[:, k], feature
            )
        else:
            raw = read_numbers(df[feature.name], feature.name)
            continuous[:, k] = _settle_numbers(
                raw, rows.continuous[:, k], proposed.continuous[:, k], feature
            )
    return Rows(continuous, categories)


def _settle_numbers(
    raw: Floats,
    here: npt.NDArray[np.float32],
    proposed: npt.NDArray[np.float32],
    feature: Continuous,
) -> npt.NDArray[np.float32]:
    codes = np.where(np.isnan(proposed), here, proposed)
    # float32 cannot name every raw value and float64 not every code, so one trip through raw units
    # may land beside the fixed point. In practice the second one never moves; a code that still
    # would is given up below.
    for _ in range(2):
        codes = scale(unscale(codes, feature), feature)
    values = unscale(codes, feature)
    unstable = scale(values, feature) != codes
    # Measured from the end of the range if the original lies beyond it: the model saw the end, and
    # a code next to it looks free of charge although it stands for a leap.
    inside = np.clip(raw, feature.low, feature.high)
    unnoticed = np.abs(values - inside) < NEGLIGIBLE_CHANGE * feature.span
    stay: Mask = np.isnan(proposed) | unstable | unnoticed
    if feature.direction == "up":
        stay |= values < raw
    elif feature.direction == "down":
        stay |= values > raw
    return np.where(stay, here, codes)


def _settle_categories(
    here: npt.NDArray[np.integer], proposed: npt.NDArray[np.integer], feature: Categorical
) -> npt.NDArray[np.integer]:
    stay: Mask = (proposed < 0) | (proposed >= len(feature.categories))
    if feature.direction == "up":
        stay |= proposed < here
    elif feature.direction == "down":
        stay |= proposed > here
    return np.where(stay, here, proposed)
