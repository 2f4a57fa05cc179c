"""Threads of their own for each kind of work, so that none waits for another kind."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

Result = TypeVar("Result")


class Busy(Exception):
    """More is waiting than can be answered in time; not begun, and nothing was written.

    Args:
        seconds: When to ask again.
    """

    def __init__(self, seconds: float = 1.0) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Late(Exception):
    """It took longer than a request may take; what was begun may yet be done."""


class Lane:
    """A few threads, and a bound on what waits for them.

    Args:
        name: What it is for.
        threads: How much is done at a time.
        most: How much may be waiting or being done; more is refused.
    """

    def __init__(self, name: str, *, threads: int, most: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"rocourse-{name}")
        self._most, self._under_way, self._lock = most, 0, Lock()

    async def run(
        self, work: Callable[..., Result], *given: object, within: float | None = None
    ) -> Result:
        """Does some work in a thread.

        Args:
            work: The work.
            given: Its arguments.
            within: Seconds that it may take; what has not begun by then is not begun.

        Raises:
            Busy: Too much is under way.
            Late: The time is up.
        """
        future = self.submit(work, *given)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), within)
        except TimeoutError:
            if not future.cancelled() and future.done() and future.exception() is not None:
                raise
            raise Late from None

    def submit(self, work: Callable[..., Result], *given: object) -> "Future[Result]":
        """Has some work done in a thread, whenever that is.

        Raises:
            Busy: Too much is under way.
        """
        with self._lock:
            if self._under_way >= self._most:
                raise Busy
            self._under_way += 1
        future = self._pool.submit(work, *given)
        future.add_done_callback(self._done)
        return future

    def close(self) -> None:
        """Takes no more work, and forgets what has not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return self._under_way == 0

    def _done(self, _: "Future[Result]") -> None:
        with self._lock:
            self._under_way -= 1
