"""Requests that arrive together are answered together.

While a batch is answered, requests gather; the next batch takes all of them, so that they share one
call of compiled code and one commit. A request that comes alone does not wait.

Batches are answered in a thread: a database may keep whoever asks it waiting, and the thread that
reads requests must not wait. Only what needs no database and takes a moment is answered there.

What waits is bounded by time. A burst may wait for as long as requests may take. When all requests
have had to wait long for a while, more is asked than can be done, and waiting helps nobody: from
then on only the next batch may wait, it is filled as late as will do (see `_door`), and no batch
may take longer than a few times what a request that comes alone does, until nobody had to be
refused for a while. So whoever is taken is answered within two such batches, rather one and a half,
and batches are still large enough to share what each of them takes.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Generic, TypeVar

from rocourse.service._door import Door
from rocourse.service._lanes import Busy, Late

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")

# How often requests are looked for whose time is up; and how much sooner it is than they were told:
# they may have waited at the door for two such times, and they are found by the next.
_TICK = 0.05
_SOONER = 3 * _TICK
# What a batch may take in a crowd: so many times what one of a single request does, and so many
# seconds while none has come alone yet.
_SHORT, _SHORT_SECONDS = 3.6, 0.02
# What each further request takes at least, of what one alone does: times are measured, and may be
# anything.
_LEAST = 0.05
# So long with long waits only, and more is asked than can be done; so long without a refusal, and
# it is so no more.
_STANDING, _CALM = 0.2, 1.0
# The weight of the newest batch in averages; of one of a single request, from which a crowd has to
# live, with nobody or with others about; and by how much the quickest one ages with each.
_NEWEST, _ALONE, _HARDLY, _FORGETTING = 0.2, 0.1, 0.05, 1.001
# Batches of a crowd after which one of a single request shows what that takes by now.
_ONE_IN = 30


@dataclass(slots=True)
class _Waiting(Generic[Asked, Answered]):
    request: Asked
    weight: int
    future: "asyncio.Future[Answered]"
    arrived: float
    until: float


class Batcher(Generic[Asked, Answered]):
    """Gathers requests and hands them over in batches.

    Args:
        answer: Answers a batch: one answer for each request, in their order. An answer
            that is an exception is raised to its request alone.
        weigh: How much of a batch a request takes up, such as its rows.
        most: The most that a batch holds; a heavier request is a batch of its own.
        light: Gives the most of a batch that is answered within a moment and without a database,
            and so without a thread; asked for every batch, since the answer may change.
        long_wait: Seconds of waiting that are long.
        observe: Told how many seconds a request waited for its batch.
        refused: Told that a request was turned away at the door.
        clock: Gives seconds.
        rest: Waits until an event, or for so many seconds.

    Attributes:
        door: Where requests wait in a crowd until they are read.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Asked]], Sequence[Answered | Exception]],
        weigh: Callable[[Asked], int],
        *,
        most: int,
        light: Callable[[], int] = lambda: 0,
        long_wait: float = math.inf,
        observe: Callable[[float], object] = lambda _: None,
        refused: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        rest: Callable[[Event, float], object] = Event.wait,
    ) -> None:
        self._answer, self._weigh, self._light, self._observe = answer, weigh, light, observe
        self._most, self._long_wait, self._clock = most, long_wait, clock
        self._told_of_refusal = refused
        self.door = Door(self.crowded, self._room_left, self._refused, rest)
        self._waiting: deque[_Waiting[Asked, Answered]] = deque()
        self._weight = 0
        self._batch: list[_Waiting[Asked, Answered]] = []
        self._batch_began = self._batch_weight = 0.0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rocourse-decide")
        self._working: asyncio.Task[None] | None = None
        self._ticking: asyncio.TimerHandle | None = None
        # Seconds: of a unit of weight, and of a batch of one request; nothing is known at first.
        self._pace = self._alone = 0.0
        # What each request takes of a batch beyond its first; and batches since one of one request.
        self._each, self._since_one = 0.0, 0
        self._over = Event()
        self._fine_at = self._crowded_until = 0.0

    def crowded(self) -> bool:
        """Whether more is asked than can be done."""
        return self._clock() < self._crowded_until

    def check(self, within: float, weight: int = 1) -> None:
        """Refuses a request that would have to wait too long, before it is even read.

        Args:
            within: Seconds until it must be answered.
            weight: Its weight, if that is known.

        Raises:
            Busy: It would not be answered in time.
        """
        now = self._clock()
        wait = self._estimate(now)
        if not self._waiting and not self._batch:
            self._fine_at = now
        elif now - self._fine_at > _STANDING:
            self._crowded_until = now + _CALM
        crowded = self.crowded()
        if wait > within or (crowded and self._full(weight)):
            if crowded:
                self._crowded_until = now + _CALM
            raise Busy(max(wait, _CALM))

    async def ask(self, request: Asked, within: float) -> Answered:
        """The answer to a request.

        Args:
            request: The request.
            within: Seconds until it must be answered.

        Raises:
            Busy: It would not be answered in time.
            Late: It was not.
        """
        weight = self._weigh(request)
        self.check(within, weight)
        loop, now = asyncio.get_running_loop(), self._clock()
        future: asyncio.Future[Answered] = loop.create_future()
        # Told before the time is up and not after.
        until = now + within - min(_SOONER, within / 2)
        self._waiting.append(_Waiting(request, weight, future, now, until))
        self._weight += weight
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        if self._ticking is None:
            self._ticking = loop.call_later(_TICK, self._tick)
        # The answer is computed, and the promise written, also when the caller has gone.
        return await future

    async def close(self, within: float | None = None) -> None:
        """Answers what is waiting, then ends the thread.

        Args:
            within: Seconds after which it is left behind.
        """
        if self._working is not None and not self._working.done():
            await asyncio.wait([self._working], timeout=within)
        if self._ticking is not None:
            self._ticking.cancel()
        self._thread.shutdown(wait=self.idle, cancel_futures=True)

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""
        return self._working is None or self._working.done()

    def _room(self) -> float:
        """The most that a batch holds in a crowd."""
        if not self._each:
            return self._most
        if self._since_one >= _ONE_IN:
            return 1.0
        short = _SHORT * self._alone or _SHORT_SECONDS
        return 1.0 + (short - self._alone) / self._each

    def _full(self, weight: int) -> bool:
        """Whether, in a crowd, the next batch has no room for a request."""
        # One that is too heavy for any batch has its turn when nobody else waits.
        return self._weight > 0 and self._weight + weight > self._room()

    def _room_left(self) -> int:
        """How many more the next batch takes in a crowd; one at least, if nobody waits."""
        return max(math.floor(self._room()) - self._weight, 0)

    def _refused(self) -> None:
        self._crowded_until = self._clock() + _CALM
        self._told_of_refusal()

    def _estimate(self, now: float) -> float:
        """Seconds until what is there now is done."""
        under_way = 0.0
        if self._batch_weight:
            expected = self._alone + self._batch_weight * self._pace
            elapsed = now - self._batch_began
            # What takes longer than expected is expected to take as long again.
            under_way = expected - elapsed if elapsed <= expected else elapsed - expected
        return under_way + self._weight * self._pace

    def _tick(self) -> None:
        """Tells those whose time is up; what is still waiting of them is not begun."""
        now = self._clock()
        for waiting in (*self._batch, *self._waiting):
            if waiting.until <= now and not waiting.future.done():
                waiting.future.set_exception(Late())
                # Read here, in case that the caller has gone.
                waiting.future.exception()
        self.door.send_away()
        busy = bool(self._batch or self._waiting)
        loop = asyncio.get_running_loop()
        self._ticking = loop.call_later(_TICK, self._tick) if busy else None

    async def _work(self) -> None:
        # Lets requests be read that have arrived already. Later batches are begun at once: those of
        # the one before are told while the thread is at work, unless there is a crowd.
        await asyncio.sleep(0)
        while self._waiting:
            self._batch = batch = self._take()
            if not batch:
                continue
            answers = await self._answers(batch)
            self._batch, self._batch_weight = [], 0.0
            for waiting, answer in zip(batch, answers, strict=True):
                future = waiting.future
                # It is done already if the caller has gone, or the time was up.
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
            if self.door.is_shut():
                # They are told, then others are let in, then these are read.
                await asyncio.sleep(0)
                self.door.open()
                await asyncio.sleep(0)
                await asyncio.sleep(0)
        self.door.leave_open()

    async def _answers(
        self, batch: Sequence[_Waiting[Asked, Answered]]
    ) -> Sequence[Answered | Exception]:
        """The answers to a batch, of which one is learned what batches take."""
        requests = [waiting.request for waiting in batch]
        weight = sum(waiting.weight for waiting in batch)
        self._batch_began, self._batch_weight = self._clock(), weight
        answers: Sequence[Answered | Exception]
        try:
            if weight <= self._light():
                answers = self._answer(requests)
            else:
                answers = await self._in_thread(requests)
            self._learn(self._clock() - self._batch_began, weight, len(batch))
        except Exception as error:
            answers = [error] * len(batch)
        return answers

    async def _in_thread(self, requests: Sequence[Asked]) -> Sequence[Answered | Exception]:
        self._over.clear()
        work = self._thread.submit(self._answer, requests)
        answers = asyncio.wrap_future(work)
        # After the loop was told: it must not look up in vain.
        work.add_done_callback(self._end)
        self.door.shut(self._over)
        return await answers

    def _end(self, _: "Future[Sequence[Answered | Exception]]") -> None:
        self._over.set()

    def _take(self) -> list[_Waiting[Asked, Answered]]:
        """The next batch; empty if nobody waits any more for any of it."""
        now, weight = self._clock(), 0
        batch: list[_Waiting[Asked, Answered]] = []
        while self._waiting and (not batch or weight + self._waiting[0].weight <= self._most):
            waiting = self._waiting.popleft()
            self._weight -= waiting.weight
            if waiting.until <= now:
                continue
            batch.append(waiting)
            weight += waiting.weight
            self._observe(now - waiting.arrived)
        if not batch or now - batch[0].arrived < self._long_wait:
            self._fine_at = now
        return batch

    def _learn(self, seconds: float, weight: int, requests: int) -> None:
        pace = seconds / weight
        # The quickest of late, which is that of large batches: what a batch takes whatever its size
        # would otherwise be counted for each, and the fewer are taken in, the slower it would seem.
        self._pace = pace if not self._pace else min(pace, _FORGETTING * self._pace)
        self._since_one += 1
        if requests == 1:
            self._since_one = 0
            # Where others were read meanwhile, that took a part of the time.
            undisturbed = not self._waiting or self.door.is_shut()
            self._alone = _towards(self._alone, seconds, _ALONE if undisturbed else _HARDLY)
        if weight > 1:
            each = max((seconds - self._alone) / (weight - 1), _LEAST * self._alone, 1e-6)
            self._each = _towards(self._each, each)
        elif self.crowded():
            # One at a time says nothing of what others take besides: it is tried again.
            self._each *= 1.0 - _NEWEST


def _towards(average: float, seconds: float, newest: float = _NEWEST) -> float:
    """A running average, in which a stall, however long it was, counts as twice the average."""
    if not average:
        return seconds
    return average + newest * (min(seconds, 2.0 * average) - average)
