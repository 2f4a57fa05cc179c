"""The cores that a process may use."""

import os
from collections.abc import Sequence


def available_cores() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def bind(cores: Sequence[int]) -> None:
    """Keeps this process and its children on the cores, where the system can.

    JAX's threads too, if it has not computed yet.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def limit_cores(n: int) -> None:
    """Keeps this process and its children on `n` cores."""
    bind(available_cores()[:n])
