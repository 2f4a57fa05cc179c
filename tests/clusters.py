"""Small clusters, and the engines that the same tests run on."""

import warnings

import pytest

from rocourse.engines import Engine

ENGINES = {"here": Engine(), "processes": Engine(jobs=2), "ray": Engine("ray")}
"""By name; the last needs the fixture `cluster`."""


def start_cluster():
    """A cluster of two cores in processes of this machine; for a fixture of a module."""
    ray = pytest.importorskip("ray", reason="Ray is not installed (rocourse[ray])")
    with warnings.catch_warnings():
        # JAX warns of forks; Ray's become other programs at once.
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=200_000_000,
            log_to_driver=False,
            logging_level="ERROR",
        )
    yield ray
    ray.shutdown()
