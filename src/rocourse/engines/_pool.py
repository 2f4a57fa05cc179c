"""Those who do tasks side by side: one interface, whoever they are."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from rocourse.errors import EngineError

Task = Callable[..., Any]
"""What is done; one that can be sent, such as a `partial` of a function of a module. In a pool that
was opened with something to prepare, it is called with that."""

Prepare = Callable[[], Any]
"""What each worker does once, before its first task: load a model, open a ledger."""


@dataclass(frozen=True)
class Done:
    """What came of a task.

    Attributes:
        name: The task's.
        value: What it returned.
        error: What it raised.
        died: Whether the process ended that worked on it, as often as it was tried.
    """

    name: Hashable
    value: Any = None
    error: Exception | None = None
    died: bool = False

    def result(self) -> Any:
        """What the task returned.

        Raises:
            EngineError: The process died; and whatever the task raised.
        """
        if self.died:
            raise EngineError(
                "Processes side by side must not be ended from outside, but one was, perhaps for "
                "want of memory; use fewer."
            )
        if self.error is not None:
            raise self.error
        return self.value


class Pool(ABC):
    """Those who do tasks."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many they are."""

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

    def in_order(self, tasks: Iterable[Task]) -> Iterator[Done]:
        """Does tasks, and yields what came of them in their order.

        No more are taken than workers need to be busy, and results that wait for their turn are
        few: tasks may be many and large.
        """
        waiting = enumerate(tasks)
        found: dict[Hashable, Done] = {}
        begun = given = 0
        while True:
            while self.idle and begun - given < 2 * self.size:
                following = next(waiting, None)
                if following is None:
                    break
                self.start(*following)
                begun += 1
            if given in found:
                yield found.pop(given)
                given += 1
            elif self.busy:
                done = self.wait()
                found[done.name] = done
            else:
                return

    def results(self, tasks: Sequence[Task]) -> list[Any]:
        """What tasks return, in their order.

        Raises:
            EngineError: If a process died; and whatever a task raises.
        """
        found = {done.name: done.result() for done in self.each(enumerate(tasks))}
        return [found[place] for place in range(len(tasks))]


class Worker:
    """Does tasks where it is; what they need is prepared before the first of them.

    Args:
        prepare: Gives what every task is called with; None: they are called with nothing.
    """

    def __init__(self, prepare: Prepare | None) -> None:
        self._prepare = prepare
        self._given: tuple[Any, ...] | None = () if prepare is None else None

    def attempt(self, task: Task) -> tuple[Any, Exception | None]:
        """What the task returned, or what it raised; likewise of what is to be prepared."""
        try:
            if self._given is None:
                assert self._prepare is not None
                self._given = (self._prepare(),)
            return task(*self._given), None
        except Exception as error:
            return None, error


def portable(error: Exception | None) -> Exception | None:
    """The error if it can be made again in another process, else what it says."""
    local = "<locals>" in type(error).__qualname__
    try:
        copy(error)
    except Exception:
        local = True
    return RuntimeError(f"{type(error).__name__}: {error}") if local else error
