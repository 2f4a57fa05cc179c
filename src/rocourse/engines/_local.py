"""Processes of this machine, or this process alone.

A pool of the standard library would do, but for two things: it does not say which task a process
died of, and it cannot be stopped in the middle of one.
"""

import os
import signal
from collections.abc import Hashable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from rocourse.engines._pool import Done, Pool, Prepare, Task, Worker, portable

# A fresh interpreter for each process: a forked one would inherit JAX's threads.
_CONTEXT = get_context("spawn")
_THREADS = Path("/proc/self/task")


class Here(Pool):
    """This process: it does a task when it is waited for."""

    def __init__(self, prepare: Prepare | None = None) -> None:
        self._worker = Worker(prepare)
        self._task: tuple[Hashable, Task] | None = None

    @property
    def size(self) -> int:
        return 1

    @property
    def idle(self) -> bool:
        return self._task is None

    @property
    def busy(self) -> bool:
        return self._task is not None

    def start(self, name: Hashable, task: Task) -> None:
        self._task = name, task

    def wait(self) -> Done:
        assert self._task is not None
        (name, task), self._task = self._task, None
        return Done(name, *self._worker.attempt(task))


class ProcessPool(Pool):
    """Processes of their own, to be closed.

    Args:
        count: How many.
        prepare: See `Prepare`.
        pinned: Whether each keeps to one core, so that what it measures is not its neighbour's
            doing.
    """

    def __init__(self, count: int, prepare: Prepare | None = None, *, pinned: bool = False) -> None:
        self._prepare, self._pinned = prepare, pinned
        self._processes: dict[Connection, SpawnProcess] = {}
        self._tasks: dict[Connection, Hashable] = {}
        self._cores: dict[Connection, int] = {}
        self._fresh: set[Connection] = set()
        for number in range(count):
            self._open(number)

    @property
    def size(self) -> int:
        return len(self._processes)

    @property
    def idle(self) -> bool:
        return len(self._tasks) < len(self._processes)

    @property
    def busy(self) -> bool:
        return bool(self._tasks)

    def start(self, name: Hashable, task: Task) -> None:
        connection = next(c for c in self._processes if c not in self._tasks)
        self._tasks[connection] = name
        # One that has died is noticed where its answer is waited for.
        with suppress(OSError):
            if connection in self._fresh:
                # Not when the process is started: one that dies before it has read what it is
                # given would leave this one waiting.
                self._fresh.discard(connection)
                connection.send(self._prepare)
            connection.send(task)

    def wait(self) -> Done:
        connection = next(iter(wait(list(self._tasks))))
        assert isinstance(connection, Connection)
        name = self._tasks.pop(connection)
        try:
            value, error = connection.recv()
        except (EOFError, OSError):
            self._replace(connection)
            return Done(name, died=True)
        return Done(name, value, error)

    def close(self) -> None:
        """Ends all processes, also those that are at work."""
        for connection, process in self._processes.items():
            connection.close()
            process.terminate()
        for process in self._processes.values():
            process.join()

    def _open(self, number: int) -> None:
        ours, theirs = _CONTEXT.Pipe()
        core = number if self._pinned else None
        # A daemon does not outlive this process.
        process = _CONTEXT.Process(target=_serve, args=(theirs, core), daemon=True)
        process.start()
        # Theirs is closed here: when they die, we are told.
        theirs.close()
        self._processes[ours] = process
        self._cores[ours] = number
        self._fresh.add(ours)

    def _replace(self, connection: Connection) -> None:
        self._processes.pop(connection).join()
        connection.close()
        self._fresh.discard(connection)
        self._open(self._cores.pop(connection))


def _serve(connection: Connection, core: int | None) -> None:
    """Does tasks until there are no more."""
    # Ctrl-C reaches all processes of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if core is not None:
        _settle_on_a_core(core)
    worker: Worker | None = None
    while True:
        try:
            if worker is None:
                worker = Worker(connection.recv())
            task = connection.recv()
        except (EOFError, OSError):
            return
        value, error = worker.attempt(task)
        try:
            connection.send((value, portable(error)))
        except OSError:
            return


def _settle_on_a_core(number: int) -> None:
    """Keeps this process to one core."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        # Libraries that are imported already have started threads, which do not follow the first.
        for thread in os.listdir(_THREADS) if _THREADS.is_dir() else (0,):
            os.sched_setaffinity(int(thread), {cores[number % len(cores)]})
