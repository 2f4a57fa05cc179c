"""One thing that was tried on training's speed, and what it is measured against."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from _core_workers import timed
from _race import Measure, Race, in_this_process, race

Weights = list[np.ndarray]


class Contender(NamedTuple):
    """Compiled work that is ready to be timed."""

    measure: Measure
    compile_seconds: float | None = None
    """Of CPU, running it once included."""
    weights: Weights | None = None
    """The retrained weights θ' that it arrives at."""


class Try(NamedTuple):
    """What was tried, what is kept in its stead, and how to make ready either."""

    name: str
    instead_of: str
    kept: Callable[[], Contender]
    tried: Callable[[], Contender]


class Result(NamedTuple):
    """How a try did; no race where it could not be run."""

    name: str
    instead_of: str
    race: Race | None
    compiling: float | None
    """CPU seconds to compile it by those of what is kept."""
    difference: float | None
    """How far θ' lies from the kept one, by how far that one lies from θ (root mean squares)."""
    refusal: str | None


def make_ready(run: Callable[[], Any], *, calls: int = 1) -> Contender:
    """Compiles, by running it once, and times so many calls at a time."""
    first = timed(run)
    return Contender(in_this_process(run, calls=calls), first.cpu)


def judge(attempt: Try, start: Weights | None, *, rounds: int) -> Result:
    """Measures it; `start` is θ, which the attacks set out from."""
    name, instead_of = attempt.name, attempt.instead_of
    try:
        kept, tried = attempt.kept(), attempt.tried()
    except (jax.errors.JaxRuntimeError, NotImplementedError) as error:
        return Result(name, instead_of, None, None, None, str(error).splitlines()[0])
    compiling = difference = None
    if kept.compile_seconds is not None and tried.compile_seconds is not None:
        compiling = tried.compile_seconds / kept.compile_seconds
    if start is not None and kept.weights is not None and tried.weights is not None:
        difference = _distance(tried.weights, kept.weights) / _distance(kept.weights, start)
    return Result(
        name,
        instead_of,
        race(kept.measure, tried.measure, rounds=rounds),
        compiling,
        difference,
        None,
    )


def _distance(some: Weights, others: Weights) -> float:
    return float(np.sqrt(sum(np.sum((a - b) ** 2) for a, b in zip(some, others, strict=True))))
