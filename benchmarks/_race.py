"""Two pieces of work timed in turns, so that whatever else the machine does slows both."""

from collections.abc import Callable
from statistics import harmonic_mean
from typing import NamedTuple

import jax
import numpy as np
from _core_workers import CoreWorker, Lap, at_once, timed

Measure = Callable[[], Lap]


class Quartiles(NamedTuple):
    """Of the ratios of all rounds."""

    low: float
    median: float
    high: float


class Race(NamedTuple):
    """The tried work's time by that of the kept one."""

    wall: Quartiles
    cpu: Quartiles
    kept_seconds: float
    """Median wall clock."""


def race(kept: Measure, tried: Measure, *, rounds: int) -> Race:
    """Each round is kept, tried, tried, kept: neither always follows the other."""
    walls, cpus, seconds = [], [], []
    for _ in range(rounds):
        first, second, third, last = kept(), tried(), tried(), kept()
        walls.append((second.wall + third.wall) / (first.wall + last.wall))
        cpus.append((second.cpu + third.cpu) / (first.cpu + last.cpu))
        seconds += [first.wall, last.wall]
    return Race(quartiles(walls), quartiles(cpus), float(np.median(seconds)))


def quartiles(values: list[float]) -> Quartiles:
    """The median and what half of the values lie between."""
    return Quartiles(*np.quantile(values, (0.25, 0.5, 0.75)).tolist())


def in_this_process(run: Callable[[], object], *, calls: int = 1) -> Measure:
    """Times so many calls of compiled code."""

    def several() -> None:
        for _ in range(calls):
            jax.block_until_ready(run())

    return lambda: timed(several)


def in_workers(turns: list[list[CoreWorker]], piece: str) -> Measure:
    """Times a piece that the workers of each turn run at the same time, one turn after another."""

    def measure() -> Lap:
        taken = [at_once(workers, piece) for workers in turns]
        return Lap(
            # Who is ready first does not wait: how fast all are together is what counts.
            sum(harmonic_mean([lap.wall for lap in laps]) for laps in taken),
            sum(lap.cpu for laps in taken for lap in laps),
        )

    return measure
