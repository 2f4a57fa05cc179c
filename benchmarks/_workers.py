"""Processes with one core each, and what they take of the machine."""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing import active_children, get_context
from time import perf_counter, process_time
from typing import Any, Self

from _cores import available_cores
from _peak_memory import peak_bytes


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
        # A forked interpreter would inherit threads.
        context = get_context("spawn")
        cores = context.SimpleQueue()
        for core in islice(cycle(available_cores()), jobs):
            cores.put(core)
        self._pool = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_stay_on_one, initargs=(cores,)
        )
        self._peaks: dict[int, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._pool.shutdown(wait=error is None, cancel_futures=True)
        if error is not None:
            # A training that nobody waits for any more may have minutes to go.
            for worker in active_children():
                worker.terminate()

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
        futures = [
            self._pool.submit(_measured, task, name, given) for name, given in arguments.items()
        ]
        try:
            for future in as_completed(futures):
                done = future.result()
                self._peaks[done.worker] = done.peak_bytes
                yield done
        except BrokenProcessPool:
            raise WorkerError(
                "A worker was ended from outside, perhaps for want of memory; try a lower --jobs."
            ) from None


def _stay_on_one(cores: Any) -> None:
    core = cores.get()
    if hasattr(os, "sched_setaffinity"):
        # Libraries that are imported already have started threads, which do not follow the first.
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), {core})


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
