"""Requests that arrive together are answered together.

While a batch is answered, requests gather; the next batch takes all of them, so that they share one
call of compiled code and one commit. A request that comes alone does not wait.

What takes a moment is done where requests are read: a thread would have to fight for the
interpreter, and that takes longer. What may take long is done in a thread.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")


class Busy(Exception):
    """More is waiting than can be answered soon."""


class Batcher(Generic[Asked, Answered]):
    """Gathers requests and hands them over in batches.

    Args:
        answer: Answers a batch: one answer for each request, in their order. An answer
            that is an exception is raised to its request alone.
        weigh: How much of a batch a request takes up, such as its rows.
        most: The most that a batch holds; a heavier request is a batch of its own.
        most_waiting: The most that may wait.
        light: Gives the most of a batch that is answered within a moment, and so without a thread;
            asked for every batch, since the answer may change.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Asked]], Sequence[Answered | Exception]],
        weigh: Callable[[Asked], int],
        *,
        most: int,
        most_waiting: int,
        light: Callable[[], int] = lambda: 0,
    ) -> None:
        self._answer, self._weigh, self._light = answer, weigh, light
        self._most, self._most_waiting = most, most_waiting
        self._waiting: deque[tuple[Asked, asyncio.Future[Answered]]] = deque()
        self._weight = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rocourse-decide")
        self._working: asyncio.Task[None] | None = None

    async def ask(self, request: Asked) -> Answered:
        """The answer to a request.

        Raises:
            Busy: Too much is waiting.
        """
        weight = self._weigh(request)
        if self._waiting and self._weight + weight > self._most_waiting:
            raise Busy
        future: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        self._weight += weight
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        # The answer is computed, and the promise written, also when the caller has gone.
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Answers what is waiting, then ends the thread."""
        while self._working is not None and not self._working.done():
            await asyncio.wait([self._working])
        self._thread.shutdown()

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            # Lets requests be read that have arrived already.
            await asyncio.sleep(0)
            batch = self._take()
            requests = [request for request, _ in batch]
            answers: Sequence[Answered | Exception]
            try:
                if sum(map(self._weigh, requests)) <= self._light():
                    answers = self._answer(requests)
                else:
                    answers = await loop.run_in_executor(self._thread, self._answer, requests)
            except Exception as error:
                answers = [error] * len(batch)
            for (_, future), answer in zip(batch, answers, strict=True):
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                    # Read here, in case that the caller has gone.
                    future.exception()
                else:
                    future.set_result(answer)

    def _take(self) -> list[tuple[Asked, "asyncio.Future[Answered]"]]:
        batch = [self._waiting.popleft()]
        weight = self._weigh(batch[0][0])
        while self._waiting and weight + self._weigh(self._waiting[0][0]) <= self._most:
            batch.append(self._waiting.popleft())
            weight += self._weigh(batch[-1][0])
        self._weight -= weight
        return batch
