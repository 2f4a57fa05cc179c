"""Where the results of jobs are kept: a JSON file each, and the models of fits beside them."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocourse.artifacts import load, write_file
from rocourse.errors import ArtifactError
from rocourse.experiments.reproduction._jobs import FORMAT, VERSION, Job

if TYPE_CHECKING:
    from rocourse.methods import RecourseClassifier

# Judges of one seed ask for the same models again and again.
_MODELS_AT_HAND = 32


class Store:
    """A folder of results.

    A result counts when its JSON file is there, and that file is written last and at once: whatever
    an interrupted run leaves behind is done again.

    Args:
        folder: Made when the first result is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def path(self, job: Job) -> Path:
        """The file of a job's result."""
        return self.folder / "jobs" / f"{job.name}.json"

    def model_path(self, fit: Job) -> Path:
        """The folder of the model that a fit leaves behind."""
        return self.folder / "models" / fit.name

    def has(self, job: Job) -> bool:
        """Whether the job's result is there."""
        return self.path(job).is_file()

    def has_model(self, fit: Job) -> bool:
        """Whether a fit's result is there and its model too: results are kept without models."""
        return self.has(fit) and self.model_path(fit).is_dir()

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

    def _record(self, job: Job) -> dict[str, Any] | None:
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
        return dict(record)


@lru_cache(maxsize=_MODELS_AT_HAND)
def _load(path: Path) -> "RecourseClassifier":
    return load(path)
