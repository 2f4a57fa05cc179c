"""The records that describe and hold a data set."""

import dataclasses
from collections.abc import Collection, Mapping
from typing import Literal

import pandas as pd

from rocourse.errors import SchemaError
from rocourse.schema import Schema

__all__ = ["Dataset", "DatasetInfo", "constrain"]


@dataclasses.dataclass(frozen=True, slots=True)
class DatasetInfo:
    """What is known of a data set without loading it."""

    name: str
    description: str
    kind: Literal["embedded", "download", "simulated"]
    """`embedded` ships with the package, `download` needs `fetch`, `simulated` is generated."""
    subsets: tuple[str, ...]
    rows: int
    """Over all subsets; of simulated sets, with the default number of rows."""
    target: str
    license: str
    source: str


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A data set in subsets between which the world has shifted."""

    name: str
    schema: Schema
    """Fitted on the union of all subsets of the data set, without constraints, as in the paper."""
    actionable_schema: Schema
    """The same features with the constraints that sensible advice has to respect."""
    subsets: Mapping[str, pd.DataFrame]
    """Rows by subset, features first in schema order, the target last."""
    target: str
    description: str
    license: str
    source: str


def constrain(
    schema: Schema,
    *,
    immutable: Collection[str] = (),
    increase_only: Collection[str] = (),
    decrease_only: Collection[str] = (),
) -> Schema:
    """A copy of `schema` in which the named features may not change, or only in one direction."""
    unknown = {*immutable, *increase_only, *decrease_only} - set(schema.names)
    if unknown:
        raise SchemaError(
            f"Constraints must be on features of the schema, got {', '.join(sorted(unknown))}; "
            f"choose from {', '.join(schema.names)}."
        )
    features = []
    for feature in schema.features:
        if feature.name in immutable:
            feature = dataclasses.replace(feature, immutable=True)
        if feature.name in increase_only:
            feature = dataclasses.replace(feature, direction="up")
        if feature.name in decrease_only:
            feature = dataclasses.replace(feature, direction="down")
        features.append(feature)
    return dataclasses.replace(schema, features=tuple(features))
