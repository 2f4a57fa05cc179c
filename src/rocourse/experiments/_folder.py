"""Directories that hold the result of a run."""

import json
import os
from pathlib import Path

from rocourse.artifacts import check_parents
from rocourse.errors import OutputError

_RESULT_FILE = "result.json"


def check_result_folder(out: Path, format_name: str) -> None:
    """Refuses a directory that a run may not write to; for checking before long work.

    A run may make a directory, fill an empty one, and replace the result of a run of its own kind.

    Args:
        out: The directory, which need not exist.
        format_name: The `format` of the results that may be replaced.

    Raises:
        OutputError: If `out` is a file, cannot be written, or holds something else.
    """
    out = Path(out)
    if not os.path.lexists(out):
        check_parents(out, out.absolute())
        return
    if not out.is_dir():
        raise OutputError(
            f"Output path {str(out)!r} must be a directory, but it is a file; choose another path."
        )
    if not os.access(out, os.R_OK | os.W_OK | os.X_OK):
        raise OutputError(
            f"Output path {str(out)!r} must be writable, but {str(out)!r} is not; choose another "
            "path or change its permissions."
        )
    if any(out.iterdir()) and _stored_format(out / _RESULT_FILE) != format_name:
        raise OutputError(
            f"Output path {str(out)!r} must be new, empty, or hold an earlier result of the same "
            f"kind, but it holds other files and no {_RESULT_FILE} of format {format_name!r}; "
            "choose another path."
        )


def _stored_format(path: Path) -> object:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record.get("format") if isinstance(record, dict) else None
