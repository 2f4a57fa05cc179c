"""What the workers of `loan_protocol.py` do for one year."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rocourse
from rocourse import Recourse, RoCourseNet, Schema
from rocourse.estimators import RecourseClassifier
from rocourse.evaluation import ModelScores, evaluate_model


def train_year(
    year: str,
    train: pd.DataFrame,
    schema: Schema,
    options: Mapping[str, Any],
    seed: int,
    folder: Path,
) -> int:
    """Trains the model of a year and keeps it in `folder`; how many steps that took."""
    X, y = _apart(train, schema)
    model = RoCourseNet(schema=schema, random_state=seed, **options).fit(X, y)
    model.save(folder / year)
    learned_from = len(X) - ceil(len(X) * model.trainer_.validation_fraction)
    return ceil(learned_from / model.trainer_.batch_size) * model.n_iter_


def answer_year(year: str, test: pd.DataFrame, schema: Schema, folder: Path) -> Recourse:
    """The recourses of the test rows of a year, by its own model."""
    X, _ = _apart(test, schema)
    return _model(folder / year).recourse(X)


def judge_year(
    year: str,
    test: pd.DataFrame,
    recourse: Recourse,
    years: Sequence[str],
    folder: Path,
) -> ModelScores:
    """The scores of a year's model and recourses, judged by the models of all other years."""
    X, y = _apart(test, recourse.schema)
    scores = evaluate_model(
        _Answered(_model(folder / year), recourse),
        X,
        y,
        judges={other: _model(folder / other) for other in years if other != year},
    )
    # What was timed is looking the recourses up.
    return replace(scores, seconds_per_recourse=None)


class _Answered:
    """A model whose recourses are there already, so that to judge them does not repeat them."""

    def __init__(self, model: RecourseClassifier, recourse: Recourse) -> None:
        self.classes_: np.ndarray = model.classes_
        self.schema_ = model.schema_
        self.predict = model.predict
        self.predict_proba = model.predict_proba
        self._recourse = recourse

    def recourse(self, X: pd.DataFrame, /, *, desired: Any = None) -> Recourse:
        """The recourses as they were given."""
        return self._recourse


@cache
def _model(path: Path) -> RecourseClassifier:
    return rocourse.load(path)


def _apart(frame: pd.DataFrame, schema: Schema) -> tuple[pd.DataFrame, pd.Series]:
    assert schema.target is not None
    return frame[list(schema.names)], frame[schema.target.name]
