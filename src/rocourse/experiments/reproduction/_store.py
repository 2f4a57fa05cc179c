"""Where the results of jobs are looked for and kept.

While a run goes on each is a JSON file, with the models of fits beside them. When it ends what
tables and figures are drawn from is packed; see `_packed.py`.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocourse.artifacts import load, write_file
from rocourse.errors import ArtifactError
from rocourse.experiments.reproduction._jobs import FORMAT, VERSION, Job
from rocourse.experiments.reproduction._packed import Record, read_packs

if TYPE_CHECKING:
    from rocourse.estimators import RecourseClassifier

# Judges of one seed ask for the same models again and again.
_MODELS_AT_HAND = 32


class Store:
    """A folder of results, and perhaps one of packed results that are found as well.

    A result counts when it is packed or its JSON file is there, and that file is written last and
    at once: whatever an interrupted run leaves behind is done again.

    Args:
        folder: Of single files and models; made when the first result is written.
        packed: Of packed results, which are read when the first one is asked for.
    """

    def __init__(self, folder: Path, packed: Path | None = None) -> None:
        self.folder = Path(folder)
        self.packed = None if packed is None else Path(packed)

    def path(self, job: Job) -> Path:
        """The file of a job's result that is not packed."""
        return self.folder / "jobs" / f"{job.name}.json"

    def model_path(self, fit: Job) -> Path:
        """The folder of the model that a fit leaves behind."""
        return self.folder / "models" / fit.name

    def has(self, job: Job) -> bool:
        """Whether the job's result is there."""
        return job.digest in self._packed_records or self.path(job).is_file()

    def has_model(self, fit: Job) -> bool:
        """Whether a fit's result is there and its model too: packed results have no models."""
        return self.path(fit).is_file() and self.model_path(fit).is_dir()

    def serves(self, need: Job) -> bool:
        """Whether what a job needs is there: the model of a fit, the result of anything else."""
        return self.has_model(need) if need.kind == "fit" else self.has(need)

    def write(self, job: Job, result: Mapping[str, Any], *, seconds: float) -> None:
        """Keeps a result.

        Args:
            job: What was done.
            result: What came of it, JSON-able.
            seconds: How long it took.
        """
        record = {
            "format": FORMAT,
            "version": VERSION,
            "kind": job.kind,
            "inputs": job.inputs,
            "seconds": seconds,
            "result": result,
        }
        text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
        # A fit is done again where its model is gone; its old result is replaced.
        write_file(self.path(job), f"{text}\n".encode(), force=True)

    def read(self, job: Job) -> dict[str, Any] | None:
        """The result of a job, None if there is none.

        Raises:
            ArtifactError: If the file is damaged or is not of this job.
        """
        record = self._record(job)
        return None if record is None else record["result"]

    def seconds(self, job: Job) -> float | None:
        """How long a job took, None if it has not been done."""
        record = self._record(job)
        return None if record is None else record["seconds"]

    def results(self, jobs: Iterable[Job]) -> dict[Job, dict[str, Any]]:
        """The results of those jobs that are done."""
        found = {job: self.read(job) for job in jobs}
        return {job: result for job, result in found.items() if result is not None}

    def model(self, fit: Job) -> "RecourseClassifier":
        """The model that a fit has left behind."""
        return _load(self.model_path(fit))

    def loose(self, job: Job) -> Record | None:
        """The record of a job whose result is not packed, None if there is none.

        Raises:
            ArtifactError: If the file is damaged or is not of this job.
        """
        path = self.path(job)
        try:
            record = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise ArtifactError(
                f"{path} must hold the result of a job, but reading it gave {error}; delete it and "
                "run the command again."
            ) from error
        known = isinstance(record, dict) and all(
            record.get(name) == value
            for name, value in (
                ("format", FORMAT),
                ("version", VERSION),
                ("kind", job.kind),
                ("inputs", job.inputs),
            )
        )
        if not known or not {"seconds", "result"} <= set(record):
            raise ArtifactError(
                f"{path} must hold the result of {job.label!r}, but it holds something else; "
                "delete it and run the command again."
            )
        return {name: record[name] for name in ("kind", "inputs", "seconds", "result")}

    @cached_property
    def _packed_records(self) -> dict[str, Record]:
        packs = {} if self.packed is None else read_packs(self.packed)
        return {
            digest: record for pack in packs.values() for digest, record in pack.records.items()
        }

    def _record(self, job: Job) -> Record | None:
        # In this order: the packed results are many, and a worker seldom needs one of them.
        return self.loose(job) or self._packed_records.get(job.digest)


@lru_cache(maxsize=_MODELS_AT_HAND)
def _load(path: Path) -> "RecourseClassifier":
    return load(path)
