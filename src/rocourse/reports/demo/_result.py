"""What a run of the demo found, and its form on disk."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rocourse.errors import ArtifactError
from rocourse.evaluation import ModelScores, RecourseScores, SubsetsResult
from rocourse.schema import Schema

if TYPE_CHECKING:
    from rich.console import RenderableType

FORMAT = "rocourse-demo"
VERSION = 2
RESULT_FILE = "result.json"

ORIGINAL, CORRECTED = "org", "upt"
"""The subset that the recourses come from, and the one that their judge is retrained on."""

DEMO_PROTOCOLS = ("adverse", "all")
"""The selections of rows that the demo shows, the lender's first."""

History = tuple[Mapping[str, float], ...]


@dataclass(frozen=True, slots=True)
class MethodRun:
    """One method in the k-subset protocol.

    Attributes:
        name: As in `rocourse.METHODS`.
        title: For people.
        parameters: All options of trainer, proposer and attack, as in `attack.steps`.
        subsets: What was measured.
        unchanged: By protocol, the share of rows to which the retrained model gives the desired
            class without any change: what robust validity has to be compared with.
        histories: One record per epoch, by the subset trained on.
        best_epochs: The epoch whose weights were kept, by the subset trained on.
    """

    name: str
    title: str
    parameters: Mapping[str, Any]
    subsets: SubsetsResult
    unchanged: Mapping[str, float | None]
    histories: Mapping[str, History]
    best_epochs: Mapping[str, int]

    @property
    def issuer(self) -> ModelScores:
        """The model of the original data: its accuracy, and its recourses as judged."""
        return self._scores_of(ORIGINAL)

    @property
    def judge(self) -> ModelScores:
        """The model retrained on the corrected data."""
        return self._scores_of(CORRECTED)

    def recourses(self, protocol: str) -> RecourseScores:
        """The recourses issued by the model of the original data."""
        return self.issuer.protocols[protocol]

    @property
    def constant(self) -> tuple[str, ...]:
        """The subsets whose model says the same of everyone."""
        return self.subsets.constant

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values; metrics and matrices are there for readers without this package."""
        return {
            "name": self.name,
            "title": self.title,
            "parameters": dict(self.parameters),
            "metrics": {
                "accuracy": self.issuer.accuracy,
                "auc": self.issuer.auc,
                "retrained_accuracy": self.judge.accuracy,
                **{name: self.recourses(name).to_dict() for name in DEMO_PROTOCOLS},
            },
            "matrices": {
                "order": list(self.subsets.names),
                **{
                    name: [list(line) for line in self.subsets.matrix(name)]
                    for name in DEMO_PROTOCOLS
                },
            },
            "unchanged": dict(self.unchanged),
            "subsets": self.subsets.to_dict(),
            "histories": {name: list(history) for name, history in self.histories.items()},
            "best_epochs": dict(self.best_epochs),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls(
            name=record["name"],
            title=record["title"],
            parameters=record["parameters"],
            subsets=SubsetsResult.from_dict(record["subsets"]),
            unchanged=record["unchanged"],
            histories={name: tuple(history) for name, history in record["histories"].items()},
            best_epochs=record["best_epochs"],
        )

    def _scores_of(self, subset: str) -> ModelScores:
        return next(result.scores for result in self.subsets.subsets if result.name == subset)


@dataclass(frozen=True, slots=True)
class Change:
    """One feature that an applicant is advised to change.

    Attributes:
        feature: Its name.
        before: The applicant's value.
        after: The value advised.
        text: Both in words, such as `Duration: 48 → 24 months`.
    """

    feature: str
    before: Any
    after: Any
    text: str


@dataclass(frozen=True, slots=True)
class SampleRecourse:
    """One refused applicant and the advice they were given.

    Scores are probabilities of the favourable class; from 0.5 on, a model approves.

    Attributes:
        applicant: Row of the original file, counted from 0.
        values: The applicant's own values, by feature.
        changes: The advice.
        issuer_scores: Score before and after the changes, by the model that gave the advice.
        judge_scores: The same, by the retrained model.
        honoured: Whether the retrained model approves the changed applicant.
        proximity: L1 distance in the encoded space.
    """

    applicant: int
    values: Mapping[str, Any]
    changes: tuple[Change, ...]
    issuer_scores: tuple[float, float]
    judge_scores: tuple[float, float]
    honoured: bool
    proximity: float

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls(
            **{
                **record,
                "changes": tuple(Change(**change) for change in record["changes"]),
                "issuer_scores": tuple(record["issuer_scores"]),
                "judge_scores": tuple(record["judge_scores"]),
            }
        )


@dataclass(frozen=True, slots=True)
class DemoResult:
    """A run of the demo.

    Attributes:
        command: What to type to get it again.
        created: When it was made, in ISO 8601, UTC.
        seed: Seed of the splits and models.
        seconds: Wall clock of training and judging.
        cpu_seconds: Processor time of the same, over all threads.
        versions: Of Python and the packages that the numbers depend on.
        dataset: Name of the data set.
        source: Whose data they are.
        license: Of the data.
        schema: Features and constraints that all models share.
        methods: The methods compared; the last one is the one that the samples come from.
        samples: Some refused applicants with their advice.
    """

    command: str
    created: str
    seed: int
    seconds: float
    cpu_seconds: float
    versions: Mapping[str, str]
    dataset: str
    source: str
    license: str
    schema: Schema
    methods: tuple[MethodRun, ...]
    samples: tuple[SampleRecourse, ...]

    @property
    def adviser(self) -> MethodRun:
        """The method that the samples come from."""
        return self.methods[-1]

    def renderables(self) -> "list[RenderableType]":
        """The findings for a terminal, as Rich objects to print one below the other."""
        # Rich is needed here only, and a redrawn report does without.
        from rocourse.reports.demo._terminal import demo_renderables

        return demo_renderables(self)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values, with the format's name and version."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "command": self.command,
            "created": self.created,
            "seed": self.seed,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "versions": dict(self.versions),
            "dataset": self.dataset,
            "source": self.source,
            "license": self.license,
            "schema": self.schema.to_dict(),
            "methods": [method.to_dict() for method in self.methods],
            "samples": [sample.to_dict() for sample in self.samples],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`.

        Raises:
            ArtifactError: If the record is of another format or version, or incomplete.
        """
        found = (record.get("format"), record.get("version"))
        if found != (FORMAT, VERSION):
            raise ArtifactError(
                f"A stored demo must have format {FORMAT!r} and version {VERSION}, but has format "
                f"{found[0]!r} and version {found[1]!r}; run `rocourse demo` again."
            )
        try:
            return cls(
                **{name: record[name] for name in _PLAIN_FIELDS},
                schema=Schema.from_dict(record["schema"]),
                methods=tuple(MethodRun.from_dict(method) for method in record["methods"]),
                samples=tuple(SampleRecourse.from_dict(sample) for sample in record["samples"]),
            )
        except (AttributeError, KeyError, TypeError) as error:
            raise ArtifactError(
                f"A stored demo must hold all fields of its version {VERSION}, but reading it "
                f"failed with {error!r}; run `rocourse demo` again."
            ) from error


_PLAIN_FIELDS = (
    "command",
    "created",
    "seed",
    "seconds",
    "cpu_seconds",
    "versions",
    "dataset",
    "source",
    "license",
)


def load_demo(out: Path) -> DemoResult:
    """Reads the result that a run of the demo left in the directory `out`.

    Raises:
        ArtifactError: If there is none, or it is damaged or of another version.
    """
    path = Path(out) / RESULT_FILE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArtifactError(
            f"A stored demo must be a JSON file, but reading {str(path)!r} failed with {error}; "
            "run `rocourse demo` again."
        ) from error
    if not isinstance(record, dict):
        raise ArtifactError(
            f"A stored demo must be a JSON object, but {str(path)!r} holds another value; run "
            "`rocourse demo` again."
        )
    return DemoResult.from_dict(record)
