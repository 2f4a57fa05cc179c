"""What a worker of `counternet_vs_relax.py` is given and what it hands back.

Imported in both environments, so by means that both have: the standard library and NumPy.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What both libraries are set to."""

    encoder: tuple[int, ...]
    head: tuple[int, ...]
    generator: tuple[int, ...]
    dropout: float
    learning_rate: float
    lambdas: tuple[float, float, float]
    """Weights of half the squared errors of prediction, validity and proximity."""
    batch_size: int
    epochs: int
    checkpoints: tuple[int, ...]
    """Epochs after which the models are judged."""
    seed: int


class Data(NamedTuple):
    """The rows, first those for training, encoded and by feature."""

    x: np.ndarray
    continuous: np.ndarray
    codes: np.ndarray
    group_sizes: np.ndarray
    label: np.ndarray
    n_training: int


class Outcome(NamedTuple):
    """What a model says of the validation rows after some epochs."""

    probability: np.ndarray
    """Of class 1, `[n]`."""
    recourses: np.ndarray
    """One for each row, encoded, each group rounded to one category, `[n, width]`."""
    probability_after: np.ndarray
    """Of class 1 for the recourses, `[n]`."""


class Clock:
    """Wall and CPU seconds (all threads) since it was made."""

    def __init__(self) -> None:
        self.laps: list[tuple[float, float]] = []
        self._start = time.perf_counter(), time.process_time()

    def lap(self) -> None:
        """Notes the time; the last lap is the end."""
        wall, cpu = self._start
        self.laps.append((time.perf_counter() - wall, time.process_time() - cpu))


def write_task(file: Path, data: Data, settings: Settings) -> None:
    """Writes what `read_task` reads."""
    np.savez(file, settings=json.dumps(asdict(settings)), **data._asdict())


def read_task() -> tuple[Data, Settings]:
    """The task in the file that the first argument names."""
    with np.load(sys.argv[1], allow_pickle=False) as file:
        parts = dict(file)
    values = json.loads(str(parts.pop("settings")))
    settings = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return Data(**parts | {"n_training": int(parts["n_training"])}), Settings(**settings)


def write_answer(clock: Clock, outcomes: list[Outcome], packages: tuple[str, ...]) -> None:
    """Writes laps, outcomes and versions to the file that the second argument names."""
    np.savez(
        sys.argv[2],
        laps=np.asarray(clock.laps),
        versions=json.dumps({name: version(name) for name in packages}),
        **{name: np.stack([getattr(one, name) for one in outcomes]) for name in Outcome._fields},
    )


def read_answer(file: Path) -> tuple[np.ndarray, list[Outcome], dict[str, str]]:
    """The laps, `[epochs + 1, 2]`, outcomes and versions that a worker wrote."""
    with np.load(file, allow_pickle=False) as parts:
        columns = (parts[name] for name in Outcome._fields)
        outcomes = [Outcome(*of_epoch) for of_epoch in zip(*columns, strict=True)]
        return parts["laps"], outcomes, json.loads(str(parts["versions"]))
