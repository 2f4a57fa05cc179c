"""Results for good: JSON lines, a file a table or figure, a header and then a record a job.

A file that would be too large is split by data set, and where that is not enough by method too.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocourse.artifacts import write_file
from rocourse.errors import ArtifactError
from rocourse.experiments.reproduction._jobs import Job

FORMAT = "rocourse-results"
VERSION = 1
SUFFIX = ".jsonl"

MOST_BYTES = 1_000_000
"""Of one file: more is split."""

Record = dict[str, Any]
"""Kind, inputs, seconds and result of a job."""

# What large files are split by.
_DIVISIONS = ("dataset", "method")
_FIELDS = frozenset({"kind", "inputs", "seconds", "result"})


@dataclass
class Pack:
    """What is stored for one table or figure.

    Attributes:
        header: What the files begin with, but for format, version and seeds.
        records: By digest of the job.
    """

    header: dict[str, Any]
    records: dict[str, Record] = field(default_factory=dict)


def read_packs(folder: Path) -> dict[str, Pack]:
    """The packed results in a folder, by the name of the table or figure.

    Raises:
        ArtifactError: If a file is damaged, or of another format.
    """
    packs: dict[str, Pack] = {}
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            header, *records = map(json.loads, path.read_text("utf-8").splitlines())
            if (header.pop("format"), header.pop("version")) != (FORMAT, VERSION):
                raise ValueError(f"a header that is not of {FORMAT!r}, version {VERSION}")
            del header["seeds"]
            pack = packs.setdefault(header["name"], Pack(header))
            for record in records:
                if set(record) != _FIELDS:
                    raise ValueError(f"a record with the fields {sorted(record)}")
                pack.records[Job(record["kind"], record["inputs"]).digest] = record
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ArtifactError(
                f"{path} must hold packed results, a JSON object a line, but reading it gave "
                f"{error!r}; restore it, or delete it and run its command again."
            ) from error
    return packs


def write_packs(folder: Path, packs: Mapping[str, Pack]) -> list[Path]:
    """Makes the packed files of a folder those of `packs`; each is replaced whole.

    A file that holds what it should is left alone. Files that are no longer needed go last: until
    then a record may stand in two of them, never in none.

    Returns:
        The files that were written.
    """
    texts = {
        f"{name}{SUFFIX}": text
        for pack in packs.values()
        for name, text in _files(pack.header["name"], pack.header, list(pack.records.values()))
    }
    written = []
    for name, text in texts.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != text:
            write_file(path, text, force=True)
            written.append(path)
    for path in folder.glob(f"*{SUFFIX}"):
        if path.name not in texts:
            path.unlink()
    return written


def as_line(record: Mapping[str, Any]) -> str:
    """A record on one line, with all its digits."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def _files(
    name: str,
    header: Mapping[str, Any],
    records: list[Record],
    divisions: tuple[str, ...] = _DIVISIONS,
) -> Iterable[tuple[str, bytes]]:
    first = {"format": FORMAT, "version": VERSION, **header, "seeds": _seeds(records)}
    text = "".join(map(as_line, [first, *records])).encode()
    if len(text) <= MOST_BYTES or not divisions:
        yield name, text
        return
    by, *rest = divisions
    groups = defaultdict(list)
    for record in records:
        groups[str(record["inputs"].get(by, ""))].append(record)
    for value, group in groups.items():
        yield from _files(f"{name}-{value}" if value else name, header, group, tuple(rest))


def _seeds(records: Iterable[Record]) -> list[int]:
    asked = (record["inputs"] for record in records)
    return sorted({seed for inputs in asked for seed in inputs.get("seeds", [inputs.get("seed")])})
