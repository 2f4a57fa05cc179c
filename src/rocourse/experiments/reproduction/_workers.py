"""Processes that do jobs side by side, each on a core of its own.

A pool of the standard library would do, but for two things: it does not say which job a process
died of, and it cannot be stopped in the middle of one.
"""

import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from rocourse.experiments.reproduction._jobs import Job
from rocourse.experiments.reproduction._store import Store
from rocourse.experiments.reproduction._work import attempt

Answer = tuple[Job, float, str | None]
"""A job, how many seconds it took, and why it failed, if it did."""

# A fresh interpreter for each process: a forked one would inherit JAX's threads.
_CONTEXT = get_context("spawn")


class Workers(ABC):
    """Those who do jobs."""

    @property
    @abstractmethod
    def idle(self) -> bool:
        """Whether one of them has nothing to do."""

    @property
    @abstractmethod
    def busy(self) -> bool:
        """Whether one of them has something to do."""

    @abstractmethod
    def start(self, job: Job) -> None:
        """Gives a job to an idle one."""

    @abstractmethod
    def wait(self) -> Answer:
        """What has come of the next job that is done."""


@contextmanager
def open_workers(count: int, store: Store) -> Iterator[Workers]:
    """So many workers; one works in this process, when it is waited for."""
    if count == 1:
        yield _Here(store)
        return
    pool = _Processes(count, store)
    try:
        yield pool
    finally:
        pool.close()


class _Here(Workers):
    def __init__(self, store: Store) -> None:
        self._store = store
        self._job: Job | None = None

    @property
    def idle(self) -> bool:
        return self._job is None

    @property
    def busy(self) -> bool:
        return self._job is not None

    def start(self, job: Job) -> None:
        self._job = job

    def wait(self) -> Answer:
        job, self._job = self._job, None
        assert job is not None
        return (job, *attempt(job, self._store))


class _Processes(Workers):
    def __init__(self, count: int, store: Store) -> None:
        self._folder = store.folder
        self._processes: dict[Connection, SpawnProcess] = {}
        self._jobs: dict[Connection, Job] = {}
        self._cores: dict[Connection, int] = {}
        for number in range(count):
            self._open(number)

    @property
    def idle(self) -> bool:
        return len(self._jobs) < len(self._processes)

    @property
    def busy(self) -> bool:
        return bool(self._jobs)

    def start(self, job: Job) -> None:
        connection = next(c for c in self._processes if c not in self._jobs)
        self._jobs[connection] = job
        # One that has died is noticed where its answer is waited for.
        with suppress(OSError):
            connection.send(job)

    def wait(self) -> Answer:
        connection = next(iter(wait(list(self._jobs))))
        assert isinstance(connection, Connection)
        job = self._jobs.pop(connection)
        try:
            seconds, error = connection.recv()
        except (EOFError, OSError):
            self._replace(connection)
            return job, 0.0, "The process that worked on it ended before it was done."
        return job, seconds, error

    def close(self) -> None:
        """Ends all processes, also those that are at work: what they have not kept is not lost.

        An unfinished job leaves no result, and is done in the next run.
        """
        for connection, process in self._processes.items():
            connection.close()
            process.terminate()
        for process in self._processes.values():
            process.join()

    def _open(self, number: int) -> None:
        ours, theirs = _CONTEXT.Pipe()
        # A daemon does not outlive this process.
        process = _CONTEXT.Process(target=_serve, args=(theirs, self._folder, number), daemon=True)
        process.start()
        # Theirs is closed here: when they die, we are told.
        theirs.close()
        self._processes[ours] = process
        self._cores[ours] = number

    def _replace(self, connection: Connection) -> None:
        self._processes.pop(connection).join()
        connection.close()
        self._open(self._cores.pop(connection))


def _serve(connection: Connection, folder: Path, number: int) -> None:
    """Does jobs until there are no more."""
    # Ctrl-C reaches all processes of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _settle_on_a_core(number)
    store = Store(folder)
    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        answer = attempt(job, store)
        try:
            connection.send(answer)
        except OSError:
            return


def _settle_on_a_core(number: int) -> None:
    """Keeps this process to one core, so that what it measures is not its neighbour's doing."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
