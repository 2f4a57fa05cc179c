"""What a run of the demo found, and its form on disk."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rocourse.errors import ArtifactError
from rocourse.evaluation import Aggregate
from rocourse.schema import Schema

if TYPE_CHECKING:
    from rich.console import RenderableType

FORMAT = "rocourse-demo"
VERSION = 3
RESULT_FILE = "result.json"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What retrained models of one kind say of the same people, one share a model.

    Attributes:
        kept: Approved when they have changed what they were told to.
        unchanged: Approved without any change.
    """

    kept: tuple[float, ...]
    unchanged: tuple[float, ...]

    @property
    def mean_kept(self) -> Aggregate:
        """Over the models."""
        return Aggregate.of(self.kept)

    @property
    def mean_unchanged(self) -> Aggregate:
        """Over the models."""
        return Aggregate.of(self.unchanged)

    @property
    def lift(self) -> Aggregate:
        """What the advice adds to silence, over the models."""
        return Aggregate.of(k - u for k, u in zip(self.kept, self.unchanged, strict=True))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict`."""
        return cls(tuple(record["kept"]), tuple(record["unchanged"]))


@dataclass(frozen=True, slots=True)
class MethodRun:
    """One method: whom it told what, and what retrained models say of that.

    Attributes:
        name: As in `rocourse.METHODS`.
        title: For people.
        own: The kind of judge that is its own kind of model.
        stated: The share of its promises to be kept; None if it promises nothing.
        accuracy: Of its model, on the applicants.
        refused: Applicants whom its model refuses.
        promised: To how many of them it promises something.
        unsure: How many are told what is valid today and not promised.
        told: By kind of judge, what became of its promises; of all its advice, if it promises
            nothing. Empty if there is none.
        unsure_told: The same of what a method that promises did not promise.
        proximity: Mean cost of what `told` is about.
        unusual: The share of it that asks for a number beyond what 98% of customers have.
        most_asked: The one number that most of it asks for, in words.
        most_asked_share: How much of it does.
    """

    name: str
    title: str
    own: str
    stated: float | None
    accuracy: float | None
    refused: int
    promised: int
    unsure: int
    told: Mapping[str, Verdicts]
    unsure_told: Mapping[str, Verdicts]
    proximity: float | None
    unusual: float | None
    most_asked: str | None
    most_asked_share: float | None

    @property
    def counted(self) -> int:
        """How many pieces of advice `told` is about."""
        return self.unsure if self.stated is None else self.promised

    @property
    def not_found(self) -> int:
        """How many of the refused are told nothing."""
        return self.refused - self.promised - self.unsure

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict`."""
        verdicts = {
            name: {kind: Verdicts.from_dict(one) for kind, one in record[name].items()}
            for name in ("told", "unsure_told")
        }
        return cls(**{**record, **verdicts})


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

    Attributes:
        applicant: Row of the corrected file, counted from 0.
        values: The applicant's own values, by feature.
        changes: The advice.
        promised: Whether it is promised, or only valid today.
        chance: The method's estimate that the next model keeps it.
        kept: How many retrained models, of all kinds, approve the changed applicant.
        unchanged: How many of them approve the applicant without any change.
        proximity: L1 distance in the encoded space.
    """

    applicant: int
    values: Mapping[str, Any]
    changes: tuple[Change, ...]
    promised: bool
    chance: float | None
    kept: int
    unchanged: int
    proximity: float

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict`."""
        return cls(**{**record, "changes": tuple(Change(**one) for one in record["changes"])})


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
        customers: Rows that models learn from.
        corrected: How many of them are corrected today.
        applicants: Rows that ask.
        judges: Retrained models of each kind.
        methods: The methods compared; the first one is the one that the samples come from.
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
    customers: int
    corrected: int
    applicants: int
    judges: int
    methods: tuple[MethodRun, ...]
    samples: tuple[SampleRecourse, ...]

    @property
    def adviser(self) -> MethodRun:
        """The method that the samples come from."""
        return self.methods[0]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of judges."""
        return next((tuple(method.told) for method in self.methods if method.told), ())

    @property
    def digest(self) -> str:
        """What tells this result from others, for what is made from it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

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
            **{name: getattr(self, name) for name in _PLAIN_FIELDS},
            "schema": self.schema.to_dict(),
            "methods": [asdict(method) for method in self.methods],
            "samples": [asdict(sample) for sample in self.samples],
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
    "customers",
    "corrected",
    "applicants",
    "judges",
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
