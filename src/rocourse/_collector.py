"""Python's garbage collector, kept out of the way of work that makes many lasting objects."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """No search for garbage inside.

    JAX, pandas and scikit-learn make half a million objects that stay, and so does tracing.
    Searching them takes a tenth of the time of making them, and half a second when the process
    ends.
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
