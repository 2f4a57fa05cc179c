"""Names of a package that are imported on first use."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """What a package has as its `__getattr__`.

    Args:
        package: Its name.
        homes: The module of the package that each name lives in.
    """

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{homes[name]}"), name)
        # Found once, a name is an ordinary global: this function is not asked again.
        vars(sys.modules[package])[name] = value
        return value

    return find
