"""Tables in folders of Parquet files, a part of the rows each: an interrupted run goes on with it.

Whoever has computed a part writes its file, whole or not at all. Names sort in the order of the
rows; `_plan.json` says what the parts were computed from, `_SUCCESS` that none is missing.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from rocourse._files import check_parents, resolve, write_file
from rocourse._lazy import optional
from rocourse._places import Place, readable
from rocourse.errors import OutputError
from rocourse.tables._writing import arrow_table, write_parquet

_PLAN, _SUCCESS, _PART = "_plan.json", "_SUCCESS", re.compile(r"part-\d+\.parquet")
_FORMAT = {"format": "rocourse-parts", "version": 1}
# Where a part's footer says what was counted in it.
_COUNTS = b"rocourse"


def is_folder(path: Place) -> bool:
    """Whether a path to write to is one of a folder: its name has no suffix."""
    return path.suffix == ""


def check_folder(path: Place) -> None:
    """Refuses a folder that parts cannot be written to; for checking before long work.

    Raises:
        OutputError: It is a file, cannot be written, or holds something else.
    """
    if not path.exists():
        check_parents(path, resolve(path))
    elif not path.is_dir():
        raise OutputError(
            f"Output path {str(path)!r} must be a folder or end in .csv or .parquet, but it is "
            "another file; rename it."
        )
    elif any(path.iterdir()) and not (path / _PLAN).is_file():
        raise OutputError(
            f"Output path {str(path)!r} must be new, empty, or hold the parts of an earlier run, "
            "but it holds other files; choose another path."
        )


class PartFolder:
    """A folder of parts that is being filled.

    Args:
        path: The folder; made if need be.
        plan: What the parts are computed from, JSON-able: parts of the same are kept.
        force: Whether parts that are there are thrown away.

    Raises:
        OutputError: As of `check_folder`; or its parts are of something else.
    """

    def __init__(self, path: Place, plan: Mapping[str, Any], *, force: bool = False) -> None:
        check_folder(path)
        self._path = path
        text = json.dumps({**_FORMAT, **plan}, indent=1, ensure_ascii=False)
        stored = path / _PLAN
        if stored.is_file():
            if not force and stored.read_bytes().decode() != text:
                raise OutputError(
                    f"Output path {str(path)!r} must hold parts of the same model, rows and "
                    f"options, but its {_PLAN} tells of others; choose another path, or replace "
                    "them with --force."
                )
            if force:
                for old in path.iterdir():
                    if old.name == _SUCCESS or _PART.fullmatch(old.name):
                        old.unlink()
        write_file(stored, text.encode(), force=True)

    def part(self, number: int) -> Place:
        """The file of a part, counted from 0."""
        return self._path / f"part-{number:06d}.parquet"

    def counts(self, number: int) -> dict[str, int] | None:
        """What was counted in a part that is there; None: it is not."""
        path = self.part(number)
        if not path.is_file():
            return None
        counts: dict[str, int] = json.loads(_read_schema(path).metadata[_COUNTS])
        return counts

    def finish(self) -> None:
        """Says that no part is missing."""
        write_file(self._path / _SUCCESS, b"", force=True)


def write_part(frame: pd.DataFrame, path: Place, counts: Mapping[str, int]) -> None:
    """Writes one part, with what was counted in it."""
    table = arrow_table(frame, path)
    told = {**(table.schema.metadata or {}), _COUNTS: json.dumps(dict(counts)).encode()}
    write_parquet(table.replace_schema_metadata(told), path)


def _read_schema(path: Place) -> Any:
    with readable(path, whole=False) as file:
        return optional("pyarrow.parquet", "parquet").read_schema(file)
