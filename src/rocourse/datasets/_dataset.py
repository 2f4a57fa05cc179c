"""The records that describe and hold a data set."""

import dataclasses
from collections.abc import Mapping
from typing import Literal

import pandas as pd

from rocourse.schema import Schema

__all__ = ["Dataset", "DatasetInfo"]


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
