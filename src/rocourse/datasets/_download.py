"""One file over HTTP: resumed where possible, checked before it takes its final name."""

import hashlib
import http.client
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rocourse.errors import FetchError

__all__ = ["Progress", "download", "exclusive", "has_digest"]

Progress = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes there so far and the bytes in all (None if not known)."""

_CHUNK = 1 << 18


def download(
    url: str,
    path: Path,
    *,
    sha256: str,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> None:
    """Downloads `url` to `path`, continuing a `<path>.part` that an earlier attempt left behind.

    Only a file with the right checksum is renamed to `path`, so that nobody ever finds a partial or
    foreign file there.

    Args:
        url: HTTP or HTTPS address.
        path: The final file; its directory exists.
        sha256: Expected digest in hexadecimal.
        progress: Told of every piece that arrives.
        timeout: Longest silence of the server, in seconds.

    Raises:
        FetchError: The file could not be had, or is not the one expected.
    """
    part = path.with_name(f"{path.name}.part")
    with _writing(part):
        stream = part.open("a+b")
    try:
        digest = _receive(url, stream, part, path.name, sha256, progress, timeout)
    finally:
        with _writing(part):  # closing flushes, and so can fail on a full disk
            stream.close()
    if digest != sha256:
        part.unlink(missing_ok=True)
        raise FetchError(
            f"{path.name} from {url} must have SHA-256 {sha256}, got {digest}; the download was "
            "removed, so run the same command again, and report it if the checksum differs again."
        )
    with _writing(path):
        os.replace(part, path)


def _receive(
    url: str,
    stream: IO[bytes],
    part: Path,
    name: str,
    sha256: str,
    progress: Progress | None,
    timeout: float,
) -> str:
    """Completes `stream` and returns the digest of its whole content."""
    with _writing(part):
        stream.seek(0)
        hasher = hashlib.sha256()
        while chunk := stream.read(_CHUNK):
            hasher.update(chunk)
    done = stream.tell()
    if done and hasher.hexdigest() == sha256:
        return sha256  # an earlier attempt ended between the last byte and the renaming

    with _request(url, done, timeout) as response:
        if response.status != http.client.PARTIAL_CONTENT and done:
            hasher, done = hashlib.sha256(), 0
            with _writing(part):
                stream.truncate(0)
        length = response.headers.get("Content-Length")
        total = done + int(length) if length is not None else None
        if progress:
            progress(name, done, total)
        cause: Exception | None = None
        while True:
            try:
                chunk = response.read(_CHUNK)
            except (OSError, http.client.HTTPException) as error:
                chunk, cause = b"", error
            if not chunk:
                break
            with _writing(part):
                stream.write(chunk)
            hasher.update(chunk)
            done += len(chunk)
            if progress:
                progress(name, done, total)
    with _writing(part):
        stream.flush()
        os.fsync(stream.fileno())
    if cause is not None or (total is not None and done < total):
        of_total = f" of {total}" if total is not None else ""
        reason = f" ({_reason(cause)})" if cause is not None else ""
        raise FetchError(
            f"Downloading {url} stopped after {done}{of_total} bytes{reason}; "
            "run the same command again to resume."
        ) from cause
    return hasher.hexdigest()


def _request(url: str, offset: int, timeout: float) -> http.client.HTTPResponse:
    """Opens `url`, from byte `offset` on if the server will; an answer of 200 begins at byte 0."""
    headers = {"User-Agent": "rocourse", "Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
    try:
        request = urllib.request.Request(url, headers=headers)
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        with error:
            if offset and error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
                return _request(url, 0, timeout)
            raise FetchError(
                f"Downloading {url} failed because the server answered {error.code} "
                f"{error.reason}; check the address, or try again later."
            ) from error
    except (OSError, http.client.HTTPException) as error:
        raise FetchError(
            f"Downloading {url} failed because of the connection ({_reason(error)}); "
            "check the network and run the same command again."
        ) from error
    if response.status == http.client.PARTIAL_CONTENT and _range_start(response) != offset:
        response.close()
        if offset:
            return _request(url, 0, timeout)
        raise FetchError(
            f"Downloading {url} failed because the server sent only a part of the file; "
            "check the address, or try again later."
        )
    return response


def _range_start(response: http.client.HTTPResponse) -> int | None:
    match = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(match[1]) if match else None


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, Exception):
        error = error.reason
    if isinstance(error, http.client.IncompleteRead):
        return "the connection closed early"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FetchError(
            f"Cannot write {path} ({_reason(error)}); free the space, change the permissions or "
            "choose another directory."
        ) from error


def has_digest(path: Path, sha256: str) -> bool:
    """Whether `path` is a file with this digest."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == sha256
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise FetchError(
            f"Cannot read {path} ({_reason(error)}); change the permissions or remove it."
        ) from error


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Keeps other processes from downloading into `directory`, which is created if missing.

    Two writers of one `.part` file could otherwise rename each other's half-written bytes. The
    operating system releases the lock with the process, however that ends.
    """
    with _writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
        handle = (directory / ".lock").open("ab")
    with handle:
        try:
            _lock(handle.fileno())
        except (BlockingIOError, PermissionError) as error:
            raise FetchError(
                f"Another process is downloading into {directory}; wait for it to end."
            ) from error
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
