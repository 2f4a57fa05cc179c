"""Processes with one core each, and what they take of the machine."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter, process_time
from typing import Any, Self

from _peak_memory import peak_bytes

from rocourse.engines import ProcessPool


class WorkerError(Exception):
    """Why the work cannot go on, in a sentence."""


@dataclass(frozen=True)
class Done:
    """What a task gave, and what it took."""

    name: str
    value: Any
    seconds: float
    cpu_seconds: float
    worker: int
    peak_bytes: int
    """Of the worker, since it was started."""


class Workers:
    """Fresh interpreters, one for each job; leaving the context ends them."""

    def __init__(self, jobs: int) -> None:
        self._pool = ProcessPool(jobs, pinned=True)
        self._peaks: dict[int, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    @property
    def peak_bytes(self) -> list[int]:
        """The most memory that each worker has held, the largest first."""
        return sorted(self._peaks.values(), reverse=True)

    def each(
        self, task: Callable[..., Any], arguments: Mapping[str, tuple[Any, ...]]
    ) -> Iterator[Done]:
        """Calls `task(name, *arguments)` for each name, begun in their order, yielded as finished.

        Raises:
            WorkerError: If a task fails.
        """
        tasks = [(name, partial(_measured, task, name, given)) for name, given in arguments.items()]
        for finished in self._pool.each(tasks):
            if finished.died:
                raise WorkerError(
                    "A worker was ended from outside, perhaps for want of memory; try a lower "
                    "--jobs."
                )
            if finished.error is not None:
                raise finished.error
            self._peaks[finished.value.worker] = finished.value.peak_bytes
            yield finished.value


def _measured(task: Callable[..., Any], name: str, arguments: tuple[Any, ...]) -> Done:
    wall, cpu = perf_counter(), process_time()
    try:
        value = task(name, *arguments)
    except Exception as error:
        reason = " ".join(str(error).split()) or "no reason given"
        # As text: not every exception survives the way to another process.
        raise WorkerError(
            f"{task.__name__} stopped at {name} with {type(error).__name__}: {reason}"
        ) from None
    return Done(
        name=name,
        value=value,
        seconds=perf_counter() - wall,
        cpu_seconds=process_time() - cpu,
        worker=os.getpid(),
        peak_bytes=peak_bytes(),
    )
