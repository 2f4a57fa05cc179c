"""Where the files of data sets are kept."""

import os
from collections.abc import Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import platformdirs

from rocourse.errors import DataError

__all__ = ["embedded", "find_directory", "storage_root"]

ENVIRONMENT_VARIABLE = "ROCOURSE_DATA"

Location = str | os.PathLike[str]


def embedded(name: str) -> Traversable:
    """The folder of an embedded data set inside the package."""
    return resources.files("rocourse.datasets") / "embedded" / name


def storage_root(data_dir: Location | None = None) -> Path:
    """Where downloads go: `data_dir`, else `ROCOURSE_DATA`, else the user's cache directory."""
    return _search_path(data_dir)[0]


def find_directory(name: str, files: Sequence[str], data_dir: Location | None = None) -> Path:
    """The first directory `<root>/<name>` that holds all of `files`.

    Roots are tried in this order: the directory named by `ROCOURSE_DATA`, the user's cache
    directory. A `data_dir` is taken at its word: it is the only root.

    Raises:
        DataError: No root holds all the files; the message says which are missing.
    """
    directories = [root / name for root in _search_path(data_dir)]
    missing = {
        directory: [file for file in files if not (directory / file).is_file()]
        for directory in directories
    }
    for directory, absent in missing.items():
        if not absent:
            return directory
    remedy = f"run `rocourse data fetch {name}`"
    if data_dir is not None:
        remedy = f"call rocourse.datasets.fetch({name!r}, data_dir={os.fspath(data_dir)!r})"
    for directory, absent in missing.items():
        if len(absent) < len(files):
            raise DataError(
                f"Data set {name!r} is incomplete: {directory} lacks {', '.join(absent)}; {remedy}."
            )
    raise DataError(
        f"Data set {name!r} was not found in {' or '.join(map(str, directories))}; {remedy}."
    )


def _search_path(data_dir: Location | None) -> list[Path]:
    if data_dir is not None:
        return [Path(data_dir).expanduser()]
    roots = [platformdirs.user_cache_path("rocourse", appauthor=False) / "data"]
    if configured := os.environ.get(ENVIRONMENT_VARIABLE):
        roots.insert(0, Path(configured).expanduser())
    return roots
