"""What is imported on first use: names of a package, and packages of an extra."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from rocourse.errors import DependencyError


def lazy_names(
    package: str, homes: Mapping[str, str], *, extra: str | None = None
) -> Callable[[str], object]:
    """What a package has as its `__getattr__`.

    Args:
        package: Its name.
        homes: The module of the package that each name lives in.
        extra: What installs the packages that some of these modules need.
    """

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = f"{package}.{homes[name]}"
        home = import_module(module) if extra is None else optional(module, extra)
        value: object = getattr(home, name)
        # Found once, a name is an ordinary global: this function is not asked again.
        vars(sys.modules[package])[name] = value
        return value

    return find


def above(module: str, name: str, extra: str) -> Callable[..., Any]:
    """A method that is a function of a room above, which is imported when it is called.

    Records are shown by rooms that they may not import; as a method the function is found from the
    record.

    Args:
        module: The function's module.
        name: Its name.
        extra: What of ours installs what it needs.
    """

    def method(self: Any, *args: Any, **named: Any) -> Any:
        return getattr(optional(module, extra), name)(self, *args, **named)

    method.__name__ = name
    method.__doc__ = f"`{module}.{name}` of this."
    return method


def optional(module: str, extra: str) -> Any:
    """The imported module.

    Args:
        module: Its full name.
        extra: What of ours installs it, or what it imports.

    Raises:
        DependencyError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        missing = (error.name or module).partition(".")[0]
        if missing == "rocourse":
            raise
        raise DependencyError(
            f"The package {missing!r} must be installed for this, but got {error}; install it "
            f"with pip install 'rocourse[{extra}]'."
        ) from error
