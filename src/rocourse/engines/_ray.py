"""Tasks on a cluster of Ray: it sends them to whichever node has a core free, and again elsewhere
if a worker or its node dies."""

import os
import sys
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from rocourse.engines._pool import Done, Pool, Prepare, Task, Worker, portable
from rocourse.errors import ConfigError, DependencyError

if TYPE_CHECKING:
    import ray

# How often a task is begun anew whose worker died.
_RETRIES = 3
# Pools of which a worker process remembers what it prepared: the one at work, as a rule.
_REMEMBERED = 2


@contextmanager
def ray_pool(
    address: str | None, count: int | None, prepare: Prepare | None
) -> "Iterator[RayPool]":
    """Workers of a cluster.

    Args:
        address: Of the cluster, as Ray has it; None: the one that this process is connected to, or
            that `RAY_ADDRESS` names, else one that is started here and ends with the block.
        count: The most tasks at a time; None: one for every core of the cluster.
        prepare: See `Prepare`.

    Raises:
        DependencyError: Ray is not installed.
        ConfigError: There is no cluster at the address.
    """
    ray = _import_ray()
    connected = ray.is_initialized()
    if not connected:
        _connect(ray, address, count)
    try:
        # Ray prints of workers that died to standard output, which is for the result alone.
        with redirect_stdout(sys.stderr):
            pool = RayPool(ray, count or int(ray.cluster_resources().get("CPU", 1)), prepare)
            try:
                yield pool
            finally:
                pool.close()
    finally:
        if not connected:
            ray.shutdown()


class RayPool(Pool):
    """Tasks of a cluster, a core each; made by `ray_pool`."""

    def __init__(self, ray: Any, count: int, prepare: Prepare | None) -> None:
        self._ray, self._count = ray, count
        self._do = ray.remote(_do).options(num_cpus=1, max_retries=_RETRIES, name="rocourse")
        # Sent once, and fetched once by every process that works for this pool.
        self._token = uuid4().hex
        self._prepare = None if prepare is None else ray.put(prepare)
        self._tasks: dict[ray.ObjectRef[Any], Hashable] = {}

    @property
    def size(self) -> int:
        return self._count

    @property
    def idle(self) -> bool:
        return len(self._tasks) < self._count

    @property
    def busy(self) -> bool:
        return bool(self._tasks)

    def start(self, name: Hashable, task: Task) -> None:
        # In a list, so that Ray hands over the reference and not what it refers to.
        self._tasks[self._do.remote(self._token, [self._prepare], task)] = name

    def wait(self) -> Done:
        (ready, *_), _ = self._ray.wait(list(self._tasks), num_returns=1)
        name = self._tasks.pop(ready)
        try:
            value, error = self._ray.get(ready)
        except self._ray.exceptions.RayError:
            return Done(name, died=True)
        return Done(name, value, error)

    def close(self) -> None:
        """Stops tasks that are at work."""
        for task in self._tasks:
            self._ray.cancel(task, force=True)
        self._tasks.clear()


_workers: dict[str, Worker] = {}


def _do(token: str, prepare: "list[ray.ObjectRef[Any] | None]", task: Task) -> tuple[Any, Any]:
    """Runs in a process of Ray's, which goes from task to task."""
    if token not in _workers:
        while len(_workers) >= _REMEMBERED:
            del _workers[next(iter(_workers))]
        (reference,) = prepare
        _workers[token] = Worker(None if reference is None else _import_ray().get(reference))
    value, error = _workers[token].attempt(task)
    return value, portable(error)


def _import_ray() -> Any:
    # Nothing is reported to Ray's makers, unless somebody decided otherwise.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise DependencyError(
            f"The engine ray must have the package {error.name}, but it is not installed; install "
            "it with pip install 'rocourse[ray]', here and on every node."
        ) from error
    return ray


def _connect(ray: Any, address: str | None, count: int | None) -> None:
    own = address is None and "RAY_ADDRESS" not in os.environ
    options: dict[str, Any] = {"num_cpus": count, "include_dashboard": False} if own else {}
    try:
        with warnings.catch_warnings():
            # JAX warns of forks; Ray's become other programs at once.
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
            # "local": without it, Ray takes to whatever cluster it finds on this machine.
            place = "local" if own else address
            ray.init(address=place, log_to_driver=False, logging_level="ERROR", **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        told = " ".join(str(error).split()).rstrip(".")[:200]
        raise ConfigError(
            f"A cluster of Ray must answer at the address {address or 'of this machine'!r}, but "
            f"got {type(error).__name__}: {told}; start one with `ray start --head`, or check the "
            "address."
        ) from error
