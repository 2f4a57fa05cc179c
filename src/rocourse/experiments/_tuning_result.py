"""What a search for parameters found, and its form on disk."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from rocourse.errors import ArtifactError

FORMAT = "rocourse-tuning"
VERSION = 1


@dataclass(frozen=True, slots=True)
class TuningTrial:
    """One set of parameters.

    Attributes:
        number: Counted from 0.
        parameters: Those that were varied.
        score: What is maximised; None if the trial failed.
        measures: What the score is made of, and what else was measured, by name.
        seconds: Wall clock of fitting and judging.
        error: Why the trial failed.
    """

    number: int
    parameters: Mapping[str, Any]
    score: float | None
    measures: Mapping[str, float | None]
    seconds: float
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls(**{**record, "parameters": _with_tuples(record["parameters"])})


@dataclass(frozen=True, slots=True)
class TuningResult:
    """All trials of one method on one data set.

    Attributes:
        method: As in `rocourse.METHODS`.
        data: What was tuned on.
        target: The label column.
        protocol: The rows whose recourses were scored.
        price: What one unit of proximity costs.
        seed: Decides the split, the models and the trials.
        validation_share: The share of rows that were held out.
        repeats: How many times the rows were cut; the measures are means over the cuts.
        fit_rows: How many rows the models of a cut were fitted on.
        validation_rows: How many rows the recourses of a cut were made for.
        base_accuracy: Of the predictor that search methods explain, on the validation rows.
        judge_accuracies: Of the retrained predictors that judged.
        constant_judges: How many more were left out, because they say the same of all rows.
        fixed: The parameters that were not varied and differ from the defaults.
        space: The parameters that were varied, and how far.
        trials: In the order in which they were asked for.
        versions: Of what computed it.
        command: What was run.
    """

    method: str
    data: str
    target: str
    protocol: str
    price: float
    seed: int
    validation_share: float
    repeats: int
    fit_rows: int
    validation_rows: int
    base_accuracy: float
    judge_accuracies: tuple[float, ...]
    constant_judges: int
    fixed: Mapping[str, Any]
    space: Mapping[str, Mapping[str, Any]]
    trials: tuple[TuningTrial, ...]
    versions: Mapping[str, str]
    command: str

    @property
    def best(self) -> TuningTrial:
        """The trial with the highest score, the first of equals."""
        scored = [trial for trial in self.trials if trial.score is not None]
        return max(scored, key=lambda trial: trial.score or 0.0)

    @property
    def parameters(self) -> dict[str, Any]:
        """What to train with: the fixed parameters and the best ones."""
        return {**self.fixed, **self.best.parameters}

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values, with the format's name and version."""
        record = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {
            "format": FORMAT,
            "version": VERSION,
            **record,
            "trials": [trial.to_dict() for trial in self.trials],
            "best": {
                "trial": self.best.number,
                "score": self.best.score,
                "parameters": _plain(self.parameters),
            },
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`.

        Raises:
            ArtifactError: If the record is of another format or version, or incomplete.
        """
        found = record.get("format"), record.get("version")
        if found != (FORMAT, VERSION):
            raise ArtifactError(
                f"A stored tuning must be of format {(FORMAT, VERSION)}: got {found}; run the "
                "tuning again."
            )
        try:
            values = {field.name: record[field.name] for field in fields(cls)}
            return cls(
                **values
                | {
                    "fixed": _with_tuples(values["fixed"]),
                    "judge_accuracies": tuple(values["judge_accuracies"]),
                    "trials": tuple(map(TuningTrial.from_dict, values["trials"])),
                }
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ArtifactError(
                f"A stored tuning must hold all fields of its version {VERSION}, but reading it "
                f"failed with {error!r}; run the tuning again."
            ) from error


def read_tuning(path: Path) -> TuningResult:
    """A result that was written to a file.

    Raises:
        ArtifactError: If the file cannot be read, or holds something else.
    """
    try:
        record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ArtifactError(
            f"Stored tuning {str(path)!r} must be a JSON file, but reading it failed with "
            f"{error!r}; run the tuning again."
        ) from error
    return TuningResult.from_dict(record)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as estimators take them; JSON has no tuples."""
    return {n: tuple(value) if isinstance(value, list) else value for n, value in values.items()}
