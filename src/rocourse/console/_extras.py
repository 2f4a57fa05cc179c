"""Optional dependencies of commands."""

from collections.abc import Iterator
from contextlib import contextmanager

from rocourse.errors import DependencyError


@contextmanager
def needing_service() -> Iterator[None]:
    """Turns a failed import of what the service needs into a sentence that helps.

    Raises:
        DependencyError: A package of the extra `serve` is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise DependencyError(
            f"This command must have the package {error.name}, but it is not installed; install it "
            "with pip install 'rocourse[serve]'."
        ) from error
