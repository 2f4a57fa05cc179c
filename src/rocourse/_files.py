"""Files and directories that appear complete or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Never

from rocourse._places import ObjectPath, place
from rocourse.errors import OutputError, RocourseError

PathLike = str | os.PathLike[str]


def write_file(
    path: PathLike, content: bytes, *, force: bool = False, private: bool = False
) -> None:
    """Writes a file so that it is there complete or not at all.

    Args:
        path: File to write; the directories above it are made if need be.
        content: All of it.
        force: Whether to replace a file that is there already.
        private: Whether only the owner may read it.

    Raises:
        OutputError: The path exists already, is a directory, or cannot be written.
    """
    with new_file(path, force=force, private=private) as file:
        file.write(content)


@contextmanager
def new_file(path: PathLike, *, force: bool = False, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write piece by piece: it appears when the block is done, or not at all.

    One for an object store lies in the directory of temporary files until then.

    Args:
        path: File to write; the directories above it are made if need be.
        force: Whether to replace a file that is there already.
        private: Whether only the owner may read it.

    Raises:
        OutputError: As in `write_file`; also where the block itself fails to write.
    """
    destination = check_file_path(path, force=force)
    try:
        if isinstance(destination, ObjectPath):
            with TemporaryDirectory() as folder:
                whole = Path(folder, destination.name)
                with open(whole, "xb") as file:
                    yield file
                check_file_path(path, force=force)
                destination.put(whole)
            return
        temporary = _sibling(destination)
        with _directories(destination.parent):
            try:
                with open(temporary, "xb", opener=_private if private else None) as file:
                    yield file
                    _sync(file)
                # Once more, for the block may have taken long.
                check_file_path(path, force=force)
                temporary.replace(destination)
            finally:
                temporary.unlink(missing_ok=True)
        _sync_directory(destination.parent)
    except RocourseError:
        raise
    except OSError as error:
        _refuse_unwritable(path, error)


def check_file_path(path: PathLike, *, force: bool = False) -> Path | ObjectPath:
    """Refuses a path that `write_file` would refuse; for checking before long work.

    Returns:
        The path with symbolic links followed.

    Raises:
        OutputError: As in `write_file`.
    """
    destination = resolve(path)
    if destination.is_dir():
        raise OutputError(
            f"Output path {str(path)!r} must be a file, but it is a directory; add a file name."
        )
    if destination.exists() and not force:
        refuse_existing(path)
    check_parents(path, destination)
    return destination


def write_directory(
    path: PathLike, destination: Path | ObjectPath, files: Mapping[str, bytes]
) -> None:
    """Writes a directory beside its place, then moves it there; replaces what is there.

    Object stores move nothing: there the files are written in their order, and the last of them has
    to tell whether it goes with the others.

    Args:
        path: The path as the caller named it, for the error sentence.
        destination: The same path, resolved and checked.
        files: Contents by file name.

    Raises:
        OutputError: It cannot be written.
    """
    if isinstance(destination, ObjectPath):
        for name, content in files.items():
            write_file(destination / name, content, force=True)
        return
    temporary = _sibling(destination)
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Not `tempfile.mkdtemp`, whose directories are closed to everyone else.
            temporary.mkdir()
            for name, content in files.items():
                _write_synced(temporary / name, content)
            _sync_directory(temporary)
            _move_into_place(temporary, destination)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        _sync_directory(destination.parent)
    except OSError as error:
        _refuse_unwritable(path, error)


def resolve(path: PathLike) -> Path | ObjectPath:
    """The path with symbolic links followed: what is replaced is a file, not a link to it."""
    found = place(path)
    if isinstance(found, ObjectPath):
        return found
    try:
        return found.resolve()
    except (OSError, RuntimeError) as error:
        # A loop of links is a RuntimeError before Python 3.13.
        raise OutputError(
            f"Output path {str(path)!r} must be writable, but got {error}; choose another path."
        ) from error


def check_parents(path: PathLike, destination: Path | ObjectPath) -> None:
    """Refuses a path whose nearest existing parent is no directory, or not writable."""
    if isinstance(destination, ObjectPath):
        if not destination.bucket.exists():
            raise OutputError(
                f"Output path {str(path)!r} must lie in a bucket that is there, but there is no "
                f"{str(destination.bucket)!r}; make it, or check its name."
            )
        return
    parent = destination.parent
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir():
        raise OutputError(
            f"Output path {str(path)!r} must lie in a directory, but {str(parent)!r} is a file; "
            "choose another path."
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"Output path {str(path)!r} must be writable, but {str(parent)!r} is not; choose "
            "another path or change its permissions."
        )


def refuse_existing(path: PathLike) -> Never:
    """Says that a path is taken."""
    raise OutputError(
        f"Output path {str(path)!r} must be new, but it exists already; choose another, or replace "
        "it with --force (in Python force=True)."
    )


def _refuse_unwritable(path: PathLike, error: OSError) -> Never:
    raise OutputError(
        f"Output path {str(path)!r} must be writable, but got {error.strerror or error}; choose "
        "another path or make room."
    ) from error


def _move_into_place(temporary: Path, destination: Path) -> None:
    if not destination.exists():
        temporary.rename(destination)
        return
    # A directory cannot be renamed onto one that has files, so the old one steps aside, and comes
    # back if the new one does not arrive.
    aside = _sibling(destination)
    try:
        destination.rename(aside)
        temporary.rename(destination)
    finally:
        if aside.exists() and not destination.exists():
            aside.rename(destination)
        shutil.rmtree(aside, ignore_errors=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sibling(destination: Path) -> Path:
    return destination.with_name(f".{destination.name}.{secrets.token_hex(4)}")


@contextmanager
def _directories(path: Path) -> Iterator[None]:
    """Makes a directory and those above it, and removes them again if the block fails."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for folder in missing:
                folder.rmdir()
        raise


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        _sync(file)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_directory(path: Path) -> None:
    # Only POSIX lets a directory be opened, and only there does a new entry need syncing.
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
