"""How our code is compiled and run: on one core, compiled once for all processes.

Compiled code is kept on disk, so that a second process does not compile again: in the folder that
JAX was told, or else in the user's cache folder. `ROCOURSE_COMPILATION_CACHE` names another folder,
or turns this off.
"""

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import platformdirs
from jaxlib import xla_client

Function = TypeVar("Function", bound=Callable[..., Any])

CACHE_VARIABLE = "ROCOURSE_COMPILATION_CACHE"
_ON, _OFF = ("", "on", "1", "true", "yes"), ("off", "0", "false", "no")
# Whatever takes longer to compile is kept; JAX itself would keep what takes a second.
_LEAST_SECONDS = 0.1

# Products of a batch's size are too small to share among cores: XLA's threads cost more than they
# save, so that one training uses one core, and several trainings run side by side
# (docs/performance.md has the figures).
OPTIONS = {"xla_cpu_multi_thread_eigen": False}
# Read by XLA when a client is made: how many threads it may have.
_CLIENT_THREADS = "NPROC"


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def usual_device() -> jax.Device:
    """Where JAX runs what it is not told where to run."""
    # JAX's configuration has no types.
    chosen: jax.Device | None = jax.config.jax_default_device  # type: ignore[attr-defined]
    return chosen or jax.devices()[0]


@lru_cache(maxsize=1)
def own_device() -> jax.Device:
    """Where training and single answers run: one core, no queue.

    JAX's usual CPU client spreads the kernels of one program over all cores and queues every call.
    Ours are too small for that: it costs up to twice the processor time, and a tenth of a
    millisecond a call. An accelerator, or a device that JAX was told to use, is left as it is.
    """
    usual = usual_device()
    if usual.platform != "cpu" or jax.config.jax_default_device is not None:  # type: ignore[attr-defined]
        return usual
    before = os.environ.get(_CLIENT_THREADS)
    os.environ[_CLIENT_THREADS] = "1"
    try:
        client: Any = xla_client.make_cpu_client(asynchronous=False)
    finally:
        if before is None:
            del os.environ[_CLIENT_THREADS]
        else:
            os.environ[_CLIENT_THREADS] = before
    device: jax.Device = client.local_devices()[0]
    return device


def compiled(function: Function) -> Function:
    """`eqx.filter_jit` with our options."""
    # Equinox hands on what it does not know itself to `jax.jit`, but its types do not say so.
    result: Function = eqx.filter_jit(function, compiler_options=OPTIONS)  # type: ignore[call-overload]
    return result


def keep_compiled_code() -> None:
    """Tells JAX where to keep compiled code, unless someone has told it already."""
    wish = os.environ.get(CACHE_VARIABLE, "")
    usual = platformdirs.user_cache_path("rocourse") / "jax"
    # JAX's configuration has no types.
    config: Any = jax.config
    if wish.lower() in _OFF or config.jax_compilation_cache_dir is not None:
        return
    folder = usual if wish.lower() in _ON else Path(wish).expanduser()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        # Nothing but time is lost without it, and a home that cannot be written to is common where
        # services run.
        return
    # Compiled code is run as it is found: a folder that others can write to is not used.
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return
    config.update("jax_compilation_cache_dir", str(folder))
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        config.update("jax_persistent_cache_min_compile_time_secs", _LEAST_SECONDS)
