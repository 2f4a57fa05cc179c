"""The k-subset protocol: k models, each judging the recourses of all others."""

from collections.abc import Callable, Mapping
from math import ceil
from time import perf_counter, process_time
from typing import TypeVar
from zlib import crc32

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from rocourse.errors import ConfigError, DataError
from rocourse.evaluation._model import Model, Scalar
from rocourse.evaluation._plausibility import Plausibility
from rocourse.evaluation._results import SubsetResult, SubsetsResult
from rocourse.evaluation._scores import score_model

M = TypeVar("M", bound=Model)


def split(
    frame: pd.DataFrame, target: str, *, seed: int, test_size: float = 0.25
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cut `frame` into training and test rows.

    Both parts have the label rates of the whole, unless a class has a single row or a part has
    fewer rows than there are classes: then the cut is made without regard to the labels.

    Args:
        frame: Rows with their labels.
        target: The label column.
        seed: The same seed gives the same parts.
        test_size: The share of rows to hold out.

    Returns:
        The training rows and the test rows, index kept.

    Raises:
        DataError: If the label column is missing, or there are too few rows to cut.
        ConfigError: If `test_size` is not between 0 and 1.
    """
    if not 0 < test_size < 1:
        raise ConfigError(
            f"test_size must lie between 0 and 1, but is {test_size}: use, say, 0.25."
        )
    if target not in frame.columns:
        raise DataError(
            f"The label column {target!r} must be in the rows, but their columns are "
            f"{list(frame.columns)}: name one of them."
        )
    n_test = ceil(test_size * len(frame))
    n_train = len(frame) - n_test
    if min(n_test, n_train) < 1:
        raise DataError(
            f"A split with test_size={test_size} needs a row on each side, but there are "
            f"{len(frame)} rows: add rows."
        )
    counts = frame[target].value_counts()
    stratified = counts.min() >= 2 and min(n_test, n_train) >= len(counts)
    train, test = train_test_split(
        frame,
        test_size=n_test,
        random_state=seed,
        stratify=frame[target] if stratified else None,
    )
    return train, test


def run_subsets(
    subsets: Mapping[str, pd.DataFrame],
    target: str,
    fit: Callable[[str, pd.DataFrame, pd.Series, int], M],
    *,
    seed: int,
    test_size: float = 0.25,
    favourable: Scalar | None = None,
    on_fitted: Callable[[str, M], None] | None = None,
) -> SubsetsResult:
    """Fit one model per subset and let every model judge the recourses of every other.

    The models must share a schema, fitted on the union of the subsets, so that each can read the
    rows of all others. Each model gets a seed of its own, derived from `seed` and the subset's
    name: models that start from the same weights would agree with each other more than retrained
    models do, and a subset's model does not depend on which other subsets take part. Plausibility
    is measured by the training rows of the subset that a recourse comes from.

    Args:
        subsets: Rows with their labels, by name; at least two.
        target: The label column.
        fit: Fits a model, given the subset's name, its training rows and labels, and a seed.
        seed: Decides the splits (as in `split`) and the models' seeds.
        test_size: The share of each subset to hold out.
        favourable: The class that people want, if it is not the one in the models' schema.
        on_fitted: Told of each model when it is fitted, for those who want to keep it.

    Raises:
        ConfigError: If there are fewer than two subsets.
    """
    if len(subsets) < 2:
        raise ConfigError(
            f"subsets must hold at least two, one to judge the other, but holds {len(subsets)}: "
            "add another subset."
        )
    parts = {
        name: split(frame, target, seed=seed, test_size=test_size)
        for name, frame in subsets.items()
    }
    models: dict[str, M] = {}
    seconds: dict[str, tuple[float, float]] = {}
    for name, (train, _) in parts.items():
        wall, cpu = perf_counter(), process_time()
        models[name] = fit(name, train.drop(columns=target), train[target], fit_seed(seed, name))
        seconds[name] = (perf_counter() - wall, process_time() - cpu)
        if on_fitted is not None:
            on_fitted(name, models[name])

    results = (
        judge_subset(
            name,
            *part,
            target,
            models,
            seed=seed,
            seconds=seconds[name],
            favourable=favourable,
        )
        for name, part in parts.items()
    )
    return SubsetsResult(target=target, seed=seed, test_size=test_size, subsets=tuple(results))


def judge_subset(
    name: str,
    train: pd.DataFrame,
    test: pd.DataFrame,
    target: str,
    models: Mapping[str, Model],
    *,
    seed: int,
    seconds: tuple[float, float],
    favourable: Scalar | None = None,
) -> SubsetResult:
    """One subset's part of `run_subsets`, for those who have fitted the models elsewhere.

    Args:
        name: The subset whose model gives recourses.
        train: The rows that this model was fitted on, with their labels.
        test: The rows that it gives recourses for, with their labels.
        target: The label column.
        models: The models of all subsets, by name.
        seed: That of the run.
        seconds: Wall clock and processor time that the model took to fit.
        favourable: As in `run_subsets`.
    """
    issuer = models[name]
    reference = Plausibility.fit(
        issuer.schema_, train.drop(columns=target), train[target], seed=seed
    )
    scores = score_model(
        issuer,
        test.drop(columns=target),
        test[target].to_numpy(),
        judges={other: judge for other, judge in models.items() if other != name},
        favourable=favourable,
        reference=reference,
    )
    wall_seconds, cpu_seconds = seconds
    return SubsetResult(
        name=name,
        train_rows=len(train),
        fit_seed=fit_seed(seed, name),
        train_seconds=wall_seconds,
        train_cpu_seconds=cpu_seconds,
        scores=scores,
    )


def fit_seed(seed: int, name: str) -> int:
    """The seed of the model of subset `name`, non-negative and below 2³¹."""
    sequence = np.random.SeedSequence([seed, crc32(name.encode())])
    return int(sequence.generate_state(1)[0] >> 1)
