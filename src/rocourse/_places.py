"""Where files of rows and models are: on a disk, or in an object store."""

import io
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from os import PathLike as FilePath
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol

from rocourse._lazy import optional
from rocourse.errors import StoreError

_ADDRESS = re.compile(r"(s3|gs|abfss?)://[^/]", re.ASCII)
# How much is asked for at a time: a store takes as long to answer as to send a megabyte.
_BUFFER_BYTES = 1 << 23


class Place(Protocol):
    """What is asked of a path, wherever it leads: `pathlib.Path` has all of it."""

    @property
    def name(self) -> str:
        """Its last part."""

    @property
    def suffix(self) -> str:
        """What its name ends in, with the point."""

    def __fspath__(self) -> str:
        """As it is shown."""

    def __truediv__(self, name: str, /) -> "Place":
        """What has a name below it."""

    def absolute(self) -> "Place":
        """The same for processes that have another current directory."""

    def exists(self) -> bool:
        """Whether there is anything."""

    def is_file(self) -> bool:
        """Whether it is a file."""

    def is_dir(self) -> bool:
        """Whether it is a folder."""

    def iterdir(self) -> "Iterator[Place]":
        """What a folder holds, in any order."""

    def read_bytes(self) -> bytes:
        """All of a file."""

    def unlink(self, missing_ok: bool = False) -> None:
        """Removes a file."""


class ObjectPath(PurePosixPath):
    """A path in an object store, such as s3://bucket/advice/part-000000.parquet.

    Where the store is and who asks is told as to all its clients: by variables such as AWS_PROFILE,
    AWS_ENDPOINT_URL and AWS_ACCESS_KEY_ID, or files of theirs.
    """

    # The order and the likeness of paths are those of their parts, whatever is shown.
    __slots__ = ()

    def __str__(self) -> str:
        return super().__str__().replace(":/", "://", 1)

    def absolute(self) -> "ObjectPath":
        """Itself."""
        return self

    @property
    def bucket(self) -> "ObjectPath":
        """What is made, with rights and a region of its own, before anything can be kept in it."""
        return type(self)(*self.parts[:2])

    def exists(self) -> bool:
        """Whether there is an object, or one below it."""
        return bool(self._told().type)

    def is_file(self) -> bool:
        """Whether it is an object."""
        return bool(self._told().is_file)

    def is_dir(self) -> bool:
        """Whether there are objects below it."""
        return str(self._told().type.name) == "Directory"

    def size(self) -> int:
        """How many bytes an object has."""
        return int(self._told().size)

    def iterdir(self) -> "Iterator[ObjectPath]":
        """What there is right below it."""
        with _asking(self):
            selector = optional("pyarrow.fs", "parquet").FileSelector(self._key)
            found = self._store.get_file_info(selector)
        return (self / told.base_name for told in found)

    def read_bytes(self) -> bytes:
        """All of an object."""
        with self.opened() as file, _asking(self):
            return bytes(file.read())

    def opened(self, *, whole: bool = True) -> Any:
        """The object as a file of bytes, to be closed.

        Args:
            whole: Whether it is read from the beginning to the end, or here and there.
        """
        with _asking(self):
            if whole:
                return self._store.open_input_stream(self._key, None, _BUFFER_BYTES)
            return self._store.open_input_file(self._key)

    def put(self, file: FilePath[str] | str) -> None:
        """Makes an object of a file on disk, which takes the place of what is there at once."""
        module = optional("pyarrow.fs", "parquet")
        with _asking(self):
            module.copy_files(
                str(file),
                self._key,
                source_filesystem=module.LocalFileSystem(),
                destination_filesystem=self._store,
            )

    def unlink(self, missing_ok: bool = False) -> None:
        """Removes an object."""
        if missing_ok and not self.exists():
            return
        with _asking(self):
            self._store.delete_file(self._key)

    @property
    def _store(self) -> Any:
        return _connected(str(self.bucket))[0]

    @property
    def _key(self) -> str:
        return "/".join((_connected(str(self.bucket))[1], *self.parts[2:]))

    def _told(self) -> Any:
        with _asking(self):
            return self._store.get_file_info(self._key)


def place(path: str | FilePath[str]) -> "Path | ObjectPath":
    """Where a path leads that was typed or given: an object store's begins with s3://, say."""
    if isinstance(path, ObjectPath):
        return path
    return ObjectPath(path) if _ADDRESS.match(str(path)) else Path(path)


def readable(path: Place, *, whole: bool = True) -> AbstractContextManager[Any]:
    """A file for readers that take a path or an open file, closed after the block.

    Args:
        path: The file.
        whole: As of `ObjectPath.opened`.
    """
    file: AbstractContextManager[Any]
    file = path.opened(whole=whole) if isinstance(path, ObjectPath) else nullcontext(path)
    return file


@contextmanager
def text_of(path: Place) -> Iterator[IO[str]]:
    """A file as text in UTF-8, its line breaks as they are."""
    form: Any = {"encoding": "utf-8-sig", "newline": ""}
    if isinstance(path, ObjectPath):
        with path.opened() as file, io.TextIOWrapper(file, **form) as text:
            yield text
    else:
        with Path(path).open(**form) as text:
            yield text


def size_of(path: Place) -> int:
    """How many bytes a file has."""
    return path.size() if isinstance(path, ObjectPath) else Path(path).stat().st_size


@lru_cache(maxsize=32)
def _connected(bucket: str) -> tuple[Any, str]:
    """The client of a bucket's store, and the bucket's own name there."""
    store, name = optional("pyarrow.fs", "parquet").FileSystem.from_uri(bucket)
    return store, name


@contextmanager
def _asking(path: ObjectPath) -> Iterator[None]:
    """Tells whatever a store refuses in one sentence."""
    try:
        yield
    except (OSError, ValueError) as error:
        # Where there is nothing, it is as on a disk.
        if isinstance(error, FileNotFoundError):
            raise
        said = str(error).splitlines()[0].partition(" (Request ID")[0].rstrip(". ")
        raise StoreError(
            f"The object store must give access to {str(path)!r}, but it answers: {said[:300]}; "
            "check the address, the credentials and what they allow."
        ) from error
