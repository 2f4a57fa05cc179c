"""The environments that other libraries run in, apart from that of rocourse."""

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEFAULT_FOLDER = HERE.parent / ".venv-relax"
# jax-relax 0.2.9 imports fastcore and nbdev without asking for them; the others are the releases
# that it was seen to run with. JAX is the release that rocourse runs on: one compiler for both.
PINS = (
    "jax-relax==0.2.9",
    "fastcore==2.2.38",
    "nbdev==3.3.26",
    "jax-tqdm==0.4.0",
    "keras==3.3.3",
    "numpy==2.4.6",
    "optax==0.2.8",
    "pandas==3.1.1",
    "pydantic==1.10.27",
    f"jax=={version('jax')}",
    f"jaxlib=={version('jaxlib')}",
)
# Neither PYTHONPATH nor the user's own packages, which may hold another JAX; the worker's folder
# stays, for the modules that workers share.
ISOLATED = ("-E", "-s")
# What both libraries read when JAX is imported: the same kind of device, and no compiled code from
# an earlier run, which would make a first call look quicker.
SAME_FOOTING = {
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_COMPILATION_CACHE": "false",
    "ROCOURSE_COMPILATION_CACHE": "off",
}


class CannotRunError(Exception):
    """Why there is nothing to compare with, in a sentence."""


def environment(folder: Path, pins: Sequence[str] = PINS, *, module: str = "relax") -> Path:
    """The interpreter of an environment that holds what is pinned, made if need be.

    Args:
        folder: Where it is.
        pins: What is installed.
        module: What must then be found.
    """
    stamp = folder / f".ready-{module}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    lines = "\n".join(pins)
    if stamp.exists() and stamp.read_text() == lines:
        return python
    if folder.exists() and not stamp.exists() and any(folder.iterdir()):
        raise CannotRunError(
            f"--env must name a folder that this benchmark made or that is not there yet, got "
            f"{folder}; name another one or delete it."
        )
    print(f"Installing {module} into {folder} ...", flush=True)
    steps = (
        ([sys.executable, "-m", "venv", "--clear", str(folder)], "venv"),
        (
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins],
            "pip",
        ),
        ([str(python), "-I", "-c", f"import {module}"], f"import {module}"),
    )
    for command, name in steps:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            reason = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise CannotRunError(
                f"{module} could not be installed into {folder}: {name} ended with "
                f"{''.join(reason)!r}; check that a package index can be reached and try again."
            )
        # Empty: ours, but not ready.
        stamp.touch()
    stamp.write_text(lines)
    return python
