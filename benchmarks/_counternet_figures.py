"""Figures of `counternet_vs_relax.py`: the same functions for both libraries."""

from typing import Any, NamedTuple

import numpy as np
from _counternet_task import Data, Outcome, Settings

LIBRARIES = ("rocourse", "jax-relax")
LOSSES = ("prediction_loss", "objective")
# jax-relax compiles in its first two epochs: training in one, validation at the end of it.
FIRST_STEADY_EPOCH = 3


class Times(NamedTuple):
    """Seconds, once by the wall clock and once of the CPU (all threads)."""

    total: float
    """From data in memory to the trained model."""
    epoch: float
    """Mean of the epochs in which nothing is compiled."""
    start: float
    """The rest: compiling and whatever else is done once."""


def times(laps: np.ndarray) -> Times:
    """From the time at the end of each epoch, followed by the time at the very end, `[epochs + 1]`.

    Steady epochs are those from `FIRST_STEADY_EPOCH` on.
    """
    total, ends = laps[-1], laps[:-1]
    epoch = (ends[-1] - ends[FIRST_STEADY_EPOCH - 2]) / (len(ends) - FIRST_STEADY_EPOCH + 1)
    return Times(float(total), float(epoch), float(total - len(ends) * epoch))


def judge(outcome: Outcome, data: Data, settings: Settings) -> dict[str, float]:
    """Losses and quality on the validation rows, recourses rounded.

    `prediction_loss` is the mean squared error of the probability. `objective` is what both
    libraries minimise, half the squared errors with the weights of the settings.
    """
    x, label = data.x[data.n_training :], data.label[data.n_training :]
    predicted = outcome.probability > 0.5
    moved = np.abs(outcome.recourses - x)
    squared = (
        np.mean(np.square(outcome.probability - label)),
        np.mean(np.square(outcome.probability_after - ~predicted)),
        np.mean(np.square(moved)),
    )
    return {
        "prediction_loss": float(squared[0]),
        "objective": float(np.dot(settings.lambdas, squared) / 2),
        "accuracy": float(np.mean(predicted == label)),
        "validity": float(np.mean((outcome.probability_after > 0.5) != predicted)),
        "proximity": float(moved.sum(axis=1).mean()),
    }


def to_equal_loss(runs: dict[str, dict[str, Any]], loss: str) -> dict[str, Any]:
    """How long two trainings take to the lowest loss that both reach.

    Args:
        runs: Of each library its `curve` (figures by epoch), `cpu` times and `cpu_laps`.
        loss: Which figure of the curve.
    """
    level = max(min(point[loss] for point in run["curve"]) for run in runs.values())
    reached: dict[str, Any] = {"level": level}
    for library, run in runs.items():
        epoch = next(point["epoch"] for point in run["curve"] if point[loss] <= level)
        reached[library] = {
            "epoch": epoch,
            "cpu": run["cpu_laps"][epoch - 1],
            "training_cpu": epoch * run["cpu"]["epoch"],
        }
    return reached
