"""The rows that a job works on."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd

from rocourse.datasets import Dataset, load
from rocourse.evaluation import split
from rocourse.schema import Schema

# A worker goes through the subsets of one data set in turn.
_SUBSETS_AT_HAND = 16


class SubsetRows(NamedTuple):
    """Training and test rows of one subset, with their labels."""

    schema: Schema
    target: str
    train: pd.DataFrame
    test: pd.DataFrame


def read_rows(inputs: Mapping[str, Any]) -> SubsetRows:
    """The rows that a job's inputs name; see `Source`."""
    schema, target, frame = _read_subset(inputs)
    seed = inputs["seed"]
    train, test = split(frame, target, seed=seed)
    fraction = inputs.get("fraction", 1.0)
    if fraction < 1.0:
        train, _ = split(train, target, seed=seed, test_size=1.0 - fraction)
    return SubsetRows(schema, target, train, test)


def read_untested_rows(inputs: Mapping[str, Any]) -> tuple[Schema, str, pd.DataFrame]:
    """Schema, label column, and the rows that none of the seeds `tested` tests on."""
    schema, target, frame = _read_subset(inputs)
    tests = (read_rows({**inputs, "seed": seed}).test for seed in inputs["tested"])
    tested = frame.index.isin([row for test in tests for row in test.index])
    return schema, target, frame[~tested]


def _read_subset(inputs: Mapping[str, Any]) -> tuple[Schema, str, pd.DataFrame]:
    subset, seed = inputs["subset"], inputs["seed"]
    dataset = _load(inputs["dataset"], subset, seed)
    frame = at_most(dataset.subsets[subset], inputs.get("rows"), seed)
    return dataset.schema, dataset.target, frame


def at_most(frame: pd.DataFrame, rows: int | None, seed: int) -> pd.DataFrame:
    """The rows in their order; of more than so many, a draw."""
    if rows is None or rows >= len(frame):
        return frame
    return frame.sample(n=rows, random_state=seed).sort_index()


@lru_cache(maxsize=_SUBSETS_AT_HAND)
def _load(name: str, subset: str, seed: int) -> Dataset:
    return load(name, subsets=(subset,), seed=seed)
