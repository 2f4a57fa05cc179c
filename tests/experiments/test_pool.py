"""The pool of processes: in order, side by side, and whatever becomes of one of them."""

import os
import time
from functools import partial

import pytest

from rocourse.errors import ConfigError, TrainingError
from rocourse.experiments._pool import ProcessPool, open_pool


class Awkward(Exception):
    """An error that cannot be made again from its text."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def refuse():
    raise ConfigError("The price must be a number.")


def be_awkward():
    raise Awkward("one", "two")


@pytest.fixture(scope="module")
def two():
    with open_pool(2) as pool:
        yield pool


@pytest.fixture(params=[1, 2])
def pool(request, two):
    """One worker, or two."""
    with open_pool(1) as one:
        yield one if request.param == 1 else two


def test_results_are_in_the_order_of_the_tasks(pool):
    assert pool.results([partial(pow, 2, power) for power in range(5)]) == [1, 2, 4, 8, 16]
    assert pool.results([]) == []


def test_a_single_worker_is_this_process():
    with open_pool(1) as pool:
        assert pool.results([os.getpid]) == [os.getpid()]


def test_several_are_processes_of_their_own(two):
    found = two.results([os.getpid] * 4)
    assert os.getpid() not in found and len(set(found)) <= 2


def test_what_a_task_raises_is_raised(pool):
    with pytest.raises(ConfigError, match="price must be a number"):
        pool.results([refuse])


def test_an_error_that_cannot_travel_is_told_in_words(two):
    (done,) = two.each([("awkward", be_awkward)])
    assert done.name == "awkward" and str(done.error) == "Awkward: one two"
    assert not done.died


def test_a_process_that_dies_is_told_apart_and_replaced(two):
    ended = {done.name: done for done in two.each([("a", partial(os._exit, 3)), ("b", os.getpid)])}
    assert ended["a"].died and not ended["b"].died
    assert len(two.results([os.getpid] * 3)) == 3
    with pytest.raises(TrainingError, match="ended from outside"):
        two.results([partial(os._exit, 3)])


def test_closing_does_not_wait_for_what_is_being_done():
    pool = ProcessPool(1)
    pool.results([os.getpid])
    pool.start("long", partial(time.sleep, 600))
    start = time.perf_counter()
    pool.close()
    assert time.perf_counter() - start < 60


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen here")
def test_pinned_processes_keep_to_one_core():
    with open_pool(2, pinned=True) as pool:
        assert [len(cores) for cores in pool.results([partial(os.sched_getaffinity, 0)] * 2)] == [
            1,
            1,
        ]
