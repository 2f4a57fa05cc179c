"""Models simple enough that every verdict can be worked out by hand."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest

from rocourse.schema import Categorical, Continuous, Recourse, Schema, Target

BINARY = Schema(
    features=(
        Continuous("income", 0.0, 10.0, integer=True),
        Continuous("debt", 0.0, 10.0, integer=True),
        Categorical("home", ("own", "rent")),
    ),
    target=Target("good", (0, 1), 1),
)
THREE_CLASSES = Schema(
    features=BINARY.features, target=Target("grade", ("high", "low", "middle"), "high")
)


def income_rows(*incomes: int) -> pd.DataFrame:
    """Rows that differ in their income only."""
    return pd.DataFrame({"income": list(incomes), "debt": 5, "home": "rent"})


def write_recourse(
    schema: Schema, X: pd.DataFrame, attempts: pd.DataFrame, predicted, desired, found
) -> Recourse:
    """A record of what was attempted, written by hand."""
    predicted, desired, found = map(np.asarray, (predicted, desired, found))
    status = np.where(found, "found", "not_found")
    return Recourse(
        schema=schema,
        original=X,
        original_rows=schema.encode(X),
        attempts=schema.encode(attempts),
        status=np.where(predicted == desired, "not_needed", status),
        predicted=predicted,
        desired=desired,
        probability=np.where(found, 0.9, 0.1),
        method="by hand",
    )


@dataclass
class Threshold:
    """Approves from an income of `at`; its recourse moves the income just over the threshold.

    On the way up it may stop `short` of the threshold, so that no recourse is found.
    """

    at: int
    short: int = 0
    calls: list[int] = field(default_factory=list)
    classes_ = np.array([0, 1])
    schema_ = BINARY

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return (X["income"].to_numpy() >= self.at).astype(int)

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        approve = 1 / (1 + np.exp(self.at - 0.5 - X["income"].to_numpy(dtype=float)))
        return np.column_stack([1 - approve, approve])

    def recourse(self, X: pd.DataFrame, *, desired=None) -> Recourse:
        self.calls.append(len(X))
        predicted = self.predict(X)
        desired = 1 - predicted if desired is None else np.full(len(X), desired)
        attempts = X.copy()
        # A constant predictor has no row on the other side to move to.
        incomes = np.clip(np.where(desired == 1, self.at - self.short, self.at - 1), 0, 10)
        attempts["income"] = np.where(predicted == desired, X["income"], incomes)
        found = self.predict(attempts) == desired
        return write_recourse(BINARY, X, attempts, predicted, desired, found)


@dataclass
class Bands:
    """Three classes by income: low, middle, high; its recourse moves to `goal`."""

    middle_at: int
    high_at: int
    goal: int = 10
    classes_ = np.array(["high", "low", "middle"])
    schema_ = THREE_CLASSES

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        income = X["income"].to_numpy()
        return np.where(
            income >= self.high_at, "high", np.where(income >= self.middle_at, "middle", "low")
        )

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return 0.8 * (self.predict(X)[:, None] == self.classes_) + 0.2 / 3

    def recourse(self, X: pd.DataFrame, *, desired=None) -> Recourse:
        predicted = self.predict(X)
        desired = np.full(len(X), "high" if desired is None else desired)
        attempts = X.copy()
        attempts["income"] = np.where(predicted == desired, X["income"], self.goal)
        found = self.predict(attempts) == desired
        return write_recourse(THREE_CLASSES, X, attempts, predicted, desired, found)


@pytest.fixture
def threshold() -> type[Threshold]:
    return Threshold


@pytest.fixture
def bands() -> type[Bands]:
    return Bands


@pytest.fixture
def incomes() -> Callable[..., pd.DataFrame]:
    return income_rows


@pytest.fixture
def by_hand() -> Callable[..., Recourse]:
    return write_recourse


@pytest.fixture
def binary_schema() -> Schema:
    return BINARY
