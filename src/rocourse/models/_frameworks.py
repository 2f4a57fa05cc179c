"""Optional frameworks: told by the types of the objects, imported only when one is passed."""

from importlib import import_module
from typing import Any

from rocourse.errors import DependencyError


def is_from(model: object, framework: str, name: str) -> bool:
    """Whether `model` is an instance of `framework`'s class `name`, without importing anything."""
    return any(
        kind.__name__ == name and kind.__module__.partition(".")[0] == framework
        for kind in type(model).__mro__
    )


def import_framework(framework: str, extra: str | None = None) -> Any:
    """The imported framework.

    Args:
        framework: Its module.
        extra: What of ours installs it; by default the extra of its name.

    Raises:
        DependencyError: It is not installed.
    """
    try:
        return import_module(framework)
    except ImportError as error:
        raise DependencyError(
            f"The package '{framework}' must be installed for such a model, but got {error}; "
            f"install it with pip install 'rocourse[{extra or framework}]'."
        ) from error
