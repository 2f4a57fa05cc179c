"""What holds for all tests: no timing decides one, and no process takes more memory mappings than
Linux allows it."""

import gc
from pathlib import Path

import jax
import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Each compiled program takes several mappings for as long as JAX remembers it. Linux allows 65,530
# to a process; beyond, the next program that is compiled ends it without a word.
_MAPPINGS = Path("/proc/self/maps")
_MANY = 20_000


@pytest.fixture(scope="module", autouse=True)
def _few_mappings():
    """Forgets compiled programs after a module, once there are many."""
    yield
    if _MAPPINGS.exists() and _MAPPINGS.read_bytes().count(b"\n") > _MANY:
        jax.clear_caches()
        gc.collect()
