"""Where work is done."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

from rocourse._wording import listed, show
from rocourse.engines._local import Here, ProcessPool
from rocourse.engines._pool import Pool, Prepare
from rocourse.errors import ConfigError

Kind = Literal["local", "ray"]


@dataclass(frozen=True)
class Engine:
    """Where work is done: here, in processes of this machine, or on a cluster.

    What is computed does not depend on it.

    Attributes:
        kind: `local` or `ray`.
        jobs: Tasks side by side; None: one here, and one for each core of a cluster.
        address: Of a cluster of Ray; None: one that `RAY_ADDRESS` names, or that is started for the
            time on this machine.
    """

    kind: Kind = "local"
    jobs: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ConfigError(
                f"The engine must be one of {listed(get_args(Kind))}, but got {show(self.kind)}; "
                "choose one."
            )
        if self.jobs is not None and self.jobs < 1:
            raise ConfigError(f"jobs must be at least 1, but got {show(self.jobs)}; give one.")
        if self.address is not None and self.kind != "ray":
            raise ConfigError(
                f"An address goes with the engine ray, but got {show(self.address)} for "
                f"{self.kind}; leave it out, or choose ray."
            )

    @contextmanager
    def pool(
        self, prepare: Prepare | None = None, *, most: int | None = None, pinned: bool = False
    ) -> Iterator[Pool]:
        """Those who do tasks, for the time of the block; a single local one is this process.

        Args:
            prepare: See `Prepare`.
            most: How many tasks there are at most, if it is known: nobody is started for nothing.
            pinned: Whether each process of this machine keeps to one core, so that what it measures
                is not its neighbour's doing.

        Raises:
            DependencyError: Ray is not installed.
            ConfigError: There is no cluster at the address.
        """
        if self.kind == "ray":
            from rocourse.engines._ray import ray_pool

            with ray_pool(self.address, self.jobs, prepare) as cluster:
                yield cluster
            return
        count = min(self.jobs or 1, most or self.jobs or 1)
        if count == 1:
            yield Here(prepare)
            return
        pool = ProcessPool(count, prepare, pinned=pinned)
        try:
            yield pool
        finally:
            pool.close()


LOCAL = Engine()
"""This process."""
