"""Models of the user's that a function of theirs makes, named on a command line."""

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rocourse.errors import ConfigError


def make_model(reference: str) -> Any:
    """Calls a function that returns a fitted model.

    Args:
        reference: `package.module:factory`, a function without arguments; the module is found in
            the current directory or among installed packages.

    Raises:
        ConfigError: There is no such function, or it does not return a model.
    """
    module_name, _, name = reference.partition(":")
    if not (name.isidentifier() and all(map(str.isidentifier, module_name.split(".")))):
        raise ConfigError(
            "A model's factory must be written as package.module:function, but got "
            f"{reference!r}; name a function without arguments that returns the fitted model."
        )
    with _current_directory():
        try:
            factory = getattr(importlib.import_module(module_name), name)
        except Exception as error:
            raise ConfigError(
                f"The factory {reference!r} must be found in the current directory or an installed "
                f"package, but importing it raised {_told(error)}; check the name and the "
                "directory."
            ) from error
        if not callable(factory):
            raise ConfigError(
                f"The factory {reference!r} must be a function without arguments, but it is a "
                f"{type(factory).__name__}; name a function that returns the fitted model."
            )
        try:
            model = factory()
        except Exception as error:
            raise ConfigError(
                f"The factory {reference!r} must return the fitted model when it is called without "
                f"arguments, but it raised {_told(error)}; try it in Python first."
            ) from error
    if model is None:
        raise ConfigError(
            f"The factory {reference!r} must return the fitted model, but it returned None; end it "
            "with `return model`."
        )
    return model


@contextmanager
def _current_directory() -> Iterator[None]:
    """Lets modules of the current directory be imported, as `python -m` does."""
    here = os.getcwd()
    sys.path.insert(0, here)
    # A module that was written a moment ago is not yet known to be there.
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(here)


def _told(error: Exception) -> str:
    reason = " ".join(str(error).split())[:300].rstrip(".")
    return f"{type(error).__name__}: {reason}"
