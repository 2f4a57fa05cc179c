"""Processes that do tasks side by side; the only ones that experiments start.

A pool of the standard library would do, but for two things: it does not say which task a process
died of, and it cannot be stopped in the middle of one.
"""

import os
import signal
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from rocourse.errors import TrainingError

Task = Callable[[], Any]
"""What is done; one that can be sent, such as a `partial` of a function of a module."""

# A fresh interpreter for each process: a forked one would inherit JAX's threads.
_CONTEXT = get_context("spawn")
_THREADS = Path("/proc/self/task")


@dataclass(frozen=True)
class Done:
    """What came of a task.

    Attributes:
        name: The task's.
        value: What it returned.
        error: What it raised.
        died: Whether the process ended that worked on it.
    """

    name: Hashable
    value: Any = None
    error: Exception | None = None
    died: bool = False


class Pool(ABC):
    """Those who do tasks."""

    @property
    @abstractmethod
    def idle(self) -> bool:
        """Whether one of them has nothing to do."""

    @property
    @abstractmethod
    def busy(self) -> bool:
        """Whether one of them has something to do."""

    @abstractmethod
    def start(self, name: Hashable, task: Task) -> None:
        """Gives a task to an idle one."""

    @abstractmethod
    def wait(self) -> Done:
        """What has come of the next task that is done."""

    def each(self, tasks: Iterable[tuple[Hashable, Task]]) -> Iterator[Done]:
        """Does tasks, begun in their order, and yields what came of each as soon as it is done."""
        waiting = deque(tasks)
        while waiting or self.busy:
            while waiting and self.idle:
                self.start(*waiting.popleft())
            yield self.wait()

    def results(self, tasks: Sequence[Task]) -> list[Any]:
        """What tasks return, in their order.

        Raises:
            TrainingError: If a process died; and whatever a task raises.
        """
        found: dict[Hashable, Any] = {}
        for done in self.each(enumerate(tasks)):
            if done.died:
                raise TrainingError(
                    "Processes side by side must not be ended from outside, but one was, perhaps "
                    "for want of memory; use fewer."
                )
            if done.error is not None:
                raise done.error
            found[done.name] = done.value
        return [found[place] for place in range(len(tasks))]


@contextmanager
def open_pool(count: int, *, pinned: bool = False) -> Iterator[Pool]:
    """So many workers; a single one works in this process, when it is waited for.

    Args:
        count: How many.
        pinned: Whether each process keeps to one core, so that what it measures is not its
            neighbour's doing.
    """
    if count == 1:
        yield _Here()
        return
    pool = ProcessPool(count, pinned=pinned)
    try:
        yield pool
    finally:
        pool.close()


class _Here(Pool):
    def __init__(self) -> None:
        self._task: tuple[Hashable, Task] | None = None

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
        return Done(name, *_attempt(task))


class ProcessPool(Pool):
    """Processes of their own, to be closed; see `open_pool`."""

    def __init__(self, count: int, *, pinned: bool = False) -> None:
        self._pinned = pinned
        self._processes: dict[Connection, SpawnProcess] = {}
        self._tasks: dict[Connection, Hashable] = {}
        self._cores: dict[Connection, int] = {}
        for number in range(count):
            self._open(number)

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

    def _replace(self, connection: Connection) -> None:
        self._processes.pop(connection).join()
        connection.close()
        self._open(self._cores.pop(connection))


def _serve(connection: Connection, core: int | None) -> None:
    """Does tasks until there are no more."""
    # Ctrl-C reaches all processes of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if core is not None:
        _settle_on_a_core(core)
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        value, error = _attempt(task)
        try:
            connection.send((value, _portable(error)))
        except OSError:
            return


def _attempt(task: Task) -> tuple[Any, Exception | None]:
    try:
        return task(), None
    except Exception as error:
        return None, error


def _portable(error: Exception | None) -> Exception | None:
    """The error if it can be made again in another process, else what it says."""
    local = "<locals>" in type(error).__qualname__
    try:
        copy(error)
    except Exception:
        local = True
    return RuntimeError(f"{type(error).__name__}: {error}") if local else error


def _settle_on_a_core(number: int) -> None:
    """Keeps this process to one core."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        # Libraries that are imported already have started threads, which do not follow the first.
        for thread in os.listdir(_THREADS) if _THREADS.is_dir() else (0,):
            os.sched_setaffinity(int(thread), {cores[number % len(cores)]})
