"""Records of a JSON document that may be too many to hold in memory."""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rocourse.errors import OutputError

_BYTES_IN_MEMORY = 1 << 20


class JsonRecords:
    """Records that wait in a temporary file until the rest of their document is known.

    Nothing is printed before, so that an error leaves no half of a document behind.
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(
            _BYTES_IN_MEMORY, mode="w+", encoding="utf-8", newline=""
        )

    def __enter__(self) -> "JsonRecords":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, records: list[dict[str, Any]]) -> None:
        """Adds records, at least one."""
        with _refusing_full_disk():
            if self._file.tell():
                self._file.write(",")
            # Line breaks within texts are written as `\\n`: these are all between values.
            lines = json.dumps(records, indent=2, ensure_ascii=False, allow_nan=False)
            self._file.write(lines[1:-2].replace("\n", "\n  "))

    def print(self, head: dict[str, Any], name: str) -> None:
        """Prints the document: the head, and the records under a name of their own.

        It is what `json.dumps` would give for the whole, letter for letter.
        """
        empty = json.dumps({**head, name: []}, indent=2, ensure_ascii=False, allow_nan=False)
        sys.stdout.write(empty.removesuffix("]\n}"))
        self._file.seek(0)
        shutil.copyfileobj(self._file, sys.stdout)
        # Flushed here, where a reader that has gone away can still be dealt with.
        print("\n  ]\n}", flush=True)


@contextmanager
def _refusing_full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"The directory of temporary files, {tempfile.gettempdir()!r}, must take the records "
            f"of --json, but got {error.strerror or error}; make room, or name another in TMPDIR."
        ) from error
