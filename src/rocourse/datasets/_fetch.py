"""Downloading the data sets that do not ship with the package."""

import urllib.parse
from collections.abc import Collection
from importlib import resources
from pathlib import Path

from rocourse.datasets._download import Progress, download, exclusive, has_digest
from rocourse.datasets._locate import Location, storage_root
from rocourse.datasets._registry import get_info
from rocourse.errors import ConfigError, DataError

__all__ = ["BASE_URL", "fetch"]

# The commit is pinned: the checksums in the package are those of this state of the repository.
BASE_URL = (
    "https://raw.githubusercontent.com/BirkhoffG/RoCourseNet/"
    "0a383992f90462cdc03602d6a5c02721680fe3f8/assets/data"
)


def fetch(
    name: str,
    *,
    data_dir: Location | None = None,
    base_url: str | None = None,
    progress: Progress | None = None,
    files: Collection[str] | None = None,
    timeout: float = 30.0,
) -> Path:
    """Downloads a data set, checks it against the package's checksums and returns its directory.

    Files that are there and correct are kept; a download that was cut off is resumed. A file has
    its final name only once it is complete and correct.

    Args:
        name: A data set of kind `download`, such as `"loan"`.
        data_dir: The files go to `<data_dir>/<name>`. By default the directory named by the
            environment variable `ROCOURSE_DATA`, or else the user's cache directory.
        base_url: Address below which `<name>/<file>` is found. By default the authors' repository
            at a fixed commit.
        progress: Called with the file's name, the bytes there so far and the bytes in all, which
            is None if the server does not say.
        files: Only these files, such as `["year=1999.csv"]`. By default all.
        timeout: Longest silence of the server, in seconds.

    Raises:
        DataError: The data set or a file is not known, or needs no download.
        ConfigError: `base_url` is not an HTTP address.
        FetchError: A file could not be had, is not the one expected, or cannot be written.
    """
    info = get_info(name)
    if info.kind != "download":
        how = "ships with the package" if info.kind == "embedded" else "is generated"
        raise DataError(
            f"Data set {name!r} {how}, so there is nothing to fetch; "
            f"use rocourse.datasets.load({name!r})."
        )
    checksums = _checksums(name)
    if isinstance(files, str):
        files = (files,)
    for file in files or ():
        if file not in checksums:
            raise DataError(
                f"Data set {name!r} has no file {file!r}; choose from {', '.join(checksums)}."
            )
    base_url = BASE_URL if base_url is None else base_url
    if urllib.parse.urlsplit(base_url).scheme not in ("http", "https"):
        raise ConfigError(
            f"base_url must be an http or https address, got {base_url!r}; leave it out for the "
            "public source."
        )

    directory = storage_root(data_dir) / name
    wanted = [file for file in checksums if files is None or file in files]
    missing = []
    for file in wanted:
        path = directory / file
        if not has_digest(path, checksums[file]):
            missing.append(file)
        elif progress:
            size = path.stat().st_size
            progress(file, size, size)
    # A complete copy may lie on a read-only disk, so the lock is taken only to write.
    if missing:
        with exclusive(directory):
            for file in missing:
                url = f"{base_url.rstrip('/')}/{name}/{urllib.parse.quote(file)}"
                path = directory / file
                download(url, path, sha256=checksums[file], progress=progress, timeout=timeout)
    return directory


def _checksums(name: str) -> dict[str, str]:
    """SHA-256 by file, from the table in the package (the format of `sha256sum`)."""
    table = (resources.files("rocourse.datasets") / "SHA256SUMS").read_text(encoding="utf-8")
    checksums = {}
    for line in table.splitlines():
        digest, path = line.split()
        folder, _, file = path.partition("/")
        if folder == name:
            checksums[file] = digest
    return checksums
