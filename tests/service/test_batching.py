"""Requests that arrive together, and share a batch."""

import asyncio
import threading

import pytest

from rocourse.service._batching import Batcher, Busy


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


def make(backend, *, most=8, most_waiting=1000, weigh=lambda _: 1):
    return Batcher(backend.answer, weigh, most=most, most_waiting=most_waiting)


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
        answers = await asyncio.gather(*(batcher.ask(i) for i in range(30)))
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
            assert await asyncio.wait_for(batcher.ask(i), 5) == 2 * i
        await batcher.close()

    asyncio.run(main())
    assert backend.batches == [[0], [1], [2]]


def test_requests_gather_while_a_batch_is_computed():
    backend = Backend(held=True)

    async def main():
        batcher = make(backend)
        first = asyncio.create_task(batcher.ask(0))
        await started(backend)
        others = [asyncio.create_task(batcher.ask(i)) for i in range(1, 6)]
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
        tasks = [asyncio.create_task(batcher.ask(1))]
        await started(backend)
        tasks += [asyncio.create_task(batcher.ask(weight)) for weight in (3, 5, 1, 50, 2, 7)]
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
            *(batcher.ask(request) for request in (1, "bad", 2)), return_exceptions=True
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
            *(batcher.ask(request) for request in (1, KeyError("all"), 2, 3)),
            return_exceptions=True,
        )
        # It goes on.
        answers.append(await batcher.ask(4))
        await batcher.close()
        return answers

    *failed, three, four = asyncio.run(main())
    assert [type(error) for error in failed] == [KeyError] * 3
    assert (three, four) == (6, 8)


def test_too_much_that_waits_is_refused():
    backend = Backend(held=True)

    async def main():
        batcher = make(backend, weigh=lambda request: request, most_waiting=10)
        tasks = [asyncio.create_task(batcher.ask(1))]
        await started(backend)
        # The first of those that wait is taken in whatever it weighs.
        tasks += [asyncio.create_task(batcher.ask(weight)) for weight in (6, 4)]
        await settled()
        with pytest.raises(Busy):
            await batcher.ask(1)
        backend.go.set()
        await asyncio.gather(*tasks)
        # What was answered weighs no more.
        assert await batcher.ask(10) == 20
        await batcher.close()

    asyncio.run(main())
    assert backend.batches == [[1], [6], [4], [10]] or backend.batches == [[1], [6, 4], [10]]


def test_a_request_that_alone_is_too_heavy_is_taken_when_nobody_waits():
    async def main():
        batcher = make(Backend(), weigh=lambda request: request, most_waiting=10)
        assert await batcher.ask(1000) == 2000
        await batcher.close()

    asyncio.run(main())


def test_closing_answers_what_is_waiting():
    backend = Backend(held=True)

    async def main():
        batcher = make(backend, most=2)
        tasks = [asyncio.create_task(batcher.ask(i)) for i in range(5)]
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
        first = asyncio.create_task(batcher.ask(1))
        await started(backend)
        leaving, staying = (asyncio.create_task(batcher.ask(i)) for i in (leaver, 3))
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
        batcher = Batcher(answer, lambda _: 1, most=1, most_waiting=10, light=lambda: light[0])
        await batcher.ask("a")
        # Another model took over, which takes longer.
        light[0] = 0
        await batcher.ask("b")
        await batcher.close()

    asyncio.run(ask())
    assert threads == [True, False]
