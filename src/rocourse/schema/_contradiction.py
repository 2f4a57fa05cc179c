"""Whether a schema given by hand can be the schema of the training rows."""

import pandas as pd

from rocourse.errors import SchemaError
from rocourse.schema._features import Categorical, Feature
from rocourse.schema._validation import (
    check_bounds,
    check_columns,
    check_frame,
    check_whole,
    outside_range,
    read_codes,
    read_numbers,
)

# A schema fitted on other rows may miss a few extremes of these; a range that misses most of them
# is another column's.
_MOST = 0.5


def check_fit(df: pd.DataFrame, features: tuple[Feature, ...], target: str | None) -> None:
    """Refuses rows that contradict the features; see `Schema.check_fit`."""
    df = check_frame(df)
    check_columns(df, [feature.name for feature in features], target, SchemaError)
    for feature in features:
        column = df[feature.name]
        if isinstance(feature, Categorical):
            read_codes(column, feature, SchemaError)
            continue
        values = read_numbers(column, feature.name, SchemaError)
        if feature.integer:
            check_whole(values, column, feature.name, SchemaError)
        check_bounds(values, column, feature)
        outside = outside_range(values, feature)
        if outside.mean() > _MOST:
            raise SchemaError(
                f"Feature {feature.name!r} has the range {feature.low:.10g} to "
                f"{feature.high:.10g}, but {outside.sum()} of {len(values)} training rows lie "
                f"outside it (they reach from {values.min():.10g} to {values.max():.10g}); correct "
                "the range, or infer the schema from the training rows."
            )
