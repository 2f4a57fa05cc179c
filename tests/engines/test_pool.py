"""Those who do tasks: in order, side by side, and whatever becomes of one of them."""

import builtins
import os
import sys
import time
from functools import partial
from itertools import count, islice
from operator import add

import pytest
from tests.clusters import ENGINES, start_cluster

from rocourse.engines import Engine, ProcessPool
from rocourse.errors import ConfigError, DependencyError, EngineError

cluster = pytest.fixture(scope="module")(start_cluster)


class Awkward(Exception):
    """An error that cannot be made again from its text."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def refuse(*_):
    raise ConfigError("The price must be a number.")


def be_awkward():
    raise Awkward("one", "two")


def die_once(mark):
    """Ends the process, unless one has been ended before."""
    if not mark.exists():
        mark.touch()
        os._exit(3)
    return "done"


@pytest.fixture(scope="module", params=ENGINES)
def pool(request):
    """This process, two of their own, or a cluster."""
    if request.param == "ray":
        request.getfixturevalue("cluster")
    with ENGINES[request.param].pool() as pool:
        yield pool


@pytest.fixture(scope="module", params=["processes", "ray"])
def others(request):
    """Processes that are not this one."""
    if request.param == "ray":
        request.getfixturevalue("cluster")
    with ENGINES[request.param].pool() as pool:
        yield pool


def test_results_are_in_the_order_of_the_tasks(pool):
    assert pool.results([partial(pow, 2, power) for power in range(5)]) == [1, 2, 4, 8, 16]
    assert pool.results([]) == []


def test_tasks_without_end_are_done_in_order_and_few_ahead(pool):
    taken = []

    def tasks():
        for number in count():
            taken.append(number)
            # The first of two is the slower one.
            yield partial(max, number, number - 1) if number % 2 else partial(sum, [number])

    found = [done.result() for done in islice(pool.in_order(tasks()), 7)]
    assert found == list(range(7))
    assert len(taken) <= 7 + 2 * pool.size + 1
    while pool.busy:
        pool.wait()


def test_a_single_worker_is_this_process():
    with Engine().pool() as pool:
        assert pool.results([os.getpid]) == [os.getpid()]
    with Engine(jobs=4).pool(most=1) as pool:
        assert pool.size == 1 and pool.results([os.getpid]) == [os.getpid()]


def test_several_are_processes_of_their_own(others):
    found = others.results([os.getpid] * 4)
    assert os.getpid() not in found and others.size == 2


def test_what_a_task_raises_is_raised(pool):
    with pytest.raises(ConfigError, match="price must be a number"):
        pool.results([refuse])


def test_an_error_that_cannot_travel_is_told_in_words(others):
    (done,) = others.each([("awkward", be_awkward)])
    assert done.name == "awkward" and str(done.error) == "Awkward: one two"
    assert not done.died


def test_who_dies_is_told_apart_and_replaced(others):
    ended = {done.name: done for done in others.each([("a", partial(os._exit, 3)), ("b", list)])}
    assert ended["a"].died and not ended["b"].died
    assert len(others.results([os.getpid] * 3)) == 3
    with pytest.raises(EngineError, match="ended from outside"):
        others.results([partial(os._exit, 3)])


def test_a_cluster_tries_again_elsewhere_what_a_worker_died_of(cluster, tmp_path):
    with Engine("ray").pool() as pool:
        assert pool.results([partial(die_once, tmp_path / "mark")]) == ["done"]


@pytest.mark.parametrize("name", ENGINES)
def test_what_is_prepared_is_given_to_every_task(name, request, tmp_path):
    if name == "ray":
        request.getfixturevalue("cluster")
    with ENGINES[name].pool(partial(tempname, tmp_path)) as pool:
        found = pool.results([partial(add, "of ")] * 6)
        assert set(found) == {f"of {path.name}" for path in tmp_path.iterdir()}
        # Once a worker, not once a task.
        assert len(set(found)) <= pool.size
    with (
        ENGINES[name].pool(refuse) as pool,
        pytest.raises(ConfigError, match="price must be a number"),
    ):
        pool.results([refuse])


def tempname(folder):
    """Leaves a file whose name tells that this was called, and by whom."""
    name = f"{os.getpid()}-{time.time_ns()}"
    (folder / name).touch()
    return name


def test_closing_does_not_wait_for_what_is_being_done():
    pool = ProcessPool(1)
    pool.results([os.getpid])
    pool.start("long", partial(time.sleep, 600))
    start = time.perf_counter()
    pool.close()
    assert time.perf_counter() - start < 60


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen here")
def test_pinned_processes_keep_to_one_core():
    with Engine(jobs=2).pool(pinned=True) as pool:
        assert [len(cores) for cores in pool.results([partial(os.sched_getaffinity, 0)] * 2)] == [
            1,
            1,
        ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"kind": "spark"}, "engine must be one of 'local', 'ray', but got 'spark'"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"address": "auto"}, "address goes with the engine ray"),
    ],
)
def test_an_engine_that_cannot_be_is_refused(options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        Engine(**options)


def test_without_ray_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    found = builtins.__import__

    def without_ray(name, *args, **options):
        if name == "ray":
            raise ModuleNotFoundError("No module named 'ray'", name="ray")
        return found(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    with pytest.raises(DependencyError, match=r"pip install 'rocourse\[ray\]'"):
        Engine("ray").pool().__enter__()


def test_a_cluster_that_does_not_answer_is_told_in_a_sentence(monkeypatch):
    ray = pytest.importorskip("ray", reason="Ray is not installed (rocourse[ray])")

    def fail(**_):
        raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fail)
    with pytest.raises(ConfigError, match="must answer at the address 'auto', but got Connection"):
        Engine("ray", address="auto").pool().__enter__()
