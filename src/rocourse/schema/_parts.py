"""What a schema is made of, checked when it is made."""

from collections.abc import Collection, Iterable, Sequence

import pandas as pd

from rocourse._wording import did_you_mean, duplicates, listed, show
from rocourse.errors import SchemaError
from rocourse.schema._features import Categorical, Continuous, Feature, Target
from rocourse.schema._validation import check_frame


def check_features(given: object) -> tuple[Feature, ...]:
    """The features of a schema; refuses what is none, and names that are there twice."""
    if not isinstance(given, Iterable):
        raise SchemaError(f"features must be a list, but got {show(given)}; put it in a list.")
    features = tuple(given)
    if not features:
        raise SchemaError("A schema must have at least one feature, but got none; add one.")
    for feature in features:
        if not isinstance(feature, (Continuous, Categorical)):
            raise SchemaError(
                f"A feature must be Continuous or Categorical, but got {show(feature)}; use one of "
                "them."
            )
    if repeated := duplicates([feature.name for feature in features]):
        raise SchemaError(
            f"Feature names must be unique, but got {listed(repeated)} more than once; rename one."
        )
    return features


def check_target(target: object, names: Collection[str]) -> None:
    """Refuses what is no target, or is a feature as well."""
    if target is None:
        return
    if not isinstance(target, Target):
        raise SchemaError(
            f"target must be a Target or None, but got {show(target)}; use Target(name, classes)."
        )
    if target.name in names:
        raise SchemaError(
            f"The target must not be a feature, but {target.name!r} is both; remove the feature."
        )


def check_set_aside(ignored: object, id: object, taken: Collection[str]) -> tuple[str, ...]:
    """The columns that are ignored; refuses those that are something else, the id too.

    Args:
        ignored: The columns that are no features.
        id: The column that tells rows apart, if there is one.
        taken: The names of the features and of the target.
    """
    if isinstance(ignored, str) or not isinstance(ignored, Sequence):
        raise SchemaError(
            f"ignored must be a list of column names, but got {show(ignored)}; write a list."
        )
    for name in (*ignored, *([] if id is None else [id])):
        if not isinstance(name, str):
            raise SchemaError(
                f"A column that is ignored or the id must be named by text, but got {show(name)}; "
                "rename it."
            )
        if name in taken:
            raise SchemaError(
                f"A column that is ignored or the id must be neither feature nor target, but "
                f"{name!r} is; leave one of the two out."
            )
    return tuple(ignored)


def without_set_aside(df: pd.DataFrame, ignored: Collection[str], id: str | None) -> pd.DataFrame:
    """The rows without the columns that are ignored and the id, all of which must be there."""
    df = check_frame(df)
    set_aside = [*ignored, *([] if id is None else [id])]
    for name in set_aside:
        if name not in df.columns:
            raise SchemaError(
                f"A column that is ignored or the id must be one of the rows', but got "
                f"{show(name)}{did_you_mean(name, df.columns)}; name one of {listed(df.columns)}."
            )
    return df.drop(columns=set_aside)
