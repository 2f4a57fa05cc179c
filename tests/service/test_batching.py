"""Requests that arrive together, and share a batch."""

import asyncio
import itertools
import math
import threading
from concurrent.futures import Future
from random import Random
from types import SimpleNamespace

import pytest

from rocourse.service._batching import Batcher
from rocourse.service._door import Door
from rocourse.service._lanes import Busy, Late


class Backend:
    """Answers batches with what was asked, twice; only when it is let."""

    def __init__(self, *, held=False):
        self.batches, self.threads = [], set()
        self.started, self.go = threading.Event(), threading.Event()
        if not held:
            self.go.set()

    def answer(self, requests):
        self.started.set()
        assert self.go.wait(10)
        self.batches.append(list(requests))
        self.threads.add(threading.get_ident())
        return [_answer(request) for request in requests]


def _answer(request):
    if isinstance(request, BaseException):
        raise request
    if request == "bad":
        return ValueError("bad")
    return request * 2


def make(backend, *, most=8, weigh=lambda _: 1, **options):
    return Batcher(backend.answer, weigh, most=most, **options)


async def started(backend):
    """Waits until the first batch is in the thread."""
    while not backend.started.is_set():
        await asyncio.sleep(0.001)


async def settled():
    """Lets what can go on go on."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_every_request_gets_its_own_answer_in_order():
    backend = Backend()

    async def main():
        batcher = make(backend)
        answers = await asyncio.gather(*(batcher.ask(i, 60) for i in range(30)))
        await batcher.close()
        return answers

    assert asyncio.run(main()) == [2 * i for i in range(30)]
    assert [request for batch in backend.batches for request in batch] == list(range(30))
    assert max(map(len, backend.batches)) == 8
    assert len(backend.threads) == 1
    assert threading.get_ident() not in backend.threads


def test_a_request_that_comes_alone_does_not_wait():
    backend = Backend()

    async def main():
        batcher = make(backend)
        for i in range(3):
            assert await asyncio.wait_for(batcher.ask(i, 60), 5) == 2 * i
        await batcher.close()

    asyncio.run(main())
    assert backend.batches == [[0], [1], [2]]


def test_requests_gather_while_a_batch_is_computed():
    backend = Backend(held=True)

    async def main():
        batcher = make(backend)
        first = asyncio.create_task(batcher.ask(0, 60))
        await started(backend)
        others = [asyncio.create_task(batcher.ask(i, 60)) for i in range(1, 6)]
        await settled()
        backend.go.set()
        answers = await asyncio.gather(first, *others)
        await batcher.close()
        return answers

    assert asyncio.run(main()) == [0, 2, 4, 6, 8, 10]
    assert backend.batches == [[0], [1, 2, 3, 4, 5]]


def test_a_heavy_request_is_a_batch_of_its_own_and_nobody_overtakes():
    backend = Backend(held=True)

    async def main():
        batcher = make(backend, weigh=lambda request: request, most=8)
        tasks = [asyncio.create_task(batcher.ask(1, 60))]
        await started(backend)
        tasks += [asyncio.create_task(batcher.ask(weight, 60)) for weight in (3, 5, 1, 50, 2, 7)]
        await settled()
        backend.go.set()
        answers = await asyncio.gather(*tasks)
        await batcher.close()
        return answers

    assert asyncio.run(main()) == [2, 6, 10, 2, 100, 4, 14]
    assert backend.batches == [[1], [3, 5], [1], [50], [2], [7]]


def test_an_answer_that_is_an_error_is_raised_to_its_own_request():
    backend = Backend()

    async def main():
        batcher = make(backend)
        answers = await asyncio.gather(
            *(batcher.ask(request, 60) for request in (1, "bad", 2)), return_exceptions=True
        )
        await batcher.close()
        return answers

    one, error, two = asyncio.run(main())
    assert (one, two) == (2, 4)
    assert isinstance(error, ValueError)
    assert len(backend.batches) == 1


def test_an_error_of_the_batch_is_raised_to_all_of_it_and_to_no_other():
    backend = Backend()

    async def main():
        batcher = make(backend, most=3)
        answers = await asyncio.gather(
            *(batcher.ask(request, 60) for request in (1, KeyError("all"), 2, 3)),
            return_exceptions=True,
        )
        # It goes on.
        answers.append(await batcher.ask(4, 60))
        await batcher.close()
        return answers

    *failed, three, four = asyncio.run(main())
    assert [type(error) for error in failed] == [KeyError] * 3
    assert (three, four) == (6, 8)


def test_what_would_not_be_answered_in_time_is_refused_at_once():
    backend = Backend()

    async def main():
        batcher = make(backend, weigh=lambda request: request)
        # A second for each unit, as far as it knows.
        batcher._learn(8.0, 8, 2)
        backend.go.clear()
        backend.started.clear()
        tasks = [asyncio.create_task(batcher.ask(8, 60))]
        await started(backend)
        tasks += [asyncio.create_task(batcher.ask(weight, 60)) for weight in (6, 4)]
        await settled()
        with pytest.raises(Busy) as refused:
            batcher.check(10)
        # What is under way, and the ten that wait for it.
        assert 11 < refused.value.seconds <= 18
        with pytest.raises(Busy):
            await batcher.ask(1, 10)
        batcher.check(20)
        backend.go.set()
        await asyncio.gather(*tasks)
        batcher.check(0.1)
        await batcher.close()

    asyncio.run(main())
    assert [request for batch in backend.batches for request in batch] == [8, 6, 4]


def test_what_was_not_answered_in_time_is_told_so_and_not_begun_any_more():
    backend = Backend(held=True)
    # On its own clock: a busy machine must not have the first one wait too long.
    later, ticks = [0.0], itertools.count()

    async def main():
        batcher = make(backend, clock=lambda: later[0] + 1e-6 * next(ticks))
        tasks = [asyncio.create_task(batcher.ask(1, 1.0))]
        await started(backend)
        tasks.append(asyncio.create_task(batcher.ask(2, 1.0)))
        staying = asyncio.create_task(batcher.ask(3, 60))
        await settled()
        later[0] = 2.0
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(result) for result in results] == [Late, Late]
        backend.go.set()
        assert await staying == 6
        await batcher.close()

    asyncio.run(main())
    assert backend.batches == [[1], [3]]


class Simulation:
    """Requests that come by chance at some rate, on its own clock.

    Args:
        rate: Requests a second.
        seconds: How long they come.
        fixed: What a batch takes whatever its size, in seconds.
        each: What it takes besides for each request.
        noise: By what share that varies.
        stall: When a batch of several takes a second more, once, as on a busy machine.
        calm: Seconds before, in which a thirtieth of that comes.
        slower: How many times as long everything takes after them.
        seed: Of what comes by chance.

    Attributes:
        times: When a request was due, and how long it took.
        refused: When one was.
    """

    def __init__(
        self,
        rate,
        seconds,
        *,
        fixed=0.004,
        each=0.001,
        noise=0.0,
        stall=math.inf,
        calm=0.0,
        slower=1.0,
        seed=0,
    ):
        self._stall, self._slower = stall, slower
        self.now, self.times, self.refused = 0.0, [], []
        self.done_at, self.batch = math.inf, None
        self._takes, self._noise = (fixed, each), noise
        self._random, self._calm = Random(seed), calm
        asyncio.run(self._run(rate, calm + seconds))

    def submit(self, _, requests):
        """Stands in for the thread: the batch is done when the clock says so."""
        fixed, each = self._takes
        chance = math.exp(self._random.gauss(0.0, self._noise))
        seconds = (fixed + each * len(requests)) * chance
        seconds *= self._slower if self.now > self._calm else 1.0
        if self.now > self._stall and len(requests) > 1:
            self._stall, seconds = math.inf, seconds + 1.0
        self.done_at, self.batch = self.now + seconds, (Future(), requests)
        return self.batch[0]

    def quantile(self, share, after):
        """Of the seconds that those took who came after a time and were answered."""
        steady = sorted(seconds for due, seconds in self.times if due > after)
        return steady[int(share * (len(steady) - 1))]

    def _arrive(self, batcher, due):
        """As connections do: in a crowd, a request waits at the door until it is read."""

        def read():
            self._tasks.append(asyncio.create_task(self._ask(batcher, due)))

        def refuse():
            self.refused.append(due)
            return True

        if batcher.door.is_shut():
            batcher.door.hold(SimpleNamespace(let_in=read, turn_away=refuse))
        else:
            read()

    async def _ask(self, batcher, due):
        try:
            await batcher.ask(due, 2.0)
            self.times.append((due, self.now - due))
        except (Busy, Late):
            self.refused.append(due)

    async def _run(self, rate, seconds):
        batcher = Batcher(
            lambda _: None,
            lambda _: 1,
            most=256,
            long_wait=0.25,
            clock=lambda: self.now,
            rest=lambda *_: None,
        )
        thread, batcher._thread = batcher._thread, self
        due, self._tasks = 0.0, []
        while due < math.inf or self.batch or not batcher.idle:
            self.now = min(due, self.done_at) if self.batch or due < math.inf else self.now
            if due < self.done_at:
                self._arrive(batcher, due)
                due += self._random.expovariate(rate if due >= self._calm else rate / 30)
                due = due if due < seconds else math.inf
            elif self.batch:
                (future, requests), self.batch, self.done_at = self.batch, None, math.inf
                future.set_result(requests)
            for _ in range(12):
                await asyncio.sleep(0)
        await asyncio.gather(*self._tasks)
        batcher._thread = thread
        await batcher.close()


def test_what_can_be_done_is_done_without_a_refusal():
    calm = Simulation(rate=500, seconds=3, noise=0.2)
    assert calm.refused == []
    assert calm.quantile(0.99, after=0) < 0.05


# So long that what comes by chance evens out: twenty seeds were tried, and all hold.
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("fixed", "each"), [(0.0025, 0.001), (0.001, 0.003), (0.1, 0.005)])
def test_of_three_times_as_much_as_can_be_done_what_can_be_is_done_and_soon(fixed, each, seed):
    # As many as 32 clients have answered who ask one after the other.
    capacity = 32 / (fixed + 32 * each)
    takes = {"fixed": fixed, "each": each, "noise": 0.2, "seed": seed}
    calm = Simulation(capacity / 10, 6000 / capacity, **takes)
    before = 500 / capacity
    crowd = Simulation(3 * capacity, 2.0 + 1500 / capacity, calm=before, **takes)
    steady = [seconds for due, seconds in crowd.times if due > before + 2]
    assert len(steady) >= 0.8 * 1500
    assert crowd.quantile(0.99, after=before + 2) <= 4 * calm.quantile(0.99, after=0)
    # Nobody is left without an answer.
    assert len(crowd.times) + len(crowd.refused) == pytest.approx(6 * capacity + 4550, rel=0.1)


@pytest.mark.parametrize(("fixed", "each"), [(0.0025, 0.001), (0.001, 0.003), (0.008, 0.001)])
def test_a_stall_is_soon_forgotten(fixed, each):
    capacity = 32 / (fixed + 32 * each)
    takes = {"fixed": fixed, "each": each, "noise": 0.2}
    before = 500 / capacity
    stall, after = before + 2.0, before + 4.0
    seconds = 4.0 + 1500 / capacity
    crowd = Simulation(3 * capacity, seconds, calm=before, stall=stall, **takes)
    assert len([due for due, _ in crowd.times if due > after]) >= 0.8 * 1500


@pytest.mark.parametrize(("fixed", "each"), [(0.0025, 0.0005), (0.001, 0.003)])
def test_a_machine_that_is_slower_in_a_crowd_does_what_it_still_can(fixed, each):
    # As where another program wants the cores: what a request took alone is no measure any more.
    capacity = 32 / (fixed + 32 * each) / 3
    takes = {"fixed": fixed, "each": each, "noise": 0.2, "slower": 3.0}
    before = 150 / capacity
    crowd = Simulation(3 * capacity, 4.0 + 600 / capacity, calm=before, **takes)
    assert len([due for due, _ in crowd.times if due > before + 4]) >= 0.7 * 600


class Guests:
    """A door, and what became of those who came to it."""

    def __init__(self, room):
        self.room, self.crowd, self.let_in, self.turned_away, self.rests = room, True, [], [], []
        self.refused = 0
        self.door = Door(lambda: self.crowd, lambda: self.room, self._count, self._rest)

    def come(self, *names, gone=False):
        for name in names:

            def let_in(name=name):
                self.let_in.append(name)

            def turn_away(name=name):
                self.turned_away.append(name)
                return not gone

            self.door.hold(SimpleNamespace(let_in=let_in, turn_away=turn_away))

    def _count(self):
        self.refused += 1

    def _rest(self, over, seconds):
        self.rests.append(seconds)
        if len(self.rests) == 3:
            over.set()


def test_the_newest_are_let_in_for_whom_there_is_room():
    async def main():
        guests = Guests(room=2)
        assert not guests.door.is_shut()
        guests.door.shut(threading.Event())
        assert guests.door.is_shut()
        guests.come(1, 2, 3, 4)
        assert guests.turned_away == [1, 2]
        # Others were taken who did not come to the door.
        guests.room = 1
        guests.door.open()
        await settled()
        assert (guests.let_in, guests.turned_away, guests.refused) == ([4], [1, 2, 3], 3)
        guests.door.leave_open()
        assert not guests.door.is_shut()

    asyncio.run(main())


def test_nobody_waits_at_the_door_for_long_and_who_has_gone_is_not_counted():
    async def main():
        guests = Guests(room=3)
        guests.door.shut(threading.Event())
        guests.come(1)
        guests.come(2, gone=True)
        guests.door.send_away()
        assert guests.turned_away == []
        guests.come(3)
        guests.door.send_away()
        assert (guests.turned_away, guests.refused) == ([1, 2], 1)
        # The crowd has gone: who came with it is let in all the same.
        guests.crowd = False
        assert guests.door.is_shut()
        guests.door.leave_open()
        await settled()
        assert guests.let_in == [3] and not guests.door.is_shut()

    asyncio.run(main())


def test_in_a_crowd_who_reads_requests_rests_for_a_moment_at_a_time_until_the_batch_is_over():
    async def main():
        guests, between = Guests(room=3), []
        over = threading.Event()
        guests.door.shut(over)
        guests.come(1)
        for _ in range(3):
            # Others have their turn.
            await asyncio.sleep(0)
            between.append(len(guests.rests))
        await settled()
        assert over.is_set() and between == [1, 2, 3]
        assert len(guests.rests) == 3 and max(guests.rests) <= 0.005

    asyncio.run(main())


def test_a_burst_may_wait():
    burst = Simulation(rate=100_000, seconds=0.003)
    assert burst.refused == [] and len(burst.times) > 250


def test_closing_does_not_wait_without_end():
    backend = Backend(held=True)

    async def main():
        batcher = make(backend)
        asking = asyncio.create_task(batcher.ask(1, 60))
        await started(backend)
        await batcher.close(0.05)
        assert not batcher.idle
        backend.go.set()
        assert await asking == 2

    asyncio.run(main())


def test_closing_answers_what_is_waiting():
    backend = Backend(held=True)

    async def main():
        batcher = make(backend, most=2)
        tasks = [asyncio.create_task(batcher.ask(i, 60)) for i in range(5)]
        await started(backend)
        closing = asyncio.create_task(batcher.close())
        await settled()
        assert not closing.done()
        backend.go.set()
        await asyncio.wait_for(closing, 5)
        return await asyncio.gather(*tasks)

    assert asyncio.run(main()) == [0, 2, 4, 6, 8]
    assert not [t for t in threading.enumerate() if t.ident in backend.threads]


def test_closing_an_idle_one_is_quick():
    async def main():
        await make(Backend()).close()

    asyncio.run(main())


@pytest.mark.parametrize("leaver", [2, "bad"])
def test_who_leaves_is_answered_for_nobody_and_keeps_nobody(leaver):
    backend = Backend(held=True)

    async def main():
        batcher = make(backend)
        first = asyncio.create_task(batcher.ask(1, 60))
        await started(backend)
        leaving, staying = (asyncio.create_task(batcher.ask(i, 60)) for i in (leaver, 3))
        await settled()
        # One while its batch is computed, one while it waits.
        first.cancel()
        leaving.cancel()
        await settled()
        backend.go.set()
        assert await asyncio.wait_for(staying, 5) == 6
        assert first.cancelled() and leaving.cancelled()
        await batcher.close()

    asyncio.run(main())
    # Their requests were seen through: a promise may have been written by then.
    assert backend.batches == [[1], [leaver, 3]]


def test_light_batches_need_no_thread_for_as_long_as_they_are_light():
    light, threads = [1], []

    def answer(requests):
        threads.append(threading.current_thread() is threading.main_thread())
        return requests

    async def ask():
        batcher = Batcher(answer, lambda _: 1, most=1, light=lambda: light[0])
        await batcher.ask("a", 60)
        # Another model took over, which takes longer.
        light[0] = 0
        await batcher.ask("b", 60)
        await batcher.close()

    asyncio.run(ask())
    assert threads == [True, False]
